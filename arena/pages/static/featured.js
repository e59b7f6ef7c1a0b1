// The large game of the front page: its plies as they are played, and the clock of whoever thinks.
import { Board } from "./board.js";
import { remaining, set } from "./clock.js";

let stream = null;
let game = "";
let chart = null;
let scene = null;
let asking = null; // what is being asked just now, and whether there was news meanwhile

const place = (selector) => document.querySelector(`#featured ${selector}`);

// The ply that the server has drawn.
const drawn = () => Number(document.getElementById("featured").dataset.ply);

async function bring() {
  if (asking) { asking.again = true; return; }
  const mine = asking = { again: false };
  try {
    const known = scene ? scene.ply : drawn() - 1;
    const answer = await fetch(`/games/${game}/scenes.json${chart && known >= 0 ? `?after=${known}` : ""}`);
    if (!answer.ok) return;
    set(answer);
    const data = await answer.json();
    if (mine !== asking) return; // another game is shown by now
    chart ||= data.chart;
    if (data.scenes.length) scene = data.scenes.at(-1);
    if (data.is_over) { stream?.close(); place(".said").textContent = `${data.sentence}.`; }
    else if (data.scenes.length) show(data);
  } catch { /* the next ply asks again */ } finally {
    if (mine === asking) {
      asking = null;
      if (mine.again) bring();
    }
  }
}

function show(data) {
  draw();
  place(".at").textContent = data.last;
  place(".said").textContent = scene.said;
  for (const [index, side] of ["first", "second"].entries()) {
    const clock = place(`[data-side="${side}"]`);
    if (!clock) continue;
    clock.closest(".player").dataset.turn = data.to_move === side ? "yes" : "no";
    clock.textContent = data.clocks.at(-1)[index];
    delete clock.dataset.left;
    if (data.to_move === side && data.moved_at) Object.assign(clock.dataset, { left: data.left_ms[index], at: data.moved_at * 1000 });
  }
}

function draw() {
  if (chart && scene) new Board(place("svg.board"), chart, false).draw(scene);
}

// The part may have been exchanged as a whole: another game, or the same with what the server knew.
function begin() {
  const found = document.getElementById("featured")?.dataset.game || "";
  if (found === game) { if (found && scene && scene.ply >= drawn()) draw(); return; }
  stream?.close();
  [stream, game, chart, scene, asking] = [null, found, null, null, null];
  if (!found) return;
  stream = new EventSource(`/api/v1/games/${found}/stream`);
  // Plies may have come between the page and its stream: the state, which is told first, knows them.
  stream.addEventListener("state", (event) => { if (JSON.parse(event.data).plies.length > (scene?.ply ?? drawn())) bring(); });
  for (const name of ["ply", "final"]) stream.addEventListener(name, bring);
}

setInterval(() => {
  for (const clock of document.querySelectorAll("#featured [data-left]")) {
    const words = remaining(Number(clock.dataset.left), Number(clock.dataset.at));
    if (clock.textContent !== words) clock.textContent = words;
  }
}, 200);
document.addEventListener("exchanged", begin);
addEventListener("online", () => { game = ""; begin(); });
document.addEventListener("visibilitychange", () => { if (document.hidden) stream?.close(); else { game = ""; begin(); } });
begin();
