// Enter moves on a board by click, drag, touch and keyboard. It knows no rules: each legal move comes with the sequences of
// cells to select for it ("ways"). The cells selected so far determine the remaining moves and the possible next cells.
import { element } from "./board.js";
import { setting } from "./display.js";
import { message } from "./text.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const SWIPE = 8;

const begins = (way, picked) => picked.every((cell, index) => way[index] === cell);

// Send the typed move. What is written while it is on its way stays; a refused move comes back to be mended.
export async function sendTyped(field, send, move = field.value.trim()) {
  if (field.value.trim() === move) field.value = "";
  if (move && !await send(move)) field.value ||= move;
}

export class Entry {
  // `place` shows the selection and the choice of moves; `say` speaks to screen readers; `send` receives the move's text.
  // While no move can be made, a click says `closed` (empty: nothing).
  constructor({ board, frame, place, say, send }) {
    Object.assign(this, { board, frame, place, say, send, moves: [], picked: [], cursor: null, refusal: "", closed: "" });
    this.layer = element("g", { "data-layer": "entry" });
    board.svg.append(this.layer);
    this.rows = board.chart.rows;
    frame.addEventListener("pointerdown", (event) => this.down(event));
    frame.addEventListener("pointermove", (event) => this.move(event));
    frame.addEventListener("pointerup", (event) => this.up(event));
    frame.addEventListener("pointercancel", () => this.drop());
    frame.addEventListener("keydown", (event) => this.key(event));
    frame.addEventListener("focus", () => this.draw());
    frame.addEventListener("blur", () => this.draw());
  }

  // Set the legal moves; none when it is not this player's turn. With `put`, every selected cell is passed to it
  // instead.
  offer(moves, scene, put = null) {
    Object.assign(this, { moves, scene, put, picked: [], refusal: "" });
    this.drop();
    this.show();
  }

  get isOpen() { return this.moves.length > 0 || Boolean(this.put); }

  // The name of the cells that can be selected.
  get reach() { return "hit"; }

  // -- selection ------------------------------------------------------------------------------------------------

  meant(picked = this.picked) { return this.moves.filter((move) => move.ways.some((way) => begins(way, picked))); }

  // The moves whose cells are all selected.
  whole(picked = this.picked) { return this.moves.filter((move) => move.ways.some((way) => way.length === picked.length && begins(way, picked))); }

  next(picked = this.picked) {
    const ways = this.meant(picked).flatMap((move) => move.ways).filter((way) => way.length > picked.length && begins(way, picked));
    return new Set(ways.map((way) => way[picked.length]));
  }

  // The only remaining move, from the second selected cell on, even if further cells are missing.
  only() {
    const found = this.picked.length > 1 ? this.meant() : [];
    return found.length === 1 ? found[0] : null;
  }

  // The move to play without a question: the only one left, also if cells are missing that nothing else could follow. Two
  // neighbouring pieces of one side alone may also mean a push that is not legal, so a move that needs one more cell waits
  // for it. Where pieces do not stack, whoever drops a piece on one of the same side pushes that side's row.
  decided(isDropped) {
    if (this.picked.length < 2 || setting("confirm") === "on") return null;
    const whole = this.whole();
    const isPair = this.picked.length === 2 && !this.board.chart.stacks && this.scene.pieces[this.picked[1]];
    if (whole.length === 1 && isPair && isDropped) return whole[0];
    const left = this.meant();
    return left.length === 1 && (whole.length || !isPair || !this.board.areNeighbours(...this.picked)) ? left[0] : null;
  }

  pick(cell, isDropped = false) {
    if (!this.isOpen) return;
    if (this.put) { this.put(cell); return; }
    const last = this.picked.at(-1);
    this.refusal = "";
    if (this.next().has(cell)) this.picked.push(cell);
    else if (cell === last && this.whole().length === 1) { this.play(this.whole()[0]); return; }
    else if (cell === last) { this.back(); return; }
    else if (this.next([]).has(cell)) this.picked = [cell];
    else { this.refuse(cell); return; }
    const move = this.decided(isDropped);
    if (move) { this.play(move); return; }
    this.show();
    this.say(this.describe());
  }

