// The game viewer: steps through scenes without loading pages, and follows a running game without losing a ply.
// It enhances the server's drawing; without this script the same links load the page at another ply.
import { Board, element, legend } from "./board.js";
import { remaining, set } from "./clock.js";
import { setting, toggle } from "./display.js";
import { Sketch } from "./sketch.js";
import { sound, soundOf } from "./sound.js";
import { message } from "./text.js";

const REQUEST_TIMEOUT_MS = 30_000;
const RETRY_INTERVAL_MS = 3000; // after a failed request
const LOW_MS = 10_000; // a clock with less is red
const WHEEL = 50; // pixels of the mouse wheel for one ply
const NEXT_GAME_MS = 4000;

const root = document.getElementById("viewer");
const $ = (id) => document.getElementById(id);
const scenes = [];
const plies = [];
const clocks = [];
const left = [];
const small = {};
const expected = {};
let board = null;
let sketch = null;
let chart = null;
let now = Number(root.dataset.ply);
let attempt = null;
let isOver = root.dataset.live !== "yes";
let timer = null;
let stream = null;
let retry = null;
let missing = null;
let loading = null;
let running = null; // the running clock of a live game: its side, and since when

const $q = (selector) => root.querySelector(selector);
const last = () => scenes.length - 1;
const text = (name, words) => { const made = document.createElement(name); made.textContent = words; return made; };

// -- data ------------------------------------------------------------------------------------------------------

async function load() {
  // One request at a time; further calls in the meantime cause one more request afterwards.
  if (loading) { loading.again = true; return; }
  loading = { again: false };
  try {
    // Time out, so that one lost response does not block all others.
    const given = { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) };
    const answer = await fetch(`${root.dataset.scenes}${scenes.length ? `?after=${last()}` : ""}`, given);
    if (!answer.ok) throw new Error(String(answer.status));
    const asked = scenes.length;
    if (!asked) set(answer);
    take(await answer.json());
  } finally {
    const again = loading.again;
    loading = null;
    if (again) await load();
  }
}

function take(data) {
  if (attempt !== null && data.attempt !== attempt) {
    location.reload(); // the game was restarted: the shown moves are obsolete
    return;
  }
  if (data.last < last()) {
    setTimeout(bring, 1000); // the game is over, but its record is not stored yet
    return;
  }
  attempt = data.attempt;
  const wasAtEnd = now >= last();
  const from = scenes.length;
  if (data.chart) {
    chart = data.chart;
    board = new Board($("frame").querySelector("svg.board"), chart, root.dataset.flip === "yes");
    sketch = new Sketch(board, $("frame"));
    for (const card of document.querySelectorAll("[data-thought]")) {
      small[card.dataset.thought] = new Board(card.querySelector("svg.board"), chart, board.isFlipped);
    }
  }
  for (const scene of data.scenes) {
    if (scene.ply !== scenes.length) continue;
    const ply = data.plies[scene.ply - data.scenes[0].ply];
    scenes.push(Object.assign(scene, { mark: ply?.mark }));
    plies.push(ply);
    clocks.push(data.clocks[scene.ply - data.scenes[0].ply]);
    left.push(data.left[scene.ply - data.scenes[0].ply]);
  }
  if (scenes.length > from) {
    // Plies from the stream are new; for the initial state the server sends the time of the last move.
    running = { side: data.to_move, left: data.left_ms, at: from ? Date.now() : data.moved_at && data.moved_at * 1000, server: !from };
  }
  $("last").textContent = last();
  $("spectators").hidden = data.is_over || !data.spectators;
  $("spectators").lastElementChild.textContent = data.spectators;
  if (from) for (let ply = from; ply <= last(); ply++) append(ply);
  else for (let ply = Number(root.dataset.last) + 1; ply <= last(); ply++) append(ply);
  if (data.is_over && !isOver) finish(data);
  const wasOver = isOver;
  isOver = data.is_over;
  if (isOver && !wasOver && scenes.length === from && from) show(now, { keepPlace: true });
  const isNew = from && scenes.length > from;
  if (isNew || (!from && last() > Number(root.dataset.last))) drawCharts();
  if (isNew && $("follow").checked && wasAtEnd) show(last(), { speak: true, keepPlace: true });
  else if (!from) show(Math.min(now, last()), {});
}

