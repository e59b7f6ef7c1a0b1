// Draws the changing layers of a board from scenes. Cells and labels, which do not change, come from the server.
import { movements, play } from "./motion.js";
import { message } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

const element = (name, attributes) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

export class Board {
  constructor(svg, chart, isFlipped) {
    this.svg = svg;
    this.chart = chart;
    this.isFlipped = isFlipped;
    this.drawnFlipped = isFlipped; // orientation of the server's drawing
    this.scene = null; // the drawn scene, and its pieces by cell
    this.shown = new Map();
    this.isStill = false; // a dragged piece is already where its move ends
  }

  layer(name) { return this.svg.querySelector(`[data-layer="${name}"]`); }

  place(name) { return this.turned(this.chart.places[name]); }

  // Whether two cells touch: no cell is much nearer to the first one than the second is.
  areNeighbours(one, other) {
    const far = (name) => Math.hypot(this.chart.places[name][0] - this.chart.places[one][0], this.chart.places[name][1] - this.chart.places[one][1]);
    return far(other) < 1.5 * Math.min(...this.chart.rows.flat().filter((name) => name !== one).map(far));
  }

  turned([x, y]) {
    const [a, b] = this.chart.middle;
    return this.isFlipped ? [2 * a - x, 2 * b - y] : [x, y];
  }

  flip() {
    this.isFlipped = !this.isFlipped;
    const [a, b] = this.chart.middle;
    const cells = this.layer("cells");
    if (this.isFlipped === this.drawnFlipped) cells.removeAttribute("transform");
    else cells.setAttribute("transform", `rotate(180 ${a} ${b})`);
    for (const text of this.svg.querySelectorAll('[data-layer="labels"] text')) {
      const axis = text.dataset.axis;
      if (axis.includes("x")) text.setAttribute("x", 2 * a - Number(text.getAttribute("x")));
      // The baseline is slightly below the middle of the letters.
      const drop = axis === "xy" ? 4 : 5;
      if (axis.includes("y")) text.setAttribute("y", 2 * b - (Number(text.getAttribute("y")) - drop) + drop);
    }
  }

  // The cell at a pointer event; null outside the board.
  cellAt(event) {
    const matrix = this.svg.getScreenCTM();
    if (!matrix) return null;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    let found = null;
    let least = this.chart.cell * 0.75;
    for (const name of this.chart.rows.flat()) {
      const [x, y] = this.place(name);
      const far = Math.hypot(point.x - x, point.y - y);
      if (far < least) [found, least] = [name, far];
    }
    return found;
  }

  use(target, [x, y], size, name) {
    return element("use", { href: `#${target}`, class: name, x: x - size / 2, y: y - size / 2, width: size, height: size });
  }

  line(names, short = 0) {
    const points = names.map((name) => this.place(name));
    if (short && points.length > 1) {
      const [a, b] = points[points.length - 2];
      const [x, y] = points[points.length - 1];
      const length = Math.hypot(x - a, y - b);
      if (length) points[points.length - 1] = [x - ((x - a) * short) / length, y - ((y - b) * short) / length];
    }
    return points.map((point) => point.join(",")).join(" ");
  }

  outline(name) {
    const [x, y] = this.place(name);
    const cell = this.chart.cell;
    if (!this.chart.hex) return `M${x - cell / 2} ${y - cell / 2}h${cell}v${cell}h${-cell}z`;
    const r = cell / Math.sqrt(3);
    const w = cell / 2;
    return `M${x} ${y - r}l${w} ${r / 2}v${r}l${-w} ${r / 2}l${-w} ${-r / 2}v${-r}z`;
  }

  // The drawn pieces of a cell, bottom first.
  stack(name, symbols) {
    const { cell, stack, stackSize, pieces } = this.chart;
    const [x, y] = this.place(name);
    if (symbols.length === 1) return [this.use(pieces[symbols][0], [x, y], cell, "piece")];
    return [...symbols].slice(0, 2).map((symbol, index) => {
      const [right, up] = stack.map((shift) => (index ? shift : -shift));
      return this.use(pieces[symbol][0], [x + right, y - up], cell * stackSize, index ? "piece upper" : "piece");
    });
  }

  pieces(scene) {
    this.shown = new Map(Object.entries(scene.pieces).map(([name, symbols]) => [name, this.stack(name, symbols)]));
    return [...this.shown.values()].flat();
  }

