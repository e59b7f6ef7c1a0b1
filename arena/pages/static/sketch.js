// Arrows and circles that visitors draw on a board with the right mouse button; Shift and Alt choose other colours. A click
// or another position clears them.
import { element } from "./board.js";

export class Sketch {
  constructor(board, frame) {
    Object.assign(this, { board, begun: null, drawn: new Map() });
    this.layer = element("g", { class: "sketch" });
    board.svg.append(this.layer);
    frame.addEventListener("contextmenu", (event) => event.preventDefault());
    frame.addEventListener("pointerdown", (event) => {
      if (event.button === 2) this.begun = board.cellAt(event);
      else if (!event.button) this.clear();
    });
    frame.addEventListener("pointerup", (event) => {
      const end = event.button === 2 && this.begun && board.cellAt(event);
      if (end) this.toggle(this.begun, end, event.shiftKey ? "red" : event.altKey ? "blue" : "green");
      this.begun = null;
    });
  }

  toggle(start, end, colour) {
    const name = `${start} ${end}`;
    if (this.drawn.get(name) === colour) this.drawn.delete(name); else this.drawn.set(name, colour);
    this.draw();
  }

  clear() {
    this.drawn.clear();
    this.draw();
  }

  draw() {
    this.layer.replaceChildren(...[...this.drawn].map(([name, colour]) => {
      const [start, end] = name.split(" ");
      if (start !== end) return this.arrow(this.board.place(start), this.board.place(end), colour);
      const [cx, cy] = this.board.place(start);
      return element("circle", { cx, cy, r: 17, class: colour });
    }));
  }

  arrow([a, b], [x, y], colour) {
    const [dx, dy] = [x - a, y - b];
    const length = Math.hypot(dx, dy);
    const [ux, uy] = [dx / length, dy / length];
    const at = (along, aside) => `${a + ux * along - uy * aside} ${b + uy * along + ux * aside}`;
    const tip = length - 4;
    const d = `M${at(10, 3)}L${at(tip - 13, 3)}L${at(tip - 13, 9)}L${at(tip, 0)}L${at(tip - 13, -9)}L${at(tip - 13, -3)}L${at(10, -3)}Z`;
    return element("path", { d, class: colour });
  }
}
