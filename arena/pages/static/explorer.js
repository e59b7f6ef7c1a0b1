// The opening explorer: arrows of its moves on the board of its page, and its panel next to a viewer or an analysis board,
// which observes the text of the position.
// A move is a link. A page that can play the move itself handles "explore-move" and cancels the event.
import { message } from "./text.js";

const panel = document.querySelector('[data-panel="explorer"]');
const place = document.getElementById("position");
const known = new Map();
const text = (name, words) => { const made = document.createElement(name); made.textContent = words; return made; };
const columns = [[message("Move"), ""], [message("Games"), ""], [message("Score"), message("of the side to move")], [message("Strength"), message("mean mu")], [message("Last"), ""]];
// As the server writes it.
const dayOf = (last) => (document.documentElement.lang === "fr" ? last.split("-").reverse().join("/") : last);
const count = (number) => number.toLocaleString(document.documentElement.lang);
let wait = null;

function address(base, position, more = {}) {
  const query = new URLSearchParams({ variant: panel.dataset.variant, position, ...more });
  return `${base}?${query}`;
}

async function look() {
  const position = place.textContent;
  if (!known.has(position)) {
    try {
      const answer = await fetch(address(`/api/v1/explorer/${panel.dataset.family}`, position));
      if (!answer.ok) return;
      known.set(position, await answer.json());
    } catch { return; } // the next position retries
  }
  if (place.textContent === position) draw(position, known.get(position));
}

function draw(position, found) {
  const games = { count: count(found.games) };
  const sentence = found.total_exact
    ? message("Archived games with this position: {count}.", games)
    : message("Archived games with this position: more than {count}.", games);
  const line = text("p", `${sentence} `);
  const more = text("a", message("Opening explorer"));
  more.href = address(`/${panel.dataset.family}/explorer`, position);
  line.append(more);
  const parts = [line];
  if (found.moves.length) {
    const table = document.createElement("table");
    const caption = text("caption", message("Moves played in this position"));
    caption.className = "hidden-visually";
    const head = document.createElement("tr");
    for (const [words, title] of columns) {
      const cell = text("th", words);
      cell.scope = "col";
      if (words !== columns[0][0]) cell.className = "n";
      if (title) cell.title = title;
      head.append(cell);
    }
    const body = document.createElement("tbody");
    for (const one of found.moves.slice(0, 12)) body.append(row(position, one));
    const top = document.createElement("thead");
    top.append(head);
    table.append(caption, top, body);
    const wide = document.createElement("div");
    wide.className = "wide";
    wide.append(table);
    parts.push(wide);
  }
  panel.querySelector("[data-found]").replaceChildren(...parts);
}

function row(position, one) {
  const made = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  const link = text("a", one.shown);
  link.href = address(`/${panel.dataset.family}/explorer`, position, { moves: one.move });
  link.addEventListener("click", (event) => {
    const asked = new CustomEvent("explore-move", { detail: one.move, bubbles: true, cancelable: true });
    if (!panel.dispatchEvent(asked)) event.preventDefault();
  });
  head.append(link);
  made.append(head);
  const score = one.score === null ? "–" : `${(100 * one.score).toFixed(0)} %`;
  const strength = one.rating === null ? "–" : one.rating.toLocaleString(document.documentElement.lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  head.dataset.label = columns[0][0];
  [count(one.games), score, strength, dayOf(one.last) || "–"].forEach((words, index) => {
    const cell = text("td", words);
    cell.className = "n";
    cell.dataset.label = columns[index + 1][0];
    made.append(cell);
  });
  return made;
}

if (panel && place) {
  // Debounced: no request for positions that are only passed through.
  const later = () => { clearTimeout(wait); if (panel.open !== false) wait = setTimeout(look, 250); };
  new MutationObserver(later).observe(place, { childList: true, characterData: true, subtree: true });
  panel.addEventListener("toggle", later);
  later();
}

// The arrow of the move under the pointer, or of the row that was tapped or has the focus.
const trail = document.querySelector('.explorer [data-layer="trail"]');
function point(event) {
  const arrows = event.target.closest("tr")?.querySelector("[data-arrow]")?.dataset.arrow.split("|") ?? [];
  trail.replaceChildren(...arrows.map((points) => {
    const arrow = document.createElementNS(trail.namespaceURI, "polyline");
    arrow.setAttribute("points", points);
    arrow.setAttribute("marker-end", "url(#arrow)");
    return arrow;
  }));
}

if (trail) {
  const table = trail.closest(".explorer").querySelector("tbody");
  for (const kind of ["pointerover", "focusin"]) table?.addEventListener(kind, point);
  // A finger leaves when it is lifted: the arrow of its row stays.
  table?.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") point(event); });
}