// Charts of a running game are drawn by the server; they are reloaded at most every few seconds.
let charting = null;

function drawCharts(wait = 0) {
  if (root.dataset.seat) return; // the human player must not see the bot's evaluation
  if (charting) { charting.again = true; return; }
  charting = { again: false };
  setTimeout(async () => {
    try {
      const answer = await fetch(root.dataset.charts);
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const chosen = $("charts").querySelector("input:checked")?.id;
        const held = document.activeElement?.id;
        const parts = [...fresh.body.children];
        $("charts").replaceChildren(...parts);
        if (chosen && $(chosen)) $(chosen).checked = true;
        if (held?.startsWith("chart-")) $(held)?.focus();
        $("charts-part").hidden = !parts.length;
        for (const drawing of document.querySelectorAll("svg.chart[data-x]")) cursor(drawing);
      }
    } catch { /* the next ply retries */ }
    const again = charting.again;
    charting = null;
    if (again) drawCharts(2500);
  }, wait);
}

function finish(data) {
  $("sentence").textContent = `${data.sentence}.`;
  $("result").textContent = data.result;
  $("detail").textContent = data.detail;
  $("following").hidden = true;
  stop(); // no further messages about the connection
  $("connection").textContent = root.dataset.seat ? "" : message("Game over.");
  running = null;
  speak(data.sentence);
  sound("end");
  retell();
  refresh().then(onward);
}

// The record knows what the news of the running game could not: read times, scores and clocks again.
async function retell() {
  try {
    const data = await (await fetch(root.dataset.scenes, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })).json();
    if (!data.is_over || data.attempt !== attempt || data.last !== last()) return;
    for (let ply = 0; ply <= last(); ply++) {
      [plies[ply], clocks[ply], left[ply]] = [data.plies[ply], data.clocks[ply], data.left[ply]];
      if (ply) figures(ply);
    }
    root.dataset.scores = plies.some((ply) => ply?.score || ply?.pv) ? "yes" : "no";
    panel(scenes[now]);
  } catch { /* what the news said stays */ }
}

// Continue with the next game of the tournament if the visitor wants that.
function onward() {
  const next = document.querySelector('#about a[rel="next"]');
  if (!next || root.dataset.seat || setting("onward") !== "on") return;
  $("connection").textContent = message("Next game in a moment…");
  setTimeout(() => { if (setting("onward") === "on") location = `${next.href}#play`; }, NEXT_GAME_MS);
}

// Replace what follows the viewer: ratings, result and links change at the end.
async function refresh() {
  try {
    const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.title = fresh.title;
    $("about").replaceChildren(...fresh.getElementById("about").childNodes);
    if ($("replay-ply")) $("replay-ply").textContent = now;
    $("about").dispatchEvent(new Event("exchanged", { bubbles: true }));
  } catch { /* reloading the page shows it */ }
}

// -- the page ---------------------------------------------------------------------------------------------------

function append(ply) {
  const scene = scenes[ply];
  $("no-moves")?.remove();
  const body = $("moves").querySelector("tbody");
  if (body.querySelector(`[data-ply="${ply}"]`)) return;
  let row = body.lastElementChild;
  const isFirst = scene.side === "first";
  if (isFirst || !row || row.children[4].querySelector("[data-ply]")) {
    row = document.createElement("tr");
    const head = text("th", body.children.length + 1);
    head.scope = "row";
    head.className = "n";
    row.append(head);
    for (let index = 0; index < 6; index++) row.append(document.createElement("td"));
    body.append(row);
  }
  const at = isFirst ? 1 : 4;
  const link = text("a", scene.move);
  link.href = `?ply=${ply}`;
  link.dataset.ply = ply;
  link.tabIndex = -1;
  row.children[at].replaceChildren(link);
  if (scene.lost) row.children[at].append(" ", text("small", `×${scene.lost}`));
  if (scene.score) row.children[at].append(" ", text("small", scene.score));
  figures(ply);
}

