// The analysis board. The address holds the line; the server knows the rules, draws the scenes and lists the legal moves.
import { Board, legend } from "./board.js";
import { Entry } from "./entry.js";
import { Palette } from "./palette.js";

const root = document.getElementById("free");
const $ = (id) => document.getElementById(id);
const scenes = [];
const legal = []; // legal moves by ply, as far as they have been loaded
const standings = [];
let board = null;
let entry = null;
let chart = null;
let base = 0; // plies of the game from which the line branches off
let now = 0;
let isAsking = false;
let turn = 0; // number of the shown position: discards late responses

const last = () => scenes.length - 1;
const text = (name, words) => { const made = document.createElement(name); made.textContent = words; return made; };
const say = (words) => { $("spoken").textContent = words; };

// Return the address of the line up to a ply.
function address(end) {
  const query = new URLSearchParams(location.search);
  for (const name of ["flip", "move", "moves"]) query.delete(name);
  if (query.has("game") || query.has("archive")) query.set("ply", Math.min(base, end));
  const tried = scenes.slice(Math.min(base, end) + 1, end + 1).map((scene) => scene.canonical);
  if (tried.length) query.set("moves", tried.join(" "));
  return query;
}

async function ask(query) {
  const answer = await fetch(`${root.dataset.scenes}?${query}`);
  const data = await answer.json();
  if (!answer.ok) throw new Error([data.detail, data.hint].filter(Boolean).join("; ") || data.title);
  return data;
}

function take(data) {
  if (data.chart) chart = data.chart;
  for (const scene of data.scenes) scenes[scene.ply] = scene;
  legal[data.last] = data.legal;
  standings[data.last] = data.standing;
}

function complain(problem) {
  $("problem").textContent = problem;
  $("problem").hidden = !problem;
}

async function play(move) {
  if (isAsking) return false;
  isAsking = true;
  const from = now; // the visitor may step to another ply before the response arrives
  try {
    const query = address(from);
    query.set("move", move);
    query.set("after", from);
    const data = await ask(query);
    scenes.length = from + 1;
    legal.length = from + 1;
    base = Math.min(base, from);
    take(data);
    complain("");
    show(last(), scenes[last()].said);
    return true;
  } catch (error) {
    complain(error.message);
    show(now);
    return false;
  } finally { isAsking = false; }
}

async function show(ply, words = "") {
  const mine = ++turn;
  now = Math.max(0, Math.min(ply, last()));
  const scene = scenes[now];
  board.draw(scene);
  board.svg.setAttribute("aria-label", now ? `Board after ply ${now}: ${scene.said}` : "Board at the start");
  $("ply").textContent = now;
  $("said").textContent = scene.said || "start";
  $("position").textContent = scene.position;
  $("copied").textContent = "";
  const query = address(now);
  const link = `${location.pathname}${query.size ? `?${query}` : ""}`;
  $("permalink").href = link;
  history.replaceState(null, "", link);
  if ($("back")) $("back").search = `?ply=${Math.min(base, now)}`;
  $("notes").replaceChildren(...scene.notes.map((note) => text("li", note)));
  list();
  legend($("legend"), scene, chart);
  $("grid").querySelector("tbody").replaceChildren(...chart.rows.map((row) => {
    const line = document.createElement("tr");
    line.append(...row.filter((name) => chart.kinds[name] !== "hole").map((name) => text("td", board.describe(scene, name))));
    return line;
  }));
  if (words) say(words);
  // Notify the panels next to the board.
  const detail = { ply: now, position: scene.position, moves: scenes.slice(1, now + 1).map((one) => one.canonical), query };
  root.dispatchEvent(new CustomEvent("arena:position", { bubbles: true, detail }));
  entry.offer([], scene);
  if (!legal[now]) {
    try {
      const data = await ask(address(now));
      if (mine !== turn) return;
      take(data);
    } catch (error) { if (mine === turn) complain(error.message); }
    if (mine !== turn) return;
  }
  $("standing").textContent = standings[now] || "";
  if (words && !legal[now]?.length) say(`${words}. ${standings[now]}`);
  entry.offer(legal[now] || [], scenes[now]);
}

function list() {
  $("moves").firstElementChild.replaceChildren(...scenes.slice(1).map((scene) => {
    const item = document.createElement("li");
    const link = text("a", scene.move);
    const query = address(scene.ply);
    link.href = `?${query}`;
    link.dataset.ply = scene.ply;
    if (scene.ply <= base) link.className = "quiet";
    if (scene.ply === now) link.setAttribute("aria-current", "true");
    item.append(link);
    return item;
  }));
  const current = $("moves").querySelector("[aria-current]");
  if (current) $("moves").scrollTop = current.offsetTop - $("moves").clientHeight / 2;
}

async function copy() {
  try {
    await navigator.clipboard.writeText($("permalink").href);
    $("copied").textContent = "copied";
  } catch { $("copied").textContent = "Copy it from the address bar"; }
}

function go(what) {
  if (what === "flip") {
    board.flip();
    board.draw(scenes[now]);
    entry.show();
    say("Board turned");
  } else if (what === "copy") copy();
  else {
    const ply = { home: 0, left: now - 1, right: now + 1, end: last() }[what];
    show(ply, scenes[Math.max(0, Math.min(ply, last()))].said || "start");
  }
}

document.getElementById("main").addEventListener("click", (event) => {
  if (!entry || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const button = event.target.closest("[data-go]");
  const link = event.target.closest("#moves a[data-ply]");
  if (!button && !link) return;
  event.preventDefault();
  if (button) go(button.dataset.go);
  else show(Number(link.dataset.ply), scenes[link.dataset.ply].said);
});

root.addEventListener("explore-move", (event) => {
  if (!entry) return; // not loaded yet: follow the link
  event.preventDefault();
  play(event.detail);
});

$("write").addEventListener("submit", async (event) => {
  if (!entry) return;
  event.preventDefault();
  const field = $("write").elements.move;
  if (await play(field.value.trim())) field.value = "";
});

// Setting up by hand starts from the shown position and does not change the line.
function arrange() {
  const line = [$("status"), $("write"), ...root.querySelectorAll(".controls")];
  const hide = (isHidden) => { for (const one of line) one.hidden = isHidden; };
  const leave = () => { hide(false); show(now); $("arrange").focus(); };
  const palette = new Palette({ place: $("palette"), board, entry, say, start: scenes[0].pieces, leave });
  $("arrange").hidden = false;
  $("arrange").addEventListener("click", () => {
    turn += 1; // discard pending responses
    hide(true);
    palette.open(scenes[now]);
  });
}

const query = new URLSearchParams(location.search);
query.delete("flip");
ask(query).then((data) => {
  take(data);
  base = data.base;
  board = new Board($("frame").querySelector("svg.board"), chart, root.dataset.flip === "yes");
  entry = new Entry({ board, frame: $("frame"), place: $("entry"), say, send: play });
  for (const button of document.querySelectorAll("button[data-go]")) button.hidden = false;
  if ($("palette")) arrange();
  show(last());
  root.dataset.ready = "yes";
}, (error) => complain(error.message));