  // Say why a cell cannot be selected now, in words and by voice.
  refuse(cell) {
    const held = this.scene.pieces[cell];
    const words = { cell: this.name(cell), picked: this.picked.join(" ") };
    if (this.picked.length) this.refusal = message("{cell}: {picked} has no legal move there", words);
    else if (!held) this.refusal = message("{cell}: select a piece first", words);
    else if (this.board.chart.owners[held.at(-1)] === this.scene.to_move) this.refusal = message("{cell}: this piece has no legal move", words);
    else this.refusal = message("{cell}: not a piece of the side to move", words);
    this.show();
    this.say(this.refusal);
  }

  // Say why no move can be made now, to a click and to Enter.
  tellClosed() {
    if (!this.closed) return;
    this.refusal = this.closed;
    this.show();
    this.say(this.closed);
  }

  back() {
    this.refusal = "";
    this.picked.pop();
    this.show();
    this.say(this.picked.length ? this.describe() : message("nothing selected"));
  }

  play(move) {
    this.moves = [];
    this.picked = [];
    this.show();
    this.send(move.move);
  }

  // -- display and speech ---------------------------------------------------------------------------------------

  name(cell) { return this.board.describe(this.scene, cell); }

  describe() {
    const whole = this.whole().length ? this.whole() : [this.only()].filter(Boolean);
    const next = [...this.next()];
    const parts = [message("{cell}, selected", { cell: this.name(this.picked.at(-1)) })];
    if (next.length) parts.push(message("next: {cells}", { cells: next.join(", ") }));
    if (whole.length === 1) parts.push(message("Enter plays {move}", { move: whole[0].shown }));
    if (whole.length > 1) parts.push(message("choose: {moves}", { moves: whole.map((move) => move.shown).join(message(" or ")) }));
    return parts.join("; ");
  }

  instruction() {
    const isLonger = [...this.next()].some((cell) => !this.whole([...this.picked, cell]).length);
    const picked = this.picked.join(" ");
    return isLonger ? message("{picked}: choose a target; after a dashed one, one cell more", { picked }) : message("{picked}: choose a target", { picked });
  }

  // What can be done now; `isOffered` when moves stand beside it.
  hint(isOffered) {
    if (isOffered && this.picked.length) return this.picked.join(" ");
    if (this.picked.length) return this.instruction();
    if (this.put) return message("Select cells to place the chosen piece.");
    return this.isOpen ? message("Select a cell, or drag a piece.") : "";
  }