  // The pieces that left the board, in the trough around it.
  trough(scene) {
    const { cell, slots, stackSize, pieces, owners } = this.chart;
    const free = { first: [...slots.first], second: [...slots.second] };
    return Object.entries(scene.gone || {}).flatMap(([symbol, number]) => free[owners[symbol] || "first"].splice(0, number)
      .map((place) => this.use(pieces[symbol][0], this.turned(place), cell * stackSize, "piece")));
  }

  // The mark of the move, such as ??, on its last cell.
  badge(scene) {
    const name = this.chart.badges[scene.mark];
    if (!name || !scene.trail.length) return [];
    const [shift, size] = this.chart.badge;
    const [x, y] = this.place(scene.trail.at(-1).at(-1));
    return [this.use(`badge-${name}`, [x + shift, y - shift], size, "badge")];
  }

  // The piece that was pushed off, drawn half beyond the edge.
  ghost(scene) {
    if (!scene.ejected || scene.line.length < 2) return [];
    const { beyond, ghostSize, cell, pieces } = this.chart;
    const [[a, b], [x, y]] = scene.line.slice(-2).map((name) => this.place(name));
    return [this.use(pieces[scene.ejected][0], [x + beyond * (x - a), y + beyond * (y - b)], cell * ghostSize, "piece")];
  }

  marks(scene) {
    const made = [];
    for (const [name, words] of Object.entries(scene.marks)) {
      for (const word of words) {
        const form = this.chart.forms[word] || "ring";
        const optional = this.chart.optional.includes(word) ? " optional" : "";
        if (form !== "none") made.push(this.use(`mark-${form}`, this.place(name), this.chart.cell, `mark mark-${word}${optional}`));
      }
    }
    return made;
  }

  // Draw a scene. With `isMoving`, pieces move there from their places in the drawn scene.
  draw(scene, { isMoving = false } = {}) {
    const moved = isMoving && !this.isStill && this.scene ? movements(this.scene, scene) : null;
    this.isStill = false;
    const fill = (name, made) => this.layer(name)?.replaceChildren(...made);
    const cells = new Set(scene.trail.flat());
    fill("lit", [...cells].map((name) => element("path", { d: this.outline(name) })));
    fill("links", scene.links.map((link) => element("polyline", { points: this.line(link) })));
    fill("between", scene.between.map((pair) => element("polyline", { points: this.line(pair) })));
    fill("trough", this.trough(scene));
    fill("ghost", this.ghost(scene));
    fill("pieces", this.pieces(scene));
    fill("marks", this.marks(scene));
    fill("struck", scene.struck.filter((name) => !scene.pieces[name]).map((name) => this.use("mark-cross", this.place(name), this.chart.cell, "mark")));
    fill("trail", scene.trail.filter((line) => line.length > 1).map((line) => element("polyline", {
      points: this.line(line, this.chart.short), "marker-end": "url(#arrow)",
    })));
    fill("badge", this.badge(scene));
    this.scene = scene;
    if (moved) play(this, moved);
  }

  // Describe a cell in words, like `described` on the server.
  describe(scene, name) {
    const symbols = [...(scene.pieces[name] || "")].reverse();
    const held = symbols.map((symbol) => this.chart.pieces[symbol][1]).join(message(" on ")) || message("empty");
    const kind = this.chart.kinds[name] ? ` (${this.word(this.chart.kinds[name])})` : "";
    return `${name}${kind} ${held}${(scene.marks[name] || []).map((word) => `, ${this.word(word)}`).join("")}`;
  }

  // The name of a mark or of a kind of cell, in the language of the page.
  word(name) { return this.chart.words[name] ?? name; }
}

// The legend of the marks on the board.
function legend(place, scene, chart) {
  const words = [...new Set(Object.values(scene.marks).flat())].filter((word) => chart.meanings[word] !== "").sort();
  place.replaceChildren(...words.map((word) => {
    const item = document.createElement("li");
    if (chart.optional.includes(word)) item.className = "optional";
    const form = chart.forms[word] || "ring";
    if (form !== "none") {
      const drawing = element("svg", { viewBox: "-20 -20 40 40", "aria-hidden": "true" });
      drawing.append(element("use", { href: `#mark-${form}`, x: -20, y: -20, width: 40, height: 40 }));
      item.append(drawing);
    } else item.append("—");
    const mark = { word: chart.words[word] ?? word, meaning: chart.meanings[word] || word };
    item.append(" ", message("{word}: {meaning}", mark));
    return item;
  }));
}

export { element, legend };