// The cells with time and score right of a move in the list.
function figures(ply) {
  const time = moveLink(ply).closest("td").nextElementSibling;
  for (const [cell, words] of [[time, plies[ply].time], [time.nextElementSibling, plies[ply].score]]) {
    cell.className = "n";
    cell.replaceChildren(text("small", words));
  }
}

function speak(words) { $("spoken").textContent = words; }

function show(ply, { speak: aloud = false, keepPlace = false }) {
  if (!board) return;
  const before = now;
  now = Math.max(0, Math.min(ply, last()));
  const scene = scenes[now];
  board.draw(scene, { isMoving: Math.abs(now - before) === 1 });
  if (now === before + 1) soundOf(scene);
  if (now !== before) sketch.clear();
  board.svg.setAttribute("aria-label", now ? message("Board after ply {ply}: {said}", { ply: now, said: scene.said }) : message("Board at the start"));
  $("ply").textContent = now;
  $("said").textContent = scene.said || message("start position");
  $("position").textContent = scene.position;
  if ($("replay-ply")) $("replay-ply").textContent = now;
  $("copied").textContent = "";
  $("permalink").href = `?ply=${now}`;
  if ($("picture")) $("picture").search = `?ply=${now}`;
  $("try").search = $("try").search.replace(/ply=\d+/, `ply=${now}`);
  $("notes").replaceChildren(...scene.notes.map((note) => text("li", note)));
  panel(scene);
  legend($("legend"), scene, chart);
  const list = $("moves");
  const hadFocus = list.contains(document.activeElement);
  for (const link of list.querySelectorAll('a[aria-current], a[tabindex="0"]')) {
    link.removeAttribute("aria-current");
    link.tabIndex = -1;
  }
  const link = moveLink(now);
  // The list is a single tab stop: the current move, or the first.
  const stop = link || moveLink(1);
  if (stop) stop.tabIndex = 0;
  list.tabIndex = stop ? -1 : 0;
  if (hadFocus && stop) stop.focus({ preventScroll: true });
  if (link) {
    link.setAttribute("aria-current", "true");
    // Scroll only the list, never the page.
    const top = link.getBoundingClientRect().top - list.getBoundingClientRect().top + list.scrollTop;
    if (top < list.scrollTop + 40 || top > list.scrollTop + list.clientHeight - 40) scroll(list, top - list.clientHeight / 2);
  } else list.scrollTop = 0;
  for (const button of root.querySelectorAll("a[data-go]")) button.href = target(button.dataset.go);
  for (const drawing of document.querySelectorAll("svg.chart[data-x]")) cursor(drawing);
  describeCells(scene);
  if (aloud) speak(scene.said || message("start position"));
  // Notify the panels next to the viewer.
  root.dispatchEvent(new CustomEvent("arena:position", { bubbles: true, detail: { ply: now, last: last(), position: scene.position, scene, board, chart, isOver } }));
  if (!keepPlace && !root.dataset.seat) history.replaceState(null, "", now === last() && isOver && !location.hash && !location.search ? location.pathname : `#${now}`);
}

// Scroll the list to about `top`, so that a whole row is below its head, also at the end of the list.
function scroll(list, top) {
  list.style.paddingBottom = "";
  list.scrollTop = top;
  const head = list.querySelector("thead").offsetHeight;
  const row = [...list.querySelectorAll("tbody tr")].find((one) => one.offsetTop - head >= list.scrollTop);
  if (!row) return;
  list.style.paddingBottom = `${row.offsetTop - head - list.scrollTop}px`;
  list.scrollTop = row.offsetTop - head;
}

