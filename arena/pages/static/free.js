// The analysis board. The address holds the line, and all variations behind #; the server knows the rules, draws the scenes and
// lists the legal moves.
import { Board, legend } from "./board.js";
import { toggle } from "./display.js";
import { Entry, sendTyped } from "./entry.js";
import { Palette } from "./palette.js";
import { Sketch } from "./sketch.js";
import { soundOf } from "./sound.js";
import { message } from "./text.js";
import { Branch, listed, read, write } from "./tree.js";

const root = document.getElementById("free");
const $ = (id) => document.getElementById(id);
const MARK = "#v:"; // begins the variations in the address
const tree = new Branch();
let at = tree; // the shown position
let board = null;
let sketch = null;
let entry = null;
let chart = null;
let isAsking = false;
let turn = 0; // number of the shown position: discards late responses

const text = (name, words) => { const made = document.createElement(name); made.textContent = words; return made; };
const say = (words) => { $("spoken").textContent = words; };

// Return the address of the line up to a position. The plies of a game are named by their number.
function address(branch) {
  const query = new URLSearchParams(location.search);
  for (const name of ["flip", "move", "moves"]) query.delete(name);
  const { line } = branch;
  const base = line.filter((one) => one.isGame).length;
  if (query.has("game") || query.has("archive")) query.set("ply", base);
  const tried = line.slice(base).map((one) => one.move);
  if (tried.length) query.set("moves", tried.join(" "));
  return query;
}

const variations = () => (tree.isPlain ? "" : MARK + encodeURIComponent(write(tree)));

async function ask(query) {
  const answer = await fetch(`${root.dataset.scenes}?${query}`);
  const data = await answer.json();
  if (!answer.ok) throw new Error([data.detail, data.hint].filter(Boolean).join("; ") || data.title);
  return data;
}

// Store the scenes of a line below a branch, and return its last one.
function take(data, from) {
  if (data.chart) chart = data.chart;
  let branch = from;
  for (const scene of data.scenes) {
    if (scene.ply) branch = branch.after(scene.canonical);
    branch.scene = scene;
    branch.isGame ||= scene.ply > 0 && scene.ply <= data.base;
  }
  Object.assign(branch, { legal: data.legal, standing: data.standing });
  return branch;
}

// Load what is not known of a position: those of variations in the address, and legal moves.
async function complete(branch) {
  let known = branch;
  while (!known.scene) known = known.parent;
  const query = address(branch);
  query.set("after", known.ply);
  take(await ask(query), known);
}

function complain(problem) {
  $("problem").textContent = problem;
  $("problem").hidden = !problem;
}

async function play(move) {
  if (isAsking) return false;
  isAsking = true;
  const from = at; // the visitor may step to another position before the response arrives
  try {
    const query = address(from);
    query.set("move", move);
    query.set("after", from.ply);
    const made = take(await ask(query), from);
    complain("");
    show(made, made.scene.said);
    return true;
  } catch (error) {
    complain(error.message);
    show(at);
    return false;
  } finally { isAsking = false; }
}

async function show(branch, words = null) {
  const mine = ++turn;
  const before = at;
  if (!branch.scene) {
    try { await complete(branch); } catch (error) {
      if (mine === turn) complain(message("This variation cannot be shown: {why}", { why: error.message }));
      return;
    }
    if (mine !== turn) return;
  }
  at = branch;
  const { scene, ply } = at;
  const isStep = before.parent === at || at.parent === before;
  board.draw(scene, { isMoving: isStep });
  if (at.parent === before) soundOf(scene);
  if (at !== before) sketch.clear();
  board.svg.setAttribute("aria-label", ply ? message("Board after ply {ply}: {said}", { ply, said: scene.said }) : message("Board at the start"));
  $("ply").textContent = ply;
  $("said").textContent = scene.said || message("start position");
  $("position").textContent = scene.position;
  $("copied").textContent = "";
  for (const link of document.querySelectorAll("[data-of-position]")) {
    const address = new URL(link.href);
    address.searchParams.set("position", scene.position);
    link.href = address;
  }
  $("note").value = at.note;
  $("note").disabled = !ply;
  place();
  $("notes").replaceChildren(...scene.notes.map((note) => text("li", note)));
  legend($("legend"), scene, chart);
  $("grid").querySelector("tbody").replaceChildren(...chart.rows.map((row) => {
    const line = document.createElement("tr");
    line.append(...row.filter((name) => chart.kinds[name] !== "hole").map((name) => text("td", board.describe(scene, name))));
    return line;
  }));
  if (words !== null) say(words || message("start position"));
  // Notify the panels next to the board.
  const detail = { ply, position: scene.position, moves: at.line.map((one) => one.move), query: address(at) };
  root.dispatchEvent(new CustomEvent("arena:position", { bubbles: true, detail }));
  entry.offer([], scene);
  if (!at.legal) {
    try { await complete(branch); } catch (error) { if (mine === turn) complain(error.message); }
    if (mine !== turn) return;
  }
  $("standing").textContent = at.standing || "";
  if (words && !at.legal?.length) say(`${words}. ${at.standing}`);
  entry.offer(at.legal || [], scene);
}