  button(words, action, isMain = false) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    if (isMain) made.className = "main";
    made.addEventListener("click", () => { this.frame.focus({ preventScroll: true }); action(); });
    return made;
  }

  undo() {
    const made = this.button("↶", () => this.back());
    made.title = message("Undo selection");
    made.setAttribute("aria-label", made.title);
    return made;
  }

  show() {
    const made = [];
    const whole = this.whole();
    const only = this.only();
    const offered = this.picked.length ? (whole.length ? whole : only ? [only] : []) : whole;
    for (const move of offered) {
      const words = move.effect ? `${move.shown}: ${move.effect}` : move.shown;
      made.push(this.button(this.picked.length ? words : words || message("pass"), () => this.play(move), this.picked.length > 0));
    }
    if (this.picked.length) made.push(this.undo());
    const note = document.createElement("p");
    note.className = this.refusal ? "refusal" : "quiet";
    note.textContent = this.refusal || this.hint(offered.length > 0);
    this.place.replaceChildren(note, ...made);
    this.draw();
  }

  draw() {
    const next = this.isOpen ? this.next() : new Set();
    const made = [];
    const shape = (name, cell) => element("path", { d: this.board.outline(cell), class: name });
    for (const cell of this.picked) made.push(shape("picked", cell));
    const only = this.only();
    const trail = only ? only.ways.find((way) => begins(way, this.picked)) : this.picked;
    if (trail.length > 1) made.push(element("polyline", { points: this.board.line(trail, this.board.chart.short), "marker-end": "url(#arrow)", class: "planned" }));
    if (this.picked.length && this.moves.length) {
      for (const cell of next) {
        const [cx, cy] = this.board.place(cell);
        const isEnd = this.whole([...this.picked, cell]).length > 0; // else a further cell follows
        const name = `target${this.scene.pieces[cell] ? " taken" : ""}${isEnd ? "" : " onward"}`;
        made.push(element("circle", { cx, cy, r: this.scene.pieces[cell] ? 17 : 6, class: name }));
      }
    }
    if (this.cursor && this.isOpen && document.activeElement === this.frame) made.push(shape("cursor", this.cursor));
    for (const cell of new Set([...next, ...(this.isOpen ? this.next([]) : []), ...this.picked])) made.push(shape(this.reach, cell));
    this.layer.replaceChildren(...made);
  }

  // -- pointer --------------------------------------------------------------------------------------------------

  down(event) {
    if (event.button || !event.isPrimary) return;
    if (!this.isOpen) { this.tellClosed(); return; }
    const cell = this.board.cellAt(event);
    if (!cell) return;
    this.pressed = { cell, x: event.clientX, y: event.clientY, isDragged: false, piece: null };
    this.cursor = cell;
  }

  move(event) {
    const pressed = this.pressed;
    if (!pressed || !event.isPrimary) return;
    if (!pressed.isDragged && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > SWIPE) {
      const isOn = this.picked.at(-1) === pressed.cell && this.next().size > 0;
      if (!isOn && !this.next().has(pressed.cell) && !this.next([]).has(pressed.cell)) { this.drop(); return; }
      pressed.isDragged = true;
      this.frame.setPointerCapture(event.pointerId);
      if (!isOn) this.pick(pressed.cell);
      const symbols = this.scene.pieces[this.picked[0]] || "";
      pressed.piece = element("g", { class: "dragged" });
      if (symbols) pressed.piece.append(...this.board.stack(this.picked[0], symbols));
      this.layer.after(pressed.piece);
    }
    if (!pressed.isDragged) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.board.svg.getScreenCTM().inverse());
    const [x, y] = this.board.place(this.picked[0] || pressed.cell);
    pressed.piece.setAttribute("transform", `translate(${point.x - x} ${point.y - y})`);
  }

  up(event) {
    const pressed = this.pressed;
    this.drop();
    if (!pressed || !event.isPrimary) return;
    const cell = this.board.cellAt(event);
    if (!pressed.isDragged) this.pick(pressed.cell);
    else if (cell && cell !== pressed.cell) {
      this.board.isStill = true;
      this.pick(cell, true);
    }
  }

  drop() {
    this.pressed?.piece?.remove();
    this.pressed = null;
  }

  // -- keys -----------------------------------------------------------------------------------------------------

  key(event) {
    if (!this.isOpen && event.key === "Enter") this.tellClosed();
    if (!this.isOpen || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ARROWS) this.step(ARROWS[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && this.cursor) this.enter();
    else if ((event.key === "Escape" || event.key === "Backspace") && this.picked.length) this.back();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  enter() {
    const whole = this.whole();
    const only = this.only();
    if (this.cursor === this.picked.at(-1) && whole.length > 1) this.place.querySelector("button")?.focus();
    else if (only && this.cursor === this.picked.at(-1)) this.play(only);
    else this.pick(this.cursor);
  }

  step([right, down]) {
    const turned = this.board.isFlipped ? -1 : 1;
    const at = this.rows.findIndex((row) => row.includes(this.cursor));
    if (at < 0) this.cursor = [...this.next()][0] || this.rows[0][0];
    else if (right) {
      const row = this.rows[at];
      this.cursor = row[row.indexOf(this.cursor) + right * turned] || this.cursor;
      this.column = null;
    } else {
      // Up and down stay in the same column where rows have one.
      const x = (name) => this.board.chart.places[name][0];
      this.column ??= x(this.cursor);
      const row = this.rows[at + down * turned];
      if (row) this.cursor = row.reduce((best, name) => (Math.abs(x(name) - this.column) < Math.abs(x(best) - this.column) ? name : best));
    }
    this.draw();
    const can = this.next().has(this.cursor) ? (this.picked.length ? message(", can go here") : message(", can be picked")) : "";
    this.say(this.name(this.cursor) + can);
  }
}