const moveLink = (ply) => document.querySelector(`#moves a[data-ply="${ply}"]`);

function panel(scene) {
  const mover = now < last() ? scenes[now + 1].side : isOver ? "" : running?.side || "";
  gauge();
  ["first", "second"].forEach((side, index) => {
    const clock = $q(`[data-clock="${side}"]`);
    clock.textContent = clocks[now]?.[index] ?? "";
    delete clock.dataset.low;
    const bar = $q(`[data-left="${side}"]`);
    if (bar) bar.value = left[now]?.[index] ?? 0;
    $q(`[data-player="${side}"]`).dataset.turn = mover === side ? "yes" : "no";
    $q(`[data-taken="${side}"]`).replaceChildren();
    thought(side);
  });
  tick();
  // Show captured pieces next to the side that captured them, with its gain.
  const counts = { first: 0, second: 0 };
  for (const [symbol, number] of Object.entries(scene.gone)) {
    const [identifier, name] = chart.pieces[symbol];
    const captor = chart.owners[symbol] === "first" ? "second" : "first";
    counts[captor] += number;
    const drawing = element("svg", { viewBox: "-20 -20 40 40", role: "img", "aria-label": message("{piece} captured", { piece: name }) });
    drawing.append(element("use", { href: `#${identifier}`, x: -20, y: -20, width: 40, height: 40 }));
    const part = document.createElement("span");
    part.append(drawing, ` ×${number}`);
    $q(`[data-taken="${captor}"]`).append(part);
  }
  const lead = counts.first - counts.second;
  if (lead) $q(`[data-taken="${lead > 0 ? "first" : "second"}"]`).append(text("strong", `+${Math.abs(lead)}`));
}

// The evaluation bar: the latest winning chances known at the shown ply.
function gauge() {
  const place = $("gauge");
  if (!place) return;
  let ply = now;
  while (ply > 0 && plies[ply]?.chance == null) ply--;
  place.value = 50 + 50 * (plies[ply]?.chance ?? 0);
  place.title = plies[ply]?.score || "";
}

// The clock of the side to move runs between plies, and stops with the game.
function tick() {
  if (!running?.at || isOver || now !== last()) return;
  const index = running.side === "first" ? 0 : 1;
  const words = remaining(running.left[index], running.at, running.server);
  const place = $q(`[data-clock="${running.side}"]`);
  if (words && place.textContent !== words) place.textContent = words;
  if (running.left[index] != null) place.dataset.low = running.left[index] - (Date.now() - running.at) < LOW_MS ? "yes" : "no";
}

// -- engine output ----------------------------------------------------------------------------------------------

function thought(side) {
  const card = document.querySelector(`[data-thought="${side}"]`);
  if (!card) return; // games of people have no engine output
  let ply = now;
  while (ply > 0 && scenes[ply].side !== side) ply--;
  const report = plies[ply];
  card.querySelector(".at").textContent = ply ? message("ply {ply}", { ply }) : message("no move yet");
  card.querySelector(".figures").replaceChildren(...(report ? [text("strong", report.score), ` ${report.search}`] : []));
  if (expected[side]?.ply === ply) return;
  expected[side] = { ply };
  card.querySelector(".expected").hidden = !report?.pv;
  card.querySelector(".steps").replaceChildren(ply && !report.pv ? message("no predicted line") : "");
  small[side].svg.setAttribute("aria-label", message("Board after ply {ply}", { ply }));
  draw(side, scenes[ply]);
  if (report?.pv) ask();
}

function draw(side, scene) {
  if (small[side].isFlipped !== board.isFlipped) small[side].flip();
  small[side].draw(scene);
  expected[side].scene = scene;
}

