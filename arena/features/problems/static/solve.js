// A problem: moves on the board are checked by the server, which replies with the best defence.
import { Board, legend } from "../board.js";
import { Entry, sendTyped } from "../entry.js";
import { message } from "../text.js";

const root = document.getElementById("solve");
const $ = (id) => document.getElementById(id);
const place = `/problems/${root.dataset.problem}`;
let { line } = root.dataset;
let board = null;
let entry = null;
let chart = null;
let scene = null;
let turn = Promise.resolve();

const say = (words) => { $("spoken").textContent = words; };

function tell(words) {
  $("message").textContent = words;
  $("message").hidden = !words;
}

function draw(scenes) {
  for (const one of scenes) {
    scene = one;
    if (!one.ply) continue;
    const item = document.createElement("li");
    item.textContent = one.move;
    const list = $("moves").firstElementChild;
    if (list.children.length < one.ply) list.append(item);
  }
  board.draw(scene);
  board.svg.setAttribute("aria-label", scene.said ? message("Board after {said}", scene) : message("Board of the problem"));
  legend($("legend"), scene, chart);
  $("said").textContent = scene.said;
  $("grid").querySelector("tbody").replaceChildren(...chart.rows.map((row) => {
    const cells = row.filter((name) => chart.kinds[name] !== "hole").map((name) => {
      const cell = document.createElement("td");
      cell.textContent = board.describe(scene, name);
      return cell;
    });
    const made = document.createElement("tr");
    made.append(...cells);
    return made;
  }));
}

// A move waits for the answer to the one before: whoever types ahead means the position after the reply.
function play(move) {
  turn = turn.then(() => check(move));
  return turn;
}

async function check(move) {
  try {
    const answer = await fetch(`${place}/move.json`, { method: "POST", body: new URLSearchParams({ line, move }) });
    const data = await answer.json();
    if (!answer.ok) throw new Error([data.detail, data.hint].filter(Boolean).join("; ") || data.title);
    const { length } = line.split(" ").filter(Boolean);
    line = data.line;
    const plies = line.split(" ").filter(Boolean).length;
    root.dataset.state = data.state;
    $("left").textContent = Math.max(0, Number($("left").textContent) - (plies > length ? 1 : 0));
    $("write").elements.line.value = line;
    if (data.state === "solved") for (const one of $("write").querySelectorAll("[value=move], [value=hint]")) one.disabled = true;
    if (data.scenes.length) draw(data.scenes);
    tell(data.message);
    $("onward").hidden = data.state !== "solved";
    if (data.state !== "continue") tried();
    say([scene.said, data.message].filter(Boolean).join(". "));
    entry.offer(data.legal, scene);
    history.replaceState(null, "", line ? `${place}?${new URLSearchParams({ line })}` : place);
    return data.state !== "wrong";
  } catch (error) {
    tell(error.message);
    load();
    return false;
  }
}

// The first attempt is over: what the page says of it and of the problem has changed.
async function tried() {
  try {
    const answer = await fetch(place, { headers: { Accept: "text/html" }, cache: "no-store" });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of ["daily", "rated", "strength"]) $(part)?.replaceChildren(...fresh.getElementById(part).childNodes);
  } catch { /* reloading the page shows it */ }
}

$("write").addEventListener("submit", (event) => {
  if (!entry || (event.submitter?.value || "move") !== "move") return;
  event.preventDefault();
  sendTyped($("write").elements.move, play);
});

async function load() {
  const data = await (await fetch(`${place}/scenes.json?${new URLSearchParams({ line })}`)).json();
  ({ chart } = data);
  if (!board) {
    board = new Board($("frame").querySelector("svg.board"), chart, root.dataset.flip === "yes");
    entry = new Entry({ board, frame: $("frame"), place: $("entry"), say, send: play });
  }
  draw(data.scenes);
  entry.offer(data.legal, scene);
  root.dataset.ready = "yes";
}

load();
