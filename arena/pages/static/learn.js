// Learn from the mistakes of a game: the board shows the position before each, and the visitor looks for the engine's move.
import { Entry } from "./entry.js";
import { message } from "./text.js";

const place = document.getElementById("learn");
const $ = (id) => document.getElementById(id);
const viewer = $("viewer");
const tasks = place ? JSON.parse(place.dataset.tasks) : [];
let task = -1;
let entry = null;
let position = null; // what the viewer shows
let moves = [];

const tell = (words) => { $("task").textContent = words; };
const isShown = () => task >= 0 && position?.ply === tasks[task].ply - 1;
const name = (move) => moves.find((one) => one.move === move)?.shown || move;

// Go to the next mistake, if there is one.
async function next() {
  task += 1;
  if (task >= tasks.length) { stop(message("You have seen all mistakes of this game.")); return; }
  const mine = task;
  const { ply, move, mark, side } = tasks[task];
  moves = [];
  viewer.dispatchEvent(new CustomEvent("arena:go", { detail: ply - 1 }));
  $("solve").hidden = false;
  $("next").textContent = message("Skip");
  tell(message("{number} of {count}: {side} played {move}. Find a better move.", { number: task + 1, count: tasks.length, side, move: move + mark }));
  try {
    const answer = await fetch(`${place.dataset.board}&ply=${ply - 1}&after=${ply - 1}`);
    const { legal } = await answer.json();
    if (mine !== task) return; // skipped meanwhile
    moves = legal;
    if (isShown()) offer();
  } catch { if (mine === task) tell(message("The legal moves could not be loaded; try again.")); }
}

function offer() {
  entry ||= new Entry({ board: position.board, frame: $("frame"), place: $("tried"), say: (words) => { $("spoken").textContent = words; }, send: judge });
  entry.offer(moves, position.scene);
}

function judge(move) {
  const { best, played } = tasks[task];
  if (move === best) { tell(message("{move} is the engine’s move. Well done!", { move: name(move) })); solved(); return; }
  const words = { move: name(move) };
  tell(move === played ? message("{move} is the move that was played. Find a better one.", words) : message("{move} is not the engine’s move. Try again.", words));
  offer();
}

function solved() {
  $("solve").hidden = true;
  $("next").textContent = task + 1 < tasks.length ? message("Next") : message("Finish");
  entry?.offer([], position.scene);
}

function stop(words) {
  task = -1;
  for (const button of [$("solve"), $("next")]) button.hidden = true;
  $("begin").hidden = false;
  entry?.offer([], position.scene);
  tell(words);
}

if (place) {
  viewer.addEventListener("arena:position", (event) => {
    position = event.detail;
    if (entry && !isShown()) entry.offer([], position.scene);
    else if (isShown() && moves.length) offer();
  });
  $("begin").addEventListener("click", () => {
    $("begin").hidden = true;
    $("next").hidden = false;
    task = -1;
    next();
  });
  $("next").addEventListener("click", next);
  $("solve").addEventListener("click", () => { tell(message("The engine prefers {move}.", { move: name(tasks[task].best) })); solved(); });
}