// Debounced: lines are not loaded for plies that are only passed through.
let asking = null;

function ask() {
  clearTimeout(asking);
  asking = setTimeout(async () => {
    const at = now;
    try {
      const answer = await fetch(`${root.dataset.lines}?ply=${at}`);
      if (!answer.ok || at !== now) return;
      for (const [side, line] of Object.entries(await answer.json())) if (line.ply === expected[side].ply) unfold(side, line.scenes);
    } catch { /* the next ply retries */ }
  }, 150);
}

function unfold(side, line) {
  if (line.length < 2) return;
  const place = document.querySelector(`[data-thought="${side}"] .steps`);
  const play = (button) => {
    for (const one of place.querySelectorAll("button")) one.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    draw(side, line[Number(button.dataset.step)]);
    small[side].svg.setAttribute("aria-label", message("Predicted line after {move}", { move: button.textContent }));
  };
  const buttons = line.slice(1).map((scene) => {
    const button = text("button", scene.move);
    button.type = "button";
    button.className = "step";
    button.dataset.step = scene.ply;
    for (const event of ["click", "focus", "pointerenter"]) button.addEventListener(event, () => play(button));
    return button;
  });
  place.replaceChildren(`${message("expected")} `, ...buttons.flatMap((one) => [one, " "]));
  play(buttons.at(-1));
}

function cursor(drawing) {
  const [low, high, start, end] = drawing.dataset.x.split(" ").map(Number);
  const line = drawing.querySelector(".cursor");
  const x = start + ((now - low) / (high - low || 1)) * (end - start);
  line.setAttribute("visibility", now < low || now > high ? "hidden" : "visible");
  line.setAttribute("d", `M${x.toFixed(1)} ${line.dataset.top}V${line.dataset.bottom}`);
}

function describeCells(scene) {
  const body = $("grid").querySelector("tbody");
  body.replaceChildren(...chart.rows.map((row) => {
    const line = document.createElement("tr");
    line.append(...row.filter((name) => chart.kinds[name] !== "hole").map((name) => text("td", board.describe(scene, name))));
    return line;
  }));
}

// -- navigation -------------------------------------------------------------------------------------------------

const steps = { left: -1, right: 1, up: -10, down: 10 };

function target(go) {
  if (go === "flip") return `?ply=${now}&flip=${board?.isFlipped ? 0 : 1}`;
  const ply = go === "home" ? 0 : go === "end" ? last() : now + (steps[go] || 0);
  return `?ply=${Math.max(0, Math.min(ply, last()))}`;
}

function go(what) {
  if (!board) return;
  if (what in steps) show(now + steps[what], { speak: true });
  else if (what === "home") show(0, { speak: true });
  else if (what === "end") show(last(), { speak: true });
  else if (what === "flip") flip();
  else if (what === "copy") copy(scenes[now].position, $("position"));
  else if (what === "moves") copy(moveText(), $("moves").querySelector("tbody"));
  else if (what === "play") play();
  else if (what === "help") toggle("keys");
  else if (what === "display") toggle("display");
  else if (what === "full") full();
  else if (what === "zen") document.documentElement.toggleAttribute("data-zen");
  if (what !== "play" && timer && what in steps) play();
}

function full() {
  if (document.fullscreenElement) document.exitFullscreen();
  else root.requestFullscreen?.();
}

function flip() {
  board.flip();
  board.draw(scenes[now]);
  sketch.draw();
  $("gauge")?.classList.toggle("turned", board.isFlipped);
  for (const side of Object.keys(small)) if (expected[side]?.scene) draw(side, expected[side].scene);
  const stage = root.querySelector(".stage");
  const [upper, lower] = stage.querySelectorAll(".player");
  const middle = stage.querySelector(".table");
  stage.insertBefore(lower, middle);
  middle.after(upper);
  speak(message("Board turned"));
}

