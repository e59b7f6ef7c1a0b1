// The large game of the front page: follows a running game ply by ply, or replays the game of the day, its end first.
import { Board } from "./board.js";
import { set } from "./clock.js";

const STEP_MS = 1000; // between the plies of a replay
const END_MS = 6000; // at its last position
const SIDES = ["first", "second"];
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let game = "";
let stream = null;
let timer = 0;
let known = null; // everything fetched of the game: chart, scenes, plies, clocks
let asking = null; // the running request, and whether to repeat it afterwards

const card = () => document.getElementById("featured");
const place = (selector) => card()?.querySelector(selector);

async function bring() {
  if (asking) { asking.again = true; return; }
  const mine = asking = { again: false };
  try {
    const answer = await fetch(`/games/${game}/scenes.json${known ? `?after=${known.scenes.length - 1}` : ""}`);
    if (!answer.ok) return;
    set(answer);
    const data = await answer.json();
    if (mine !== asking) return; // the page shows another game by now
    known = known ? { ...known, ...data, ...Object.fromEntries(["scenes", "plies", "clocks"].map((name) => [name, [...known[name], ...data[name]]])) } : data;
    if (data.is_over) stream?.close();
    show(known.scenes.length - 1);
  } catch { /* the next ply retries */ } finally {
    if (mine === asking) {
      asking = null;
      if (mine.again) bring();
    }
  }
}

// The latest ply of a side up to a number; 0 without one.
function latest(side, number) {
  while (number > 0 && known.scenes[number].side !== side) number -= 1;
  return number;
}

function show(number) {
  if (!known || !card()) return;
  const scene = known.scenes[number];
  const isLast = number === known.scenes.length - 1;
  const isLive = isLast && !known.is_over;
  new Board(place("svg.board"), known.chart, false).draw(scene);
  place(".at").textContent = number;
  place(".said").textContent = isLast && known.is_over && !place(".story") ? `${known.sentence}.` : scene.said;
  const items = [...place(".last-moves").children]; // in two columns, one for each side
  for (const [index, item] of items.entries()) {
    item.value = number + number % 2 - items.length + 1 + index;
    item.textContent = item.value > 0 && item.value <= number ? known.scenes[item.value].move : "";
  }
  let rated = number; // the latest ply with known winning chances
  while (rated > 0 && known.plies[rated]?.chance == null) rated -= 1;
  place(".evalbar").value = 50 + 50 * (known.plies[rated]?.chance ?? 0);
  for (const [index, side] of SIDES.entries()) player(side, index, number, isLive);
}

function player(side, index, number, isLive) {
  const shown = place(`[data-side="${side}"]`);
  const clock = shown.querySelector(".clock");
  const isToMove = (isLive ? known.to_move : known.scenes[number].to_move) === side && !(known.is_over && number === known.scenes.length - 1);
  shown.dataset.turn = isToMove ? "yes" : "no";
  const told = known.plies[latest(side, number)];
  shown.querySelector(".score").textContent = told?.score || "";
  shown.querySelector(".search").textContent = told?.search || "";
  shown.querySelector(".pv").textContent = isLive ? (known.expected[side] || []).join(" ") : "";
  if (!clock) return;
  clock.textContent = known.clocks[number][index];
  delete clock.dataset.left;
  if (isLive && isToMove && known.moved_at) Object.assign(clock.dataset, { left: known.left_ms[index], at: known.moved_at * 1000 });
}

function replay(number) {
  clearTimeout(timer);
  if (!known) return;
  show(number);
  const isLast = number === known.scenes.length - 1;
  timer = setTimeout(() => (document.hidden ? replay(number) : replay(isLast ? Math.min(1, number) : number + 1)), isLast ? END_MS : STEP_MS);
}

// live.js may have replaced the whole part, with another game or the same one.
async function begin() {
  const found = card()?.dataset.game || "";
  if (found === game) { if (found && known) show(known.is_over ? Number(place(".at").dataset.now || known.scenes.length - 1) : known.scenes.length - 1); return; }
  stream?.close();
  clearTimeout(timer);
  [stream, game, known, asking] = [null, found, null, null];
  if (!found) return;
  if (card().dataset.live === "no") {
    if (calm.matches) return;
    await bring();
    if (found === game && known) replay(known.scenes.length - 1);
    return;
  }
  stream = new EventSource(`/api/v1/games/${found}/stream`);
  // Plies may have been played before the stream was open: its first event, the state, contains them.
  stream.addEventListener("state", (event) => { if (JSON.parse(event.data).plies.length > Number(place(".at").textContent)) bring(); });
  for (const name of ["ply", "final"]) stream.addEventListener(name, bring);
}

document.addEventListener("exchanged", (event) => { if (event.target.id === "now") begin(); });
addEventListener("online", () => { game = ""; begin(); });
document.addEventListener("visibilitychange", () => {
  if (card()?.dataset.live === "no") return;
  if (document.hidden) stream?.close(); else { game = ""; begin(); }
});
begin();
