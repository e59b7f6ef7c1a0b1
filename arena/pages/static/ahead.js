// Enter the next move while the bot thinks: an own piece and its target, or the text of a move. Which moves are legal is known
// only after the bot's answer: then the move is played, or dropped.
import { setting } from "./display.js";
import { Entry } from "./entry.js";
import { message } from "./text.js";

export class EntryAhead extends Entry {
  constructor(words) {
    super(words);
    Object.assign(this, { waiting: "", written: "", notice: "", wasDropped: false });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") this.cancel(); });
    // In the capture phase: a right click that cancels draws nothing.
    this.frame.addEventListener("pointerdown", (event) => { if (event.button === 2 && this.cancel()) event.stopImmediatePropagation(); }, true);
  }

  offer(moves, scene, put = null) {
    Object.assign(this, { waiting: "", written: "", notice: "" });
    super.offer(moves, scene, put);
  }

  // Let a side enter its move before its turn. What it has entered stays in the next position, until the answer is known.
  wait(scene, side) {
    const kept = this.waiting ? { picked: this.picked, written: this.written } : {};
    this.offer([], scene);
    if (setting("confirm") === "on") return;
    Object.assign(this, kept, { waiting: side });
    this.show();
  }

  // Offer the legal moves with what was entered ahead: play the move if it is decided and nothing holds it, else show
  // what can be chosen, or that it was dropped. Return whether it was played.
  answer(moves, scene, isHeld) {
    const picked = moves.length ? this.picked : [];
    this.offer(moves, scene);
    if (!picked.length) return false;
    if (!this.meant(picked).length) {
      this.notice = message("{move} is not possible now: choose another move.", { move: picked.join(" ") });
      this.show();
      return false;
    }
    this.picked = picked;
    const move = isHeld ? null : this.decided(this.wasDropped);
    if (move) this.play(move); else this.show();
    return Boolean(move);
  }

  write(text) {
    Object.assign(this, { picked: [], written: text, refusal: "" });
    this.show();
    this.say(this.describe());
  }

  // Drop what was entered ahead; return whether there was something.
  cancel() {
    if (!this.waiting || !(this.picked.length || this.written)) return false;
    Object.assign(this, { picked: [], written: "", refusal: "" });
    this.show();
    this.say(message("nothing selected"));
    return true;
  }

  // Whether a whole move is entered.
  get isEntered() { return this.picked.length > 1 || Boolean(this.written); }

  // What became of the move that was entered, for the voice that tells whose turn it is.
  get told() { return this.notice || (this.picked.length ? this.describe() : ""); }

  isOwn(cell) { return this.board.chart.owners[this.scene.pieces[cell]?.at(-1)] === this.waiting; }

  get isOpen() { return Boolean(this.waiting) || super.isOpen; }

  get reach() { return this.waiting ? "early" : super.reach; }

  next(picked = this.picked) {
    if (!this.waiting) return super.next(picked);
    const cells = picked.length > 1 ? [] : this.rows.flat();
    return new Set(cells.filter((cell) => (picked.length ? cell !== picked[0] : this.isOwn(cell))));
  }

  pick(cell, isDropped = false) {
    if (!this.waiting) { this.notice = ""; super.pick(cell, isDropped); return; }
    this.refusal = "";
    // A click elsewhere cancels a whole move; that on an own piece begins another one.
    if (this.isEntered && !this.isOwn(cell)) { this.cancel(); return; }
    if (this.isEntered) Object.assign(this, { picked: [], written: "" });
    if (this.picked[0] === cell) { this.cancel(); return; }
    if (!this.next().has(cell)) { this.tellClosed(); return; }
    this.picked = [...this.picked, cell];
    this.wasDropped = isDropped;
    this.show();
    this.say(this.describe());
  }

  up(event) {
    super.up(event);
    if (this.waiting) this.board.isStill = false; // the next move is the bot's
  }

  back() { if (!this.cancel()) super.back(); }

  describe() {
    if (!this.waiting) return super.describe();
    return this.isEntered ? this.hint() : message("{cell}, selected", { cell: this.name(this.picked[0]) });
  }

  hint(isOffered) {
    if (!this.waiting) return this.notice || super.hint(isOffered);
    const move = this.written || this.picked.join(" ");
    if (this.isEntered) return message("{move}: played as soon as the bot has answered", { move });
    return this.picked.length ? message("{picked}: choose a target", { picked: move }) : message("You may already enter your next move.");
  }

  show() {
    super.show();
    if (this.waiting && this.written) this.place.append(this.undo());
  }

  draw() {
    super.draw();
    this.layer.classList.toggle("ahead", Boolean(this.waiting));
  }
}
