// A game of a human player: the viewer shows it, and its board accepts moves on their turn.
import { EntryAhead } from "./ahead.js";
import { sendTyped } from "./entry.js";
import { message } from "./text.js";

const $ = (id) => document.getElementById(id);
const place = $("playing");
const { game, side, family } = place.dataset;
let entry = null;
let turn = 0; // number of the shown position: discards late responses
let shown = null;
let sent = null; // the ply after which a move was sent that is not answered yet

const say = (words) => { $("spoken").textContent = words; };

function showProblem(problem) {
  $("problem").textContent = problem;
  $("problem").hidden = !problem;
}

// What the player waits for, or may do, above the board.
function tellTurn(words) {
  $("turn").textContent = words;
  if (entry) entry.closed = words;
}

const waitingWords = (ahead) => (ahead ? message("Waiting for a free slot; games before yours: {ahead}.", { ahead }) : message("Starting your game…"));

async function decide(what) {
  showProblem("");
  try {
    const answer = await fetch(`/play/${game}/decide.json`, { method: "POST", body: new URLSearchParams(what) });
    if (answer.ok) return true;
    const data = await answer.json();
    showProblem([data.detail, data.hint].filter(Boolean).join("; ") || data.title);
  } catch { showProblem(message("Network error; try again.")); } finally { sent = null; }
  if (shown) offer(shown);
  return false;
}

// Send a move. Until the arena has played it, the board shows it as pending; one entered ahead waits for the bot's answer.
async function move(text) {
  if (entry?.waiting) { entry.write(text); return true; }
  const draw = $("write").elements.draw;
  const at = shown;
  const what = { do: "move", ply: shown.last, move: text };
  if (entry) entry.closed = message("Your move is on its way.");
  sent = at.last;
  if (draw.checked) what.draw = "yes";
  if (!draw.checked) $("offer").hidden = true;
  draw.checked = false;
  const isTaken = await decide(what);
  if (isTaken && shown.last === at.last) await showPending(text);
  return isTaken;
}

// Show a move that is stored but not yet played, as while the game waits for a slot.
async function showPending(text) {
  const at = shown;
  const isWaiting = place.dataset.state === "planned";
  tellTurn(isWaiting
    ? message("Your move {move} is stored. It is played as soon as the game starts.", { move: text })
    : message("Your move {move} is sent…", { move: text }));
  try {
    const query = new URLSearchParams({ game, ply: at.last, after: at.last, move: text });
    const answer = await fetch(`/${family}/board/scenes.json?${query}`);
    if (!answer.ok) return;
    const { scenes } = await answer.json();
    if (shown.last !== at.last || shown.ply !== at.last) return; // the move itself was quicker
    at.board.draw(scenes.at(-1), { isMoving: true });
    at.board.svg.classList.add("pending");
    entry.offer([], at.scene);
  } catch { /* the move itself follows */ }
}

// Show the bot's draw offer, or the state of the player's own offer.
function showOffer(draw) {
  $("take").hidden = draw?.state !== "offered";
  $("offer").hidden = !draw;
  if (!draw) return;
  const words = { offered: message("The bot offers a draw."), waiting: message("Draw offered."), declined: message("Draw declined: {why}.", draw) };
  $("offer").textContent = words[draw.state];
}

// Offer the legal moves if it is the player's turn and the last position is shown.
async function offer(detail) {
  shown = detail;
  if (detail.last === sent && detail.ply === sent) return; // the game starts while a move is on its way
  const mine = ++turn;
  detail.board.svg.classList.remove("pending");
  entry ||= new EntryAhead({ board: detail.board, frame: $("frame"), place: $("entry"), say, send: move });
  entry.closed = "";
  const isMine = detail.scene.to_move === side;
  const isLatest = !detail.isOver && detail.ply === detail.last;
  if (isLatest && (!isMine || entry.waiting)) entry.wait(detail.scene, side);
  else entry.offer([], detail.scene);
  $("take").hidden = true;
  $("write").hidden = detail.isOver;
  $("after").hidden = !detail.isOver;
  if (detail.isOver) tellTurn(message("Game over."));
  else if (detail.ply !== detail.last) tellTurn(message("You are looking at an earlier position. Press End to continue playing."));
  if (detail.isOver || detail.ply !== detail.last) return;
  tellTurn(isMine ? message("Your turn.") : message("The bot is thinking…"));
  $("write").elements.ply.value = detail.last;
  try {
    const answer = await fetch(`/${family}/board/scenes.json?game=${game}&ply=${detail.last}&after=${detail.last}`);
    const data = await answer.json();
    if (!answer.ok) throw new Error(String(answer.status));
    if (mine !== turn || data.to_move !== side) return;
    const state = await (await fetch(`/play/${game}/state.json`)).json();
    if (mine !== turn) return;
    if (state.pending) { await showPending(state.pending); return; }
    showOffer(state.draw);
    const { written } = entry;
    const isHeld = state.draw?.state === "offered"; // a move would decline the draw
    if (entry.answer(data.legal, detail.scene, isHeld)) return;
    if (written && data.legal.length) sendTyped($("write").elements.move, isHeld ? () => false : move, written);
    if (state.state === "planned") tellTurn(`${message("Your turn.")} ${waitingWords(state.ahead)}`);
    say(`${$("said").textContent}. ${message("Your turn.")} ${entry.told}`.trim());
  } catch {
    if (mine !== turn) return;
    if (isMine) entry.offer([], detail.scene);
    showProblem(message("The legal moves could not be loaded; type yours below."));
    document.querySelector(".typed").open = true;
  }
}

$("viewer").addEventListener("arena:position", (event) => offer(event.detail));

$("write").addEventListener("submit", (event) => {
  const what = event.submitter?.value || "move";
  if (!shown && what !== "resign") return; // no position yet: submit the plain form
  event.preventDefault();
  if (what === "move") sendTyped($("write").elements.move, move);
  else if (what === "back" || what === "draw") decide({ do: what, ply: shown.last });
  else if (confirm(message("Resign this game?"))) decide({ do: "resign" });
});

// While the game waits for a slot, show its place in the queue.
const waiting = place.dataset.state === "planned" && setInterval(async () => {
  try {
    const data = await (await fetch(`/play/${game}/state.json`)).json();
    if (data.state !== "planned") {
      clearInterval(waiting);
      place.dataset.state = data.state;
      if (data.pending) tellTurn(message("Your move {move} is sent…", { move: data.pending }));
      else tellTurn(shown?.scene.to_move === side ? message("Your turn.") : message("The bot is thinking…"));
    } else if (!data.pending) tellTurn(`${shown?.scene.to_move === side ? `${message("Your turn.")} ` : ""}${waitingWords(data.ahead)}`);
  } catch { /* retried by the timer */ }
}, 3000);
