// Set up a position by hand: choose a piece, then select cells. The server validates the position and returns its text.
import { message } from "./text.js";

const BARE = { marks: {}, trail: [], links: [], line: [], ejected: "", between: [], struck: [] };

export class Palette {
  // `start`: the pieces at the start of the line; `leave`: returns to the line.
  constructor({ place, board, entry, say, start, leave }) {
    Object.assign(this, { place, board, entry, say, start, leave, pieces: {}, asked: 0 });
    place.addEventListener("change", () => this.show());
    place.addEventListener("click", (event) => this.set(event.target.closest("[data-set]")?.dataset.set));
  }

  chosen(name) { return this.place.querySelector(`[name=${name}]:checked`).value; }

  open(scene) {
    this.pieces = { ...scene.pieces };
    this.place.querySelector(`[name=to-move][value=${scene.to_move}]`).checked = true;
    this.place.hidden = false;
    this.show();
    this.place.querySelector("[name=piece]:checked").focus();
  }

  set(what) {
    if (what === "back") {
      this.asked += 1;
      this.place.hidden = true;
      this.leave();
    } else if (what) {
      this.pieces = what === "start" ? { ...this.start } : {};
      this.show();
    }
  }

  // Stack the chosen piece on the cell if allowed. Selecting the same single piece, or no piece, empties the cell.
  put(cell) {
    const piece = this.chosen("piece");
    const held = this.pieces[cell] || "";
    const left = held.length < Number(this.place.dataset.most) ? held + piece : held === piece ? "" : piece;
    if (piece && left) this.pieces[cell] = left;
    else delete this.pieces[cell];
    this.show();
    this.say(this.entry.name(cell));
  }

  async show() {
    const scene = { ...BARE, pieces: this.pieces };
    this.board.draw(scene);
    this.entry.offer([], scene, (cell) => this.put(cell));
    const { check, variant, options } = this.place.dataset;
    const pieces = Object.entries(this.pieces).map((pair) => pair.join("=")).join(",");
    const mine = ++this.asked;
    let found = { position: "", message: message("Network error; try again.") };
    try {
      const answer = await fetch(`${check}?${new URLSearchParams({ variant, options, pieces, side: this.chosen("to-move") })}`);
      const data = await answer.json();
      found = answer.ok ? data : { position: "", message: data.detail || data.title };
    } catch { /* shown below */ }
    if (mine !== this.asked) return;
    const use = document.getElementById("use");
    use.hidden = !found.position;
    use.href = `${location.pathname}?${new URLSearchParams({ variant, ...(options && { options }), position: found.position })}`;
    document.getElementById("checked").textContent = found.message;
  }
}