// The moves as text: "1. a2-a4 b3 2. …".
function moveText() {
  return scenes.slice(1).map((scene, index) => {
    const isFirst = scene.side === "first";
    const isNumbered = isFirst || !index || scenes[index].side === scene.side;
    const number = $("moves").querySelector(`a[data-ply="${scene.ply}"]`)?.closest("tr").firstElementChild.textContent;
    return (isNumbered ? `${number}${isFirst ? "." : "..."} ` : "") + scene.move + scene.annotation;
  }).join(" ");
}

async function copy(words, place) {
  try {
    await navigator.clipboard.writeText(words);
    $("copied").textContent = message("copied");
  } catch {
    // Without a clipboard (no HTTPS), select the text instead, ready to be copied.
    getSelection().selectAllChildren(place);
    $("copied").textContent = message("selected: press Ctrl+C");
  }
}

function play() {
  const button = root.querySelector('[data-go="play"]');
  if (timer) {
    clearTimeout(timer);
    timer = null;
  } else {
    if (now >= last()) show(0, {});
    timer = setTimeout(advance, pause());
  }
  button.setAttribute("aria-pressed", String(Boolean(timer)));
  button.textContent = timer ? message("Stop") : message("Replay");
}

// Milliseconds until the next ply: the chosen speed, or the time that the move took in the game.
function pause() {
  const speed = $("speed").value;
  return speed === "game" ? Math.max(200, Math.min(plies[now + 1]?.ms || 0, 15_000)) : Number(speed);
}

function advance() {
  if (now < last()) show(now + 1, {});
  else if (isOver) { play(); onward(); return; }
  timer = setTimeout(advance, pause());
}

const keys = {
  ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", Home: "home", End: "end",
  " ": "play", f: "flip", c: "copy", z: "zen", "?": "help",
};

// Letter keys and the space bar can be disabled.
const hasLetters = () => $("letters").checked;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys) || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const isInside = root.contains(event.target);
  if (!isInside && event.target !== document.body && event.target.id !== "main") return;
  if (event.key.length === 1 && !hasLetters()) return;
  // Space on a button or link activates it and does not scroll.
  if (event.key === " " && event.target.closest("button, summary, a")) return;
  event.preventDefault();
  const rows = { ArrowUp: -1, ArrowDown: 1 };
  if ($("moves").contains(event.target) && event.key in rows) step(rows[event.key]);
  else go(keys[event.key]);
});

// One row up or down in the list: the previous or next move of the same side.
function step(way) {
  const cell = moveLink(now)?.parentElement;
  if (!cell) { show(1, { speak: true }); return; }
  const row = way < 0 ? cell.parentElement.previousElementSibling : cell.parentElement.nextElementSibling;
  const ply = row?.children[cell.cellIndex].querySelector("[data-ply]") || row?.querySelector("[data-ply]");
  if (ply) show(Number(ply.dataset.ply), { speak: true });
}

// A click or drag in a chart goes to the ply at the pointer.
function pick(event) {
  const drawing = event.target.closest?.("svg.chart[data-x]");
  if (!drawing || !board) return;
  const [low, high, start, end] = drawing.dataset.x.split(" ").map(Number);
  const box = drawing.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * drawing.viewBox.baseVal.width;
  show(Math.round(low + ((x - start) / (end - start || 1)) * (high - low)), {});
}

$("charts").addEventListener("pointerdown", (event) => { if (!event.button) pick(event); });
$("charts").addEventListener("pointermove", (event) => { if (event.buttons & 1) pick(event); });

// The mouse wheel over the board steps through the game.
let wheeled = 0;
$("frame").addEventListener("wheel", (event) => {
  if (!board || event.ctrlKey) return;
  event.preventDefault();
  wheeled += event.deltaMode ? Math.sign(event.deltaY) * WHEEL : event.deltaY;
  if (Math.abs(wheeled) < WHEEL) return;
  go(wheeled > 0 ? "right" : "left");
  wheeled = 0;
}, { passive: false });

