// A tree of variations: moves, their alternatives and notes. As text: `a b [c d] e {note}`, where [c d] replaces b.
export class Branch {
  constructor(move = "", parent = null) {
    Object.assign(this, { move, parent, children: [], note: "", scene: null, legal: null, standing: "", isGame: false });
  }

  get ply() { return this.parent ? this.parent.ply + 1 : 0; }

  // The moves that lead here, and the last one of the main line from here.
  get line() { return this.parent ? [...this.parent.line, this] : []; }
  get end() { return this.children.length ? this.children[0].end : this; }

  // The position after a move; it becomes a variation if others were tried before.
  after(move) {
    let found = this.children.find((one) => one.move === move);
    if (!found) this.children.push(found = new Branch(move, this));
    return found;
  }

  remove() { this.parent.children = this.parent.children.filter((one) => one !== this); }

  // Make the line that leads here the main line.
  promote() {
    if (!this.parent) return;
    const { children } = this.parent;
    children.unshift(...children.splice(children.indexOf(this), 1));
    this.parent.promote();
  }

  get isPlain() { return !this.note && (!this.children.length || (this.children.length === 1 && this.children[0].isPlain)); }
}

const word = (branch) => [branch.move, branch.note && `{${branch.note}}`].filter(Boolean).join(" ");

export function write(branch) {
  const parts = branch.parent ? [] : [word(branch)];
  for (let at = branch; at.children.length; [at] = at.children) {
    const [main, ...others] = at.children;
    parts.push(word(main));
    for (const other of others) parts.push(`[${[word(other), write(other)].filter(Boolean).join(" ")}]`);
  }
  return parts.filter(Boolean).join(" ");
}

// Add the moves of a text to a tree. What cannot be read is left out.
export function read(text, root) {
  const stack = [];
  let at = root;
  for (const part of text.match(/\{[^}]*\}|[[\]]|[^\s[\]{}]+/g) || []) {
    if (part === "[") { stack.push(at); at = at.parent || at; }
    else if (part === "]") at = stack.pop() || at;
    else if (part.startsWith("{")) at.note = part.slice(1, -1);
    else at = at.after(part);
  }
}

const text = (name, words, kind = "") => { const made = document.createElement(name); made.textContent = words; made.className = kind; return made; };

// The tree as links; `link` completes the link of a move, `begins` is 1 if the second side moves first.
export function listed(root, link, begins = 0) {
  const box = document.createElement("div");
  const add = (branch, place, isFirst) => {
    const at = branch.ply - 1 + begins;
    if (isFirst || at % 2 === 0) place.append(text("span", `${Math.floor(at / 2) + 1}${at % 2 ? "…" : "."}`, "quiet"), " ");
    const made = text("a", branch.scene?.move || branch.move);
    link(made, branch);
    place.append(made, " ");
    if (branch.note) place.append(text("em", branch.note), " ");
  };
  const follow = (branch, place, wasBroken) => {
    let isBroken = wasBroken;
    for (let at = branch; at.children.length; [at] = at.children) {
      const [main, ...others] = at.children;
      add(main, place, isBroken);
      isBroken = others.length > 0;
      for (const other of others) {
        const part = text("span", "(", "variation");
        add(other, part, true);
        follow(other, part, false);
        part.lastChild.remove(); // the space after the last move
        part.append(")");
        place.append(part, " ");
      }
    }
  };
  box.className = "tree";
  if (root.note) box.append(text("em", root.note), " ");
  follow(root, box, true);
  return box;
}
