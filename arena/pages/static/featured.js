// The large game of the front page: shows its plies live, and runs the clock of the side to move.
import { Board } from "./board.js";
import { remaining, set } from "./clock.js";

let stream = null;
let game = "";
let chart = null;
let scene = null;
let asking = null; // the running request, and whether to repeat it afterwards

const place = (selector) => document.querySelector(`#featured ${selector}`);

// The ply drawn by the server.
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
    if (mine !== asking) return; // the page shows another game by now
    chart ||= data.chart;
    if (data.scenes.length) scene = data.scenes.at(-1);
    if (data.is_over) { stream?.close(); place(".said").textContent = `${data.sentence}.`; }
    else if (data.scenes.length) show(data);
  } catch { /* the next ply retries */ } finally {
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

// live.js may have replaced the whole part, with another game or the same one.
function begin() {
  const found = document.getElementById("featured")?.dataset.game || "";
  if (found === game) { if (found && scene && scene.ply >= drawn()) draw(); return; }
  stream?.close();
  [stream, game, chart, scene, asking] = [null, found, null, null, null];
  if (!found) return;
  stream = new EventSource(`/api/v1/games/${found}/stream`);
  // Plies may have been played before the stream was open: its first event, the state, contains them.
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