// A swipe over the board moves one ply.
let touched = null;
$("frame").addEventListener("touchstart", (event) => {
  touched = event.touches.length === 1 && !event.target.closest(".hit, .early") ? [event.touches[0].clientX, event.touches[0].clientY] : null;
}, { passive: true });
$("frame").addEventListener("touchend", (event) => {
  if (!touched) return;
  const [x, y] = [event.changedTouches[0].clientX - touched[0], event.changedTouches[0].clientY - touched[1]];
  touched = null;
  if (Math.abs(x) > 30 && Math.abs(x) > 1.5 * Math.abs(y)) go(x < 0 ? "right" : "left");
}, { passive: true });

document.getElementById("main").addEventListener("click", (event) => {
  const button = event.target.closest("[data-go]");
  const link = event.target.closest("a[data-ply]");
  if (!board || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (button) { event.preventDefault(); go(button.dataset.go); }
  else if (link) { event.preventDefault(); show(Number(link.dataset.ply), { speak: true }); }
});

const hashed = () => (/^#\d{1,6}$/.test(location.hash) ? Number(location.hash.slice(1)) : null);

addEventListener("hashchange", () => {
  const ply = hashed();
  if (ply !== null && ply !== now) show(ply, { speak: true });
});

// -- a running game ---------------------------------------------------------------------------------------------

const live = root.dataset.seat ? "" : message("Live"); // a seat says whose turn it is
function tell(words) { if (!isOver) $("connection").textContent = words; }

// Retry until a request succeeds: no further event may follow, as when a human player is to move.
async function bring() {
  clearTimeout(missing);
  try {
    await load();
    if (stream?.readyState === EventSource.OPEN) tell(live);
  } catch {
    if (isOver) return;
    tell(message("Connection lost. Reconnecting…"));
    missing = setTimeout(bring, RETRY_INTERVAL_MS);
  }
}

function stop() {
  clearTimeout(retry);
  stream?.close();
  stream = null;
}

function follow() {
  stop();
  $("following").hidden = false;
  const mine = new EventSource(root.dataset.stream);
  stream = mine;
  mine.onopen = () => { tell(live); bring(); };
  mine.onerror = () => {
    tell(message("Connection lost. Reconnecting…"));
    // A browser gives up after a response that is not a stream: open a new one.
    if (mine.readyState === EventSource.CLOSED) retry = setTimeout(again, RETRY_INTERVAL_MS);
  };
  // Events only trigger a request for the plies after the last known one, so that none is lost.
  for (const name of ["state", "ply", "final"]) mine.addEventListener(name, bring);
}

// A stream can die silently: reopen it when the network returns or the page becomes visible.
function again() { if (board && !isOver) follow(); }

addEventListener("online", again);
document.addEventListener("visibilitychange", () => { if (!document.hidden) again(); });

root.addEventListener("arena:go", (event) => show(event.detail, { speak: true }));
if (!root.requestFullscreen) root.querySelector('[data-go="full"]').hidden = true;
for (const link of document.querySelectorAll("#moves a[data-ply]")) link.tabIndex = -1;
setInterval(tick, 200);
$("follow").addEventListener("change", () => { if ($("follow").checked) show(last(), { keepPlace: true }); });

const wanted = root.dataset.seat ? null : hashed();
const isPlaying = location.hash === "#play";

function begin() {
  load().then(() => {
    if (wanted !== null) show(wanted, {});
    else if (isPlaying && isOver) { show(0, {}); play(); }
    else if (!isOver && !location.search) show(last(), { keepPlace: true });
    root.dataset.ready = "yes";
    if (!isOver) follow();
  }, () => {
    $("connection").textContent = message("The moves could not be loaded. Retrying… The links below the board still work.");
    setTimeout(begin, RETRY_INTERVAL_MS);
  });
}

begin();