// Update the address, and the moves with their links.
function place() {
  const query = address(at);
  const link = `${location.pathname}${query.size ? `?${query}` : ""}${variations()}`;
  $("permalink").href = link;
  history.replaceState(null, "", link);
  if ($("back")) $("back").search = `?ply=${at.line.filter((one) => one.isGame).length}`;
  const links = new Map();
  $("moves").replaceChildren(listed(tree, (made, branch) => {
    made.href = `?${address(branch)}`;
    made.dataset.ply = branch.ply;
    links.set(made, branch);
    if (branch.isGame) made.className = "quiet";
    if (branch === at) made.setAttribute("aria-current", "true");
  }, tree.scene?.to_move === "second" ? 1 : 0));
  $("moves").onclick = (event) => {
    const branch = links.get(event.target.closest("a"));
    if (!branch || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(branch, branch.scene?.said || "");
  };
  const current = $("moves").querySelector("[aria-current]");
  if (current) $("moves").scrollTop = current.offsetTop - $("moves").clientHeight / 2;
}

async function copy(words, otherwise) {
  try {
    await navigator.clipboard.writeText(words);
    $("copied").textContent = message("copied");
  } catch { $("copied").textContent = otherwise; }
}

// The server writes the game; it knows the notations.
async function copyGame() {
  const form = $("export");
  form.elements.tree.value = write(tree);
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    const words = await answer.text();
    if (answer.ok) await copy(words, message("Copying needs HTTPS; download the game instead"));
    else complain(message("The game cannot be written in this notation."));
  } catch (error) { complain(error.message); }
}

$("export").addEventListener("submit", () => { $("export").elements.tree.value = write(tree); });

const steps = { home: () => tree, left: () => at.parent, right: () => at.children[0], end: () => at.end };

function go(what) {
  if (what in steps) {
    const branch = steps[what]();
    if (branch) show(branch, branch.scene?.said || "");
  } else if (what === "flip") {
    board.flip();
    board.draw(at.scene);
    sketch.draw();
    $("gauge").classList.toggle("turned", board.isFlipped);
    entry.show();
    say(message("Board turned"));
  } else if (what === "copy") copy($("permalink").href, message("Copy it from the address bar"));
  else if (what === "text") copyGame();
  else if (what === "display") toggle("display");
  else if (what === "full") root.requestFullscreen?.();
  else if (what === "promote") { at.promote(); place(); }
  else if (what === "remove" && at.parent) {
    const { parent } = at;
    at.remove();
    show(parent, message("removed"));
  }
}

document.getElementById("main").addEventListener("click", (event) => {
  if (!entry || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const button = event.target.closest("[data-go]");
  if (!button) return;
  event.preventDefault();
  go(button.dataset.go);
});

$("note").addEventListener("change", () => {
  at.note = $("note").value.replace(/[[\]{}]/g, " ").trim();
  place();
});

root.addEventListener("explore-move", (event) => {
  if (!entry) return; // not loaded yet: follow the link
  event.preventDefault();
  play(event.detail);
});

$("write").addEventListener("submit", (event) => {
  if (!entry) return;
  event.preventDefault();
  sendTyped($("write").elements.move, play);
});

// Setting up by hand starts from the shown position and does not change the line.
function arrange() {
  const line = [$("status"), $("write"), ...root.querySelectorAll(".controls, .evaluation")];
  const hide = (isHidden) => { for (const one of line) one.hidden = isHidden; };
  const leave = () => { hide(false); show(at); $("arrange").focus(); };
  const palette = new Palette({ place: $("palette"), board, entry, say, start: tree.scene.pieces, leave });
  $("arrange").disabled = false;
  $("arrange").addEventListener("click", () => {
    turn += 1; // discard pending responses
    hide(true);
    palette.open(at.scene);
  });
}

// The variations of a pasted game, or of a game that people or an engine annotated, are not in the address yet.
if (root.dataset.tree && !location.hash.startsWith(MARK)) history.replaceState(null, "", root.dataset.address + MARK + encodeURIComponent(root.dataset.tree));
const query = new URLSearchParams(location.search);
const written = location.hash.startsWith(MARK) ? location.hash.slice(MARK.length) : "";
query.delete("flip");
ask(query).then((data) => {
  // The written tree comes first: it has the order of the variations.
  try { read(decodeURIComponent(written), tree); } catch { complain(message("The variations in the address cannot be read.")); }
  const end = take(data, tree);
  board = new Board($("frame").querySelector("svg.board"), chart, root.dataset.flip === "yes");
  sketch = new Sketch(board, $("frame"));
  entry = new Entry({ board, frame: $("frame"), place: $("entry"), say, send: play });
  if ($("palette")) arrange();
  show(end);
  root.dataset.ready = "yes";
}, (error) => complain(error.message));
