// The game viewer: steps through scenes without loading pages, and follows a running game without losing a ply.
// Works on what the server has drawn; without this script the same links load the page at another ply.
import { Board, element } from "./board.js";

const root = document.getElementById("viewer");
const $ = (id) => document.getElementById(id);
const scenes = [];
const plies = [];
const clocks = [];
const left = [];
let board = null;
let chart = null;
let sides = ["first", "second"];
let now = Number(root.dataset.ply);
let attempt = null;
let isOver = root.dataset.live !== "yes";
let timer = null;
let stream = null;
let loading = null;

const last = () => scenes.length - 1;
const text = (name, words) => { const made = document.createElement(name); made.textContent = words; return made; };

// -- what there is ----------------------------------------------------------------------------------------------

async function load() {
  // One request at a time; asked again meanwhile, it looks once more afterwards.
  if (loading) { loading.again = true; return; }
  loading = { again: false };
  try {
    const answer = await fetch(`${root.dataset.scenes}${scenes.length ? `?after=${last()}` : ""}`);
    if (!answer.ok) throw new Error(String(answer.status));
    take(await answer.json());
  } finally {
    const again = loading.again;
    loading = null;
    if (again) await load();
  }
}

function take(data) {
  if (attempt !== null && (data.attempt !== attempt || data.last < last())) {
    location.reload(); // the game was begun again: what is shown is not the game any more
    return;
  }
  attempt = data.attempt;
  const wasAtEnd = now >= last();
  const from = scenes.length;
  if (data.chart) {
    chart = data.chart;
    sides = data.sides;
    board = new Board(root.querySelector("svg.board"), chart, root.dataset.flip === "yes");
  }
  for (const scene of data.scenes) {
    if (scene.ply !== scenes.length) continue;
    scenes.push(scene);
    plies.push(data.plies[scene.ply - data.scenes[0].ply]);
    clocks.push(data.clocks[scene.ply - data.scenes[0].ply]);
    left.push(data.left[scene.ply - data.scenes[0].ply]);
  }
  $("last").textContent = last();
  if (from) for (let ply = from; ply <= last(); ply++) append(ply);
  else for (let ply = Number(root.dataset.last) + 1; ply <= last(); ply++) append(ply);
  if (data.is_over && !isOver) finish(data);
  isOver = data.is_over;
  const isNew = from && scenes.length > from;
  if (isNew || (!from && last() > Number(root.dataset.last))) drawCharts();
  if (isNew && $("follow").checked && wasAtEnd) show(last(), { speak: true, keepPlace: true });
  else if (!from) show(Math.min(now, last()), {});
}

// The charts of a game that grows are the server's; they are asked for every few seconds at most.
let charting = null;

function drawCharts(wait = 0) {
  if (charting) { charting.again = true; return; }
  charting = { again: false };
  setTimeout(async () => {
    try {
      const answer = await fetch(root.dataset.charts);
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        $("charts").replaceChildren(...fresh.body.children);
        $("charts-part").hidden = !$("charts").children.length;
        for (const drawing of document.querySelectorAll("svg.chart[data-x]")) cursor(drawing);
      }
    } catch { /* the next ply asks again */ }
    const again = charting.again;
    charting = null;
    if (again) drawCharts(2500);
  }, wait);
}

function finish(data) {
  $("sentence").textContent = `${data.sentence}.`;
  $("detail").textContent = data.detail;
  $("following").hidden = true;
  $("connection").textContent = "The game is over.";
  speak(data.sentence);
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
  row.children[at].replaceChildren(link);
  const lost = scenes[ply - 1] ? count(scenes[ply - 1].pieces) - count(scene.pieces) : 0;
  if (lost > 0) row.children[at].append(" ", text("small", `×${lost}`));
  if (scene.score) row.children[at].append(" ", text("small", scene.score));
  for (const [shift, words] of [[1, plies[ply].time], [2, plies[ply].score]]) {
    row.children[at + shift].className = "n";
    row.children[at + shift].replaceChildren(text("small", words));
  }
}

const count = (pieces) => Object.values(pieces).reduce((sum, symbols) => sum + symbols.length, 0);

function speak(words) { $("spoken").textContent = words; }

function show(ply, { speak: aloud = false, keepPlace = false }) {
  if (!board) return;
  now = Math.max(0, Math.min(ply, last()));
  const scene = scenes[now];
  board.draw(scene);
  board.svg.setAttribute("aria-label", now ? `Board after ply ${now}: ${scene.said}` : "Board at the start");
  $("ply").textContent = now;
  $("said").textContent = scene.said || "start";
  $("position").textContent = scene.position;
  if ($("replay-ply")) $("replay-ply").textContent = now;
  $("copied").textContent = "";
  $("permalink").href = `?ply=${now}`;
  $("notes").replaceChildren(...scene.notes.map((note) => text("li", note)));
  panel(scene);
  legend(scene);
  for (const link of document.querySelectorAll("#moves a[aria-current]")) link.removeAttribute("aria-current");
  const link = document.querySelector(`#moves a[data-ply="${now}"]`);
  const list = $("moves");
  if (link) {
    link.setAttribute("aria-current", "true");
    // Scrolls the list only, never the page.
    const top = link.getBoundingClientRect().top - list.getBoundingClientRect().top + list.scrollTop;
    if (top < list.scrollTop + 40 || top > list.scrollTop + list.clientHeight - 40) list.scrollTop = top - list.clientHeight / 2;
  } else list.scrollTop = 0;
  for (const button of root.querySelectorAll("a[data-go]")) button.href = target(button.dataset.go);
  for (const drawing of document.querySelectorAll("svg.chart[data-x]")) cursor(drawing);
  describeCells(scene);
  if (aloud) speak(scene.said || "start");
  if (!keepPlace) history.replaceState(null, "", now === last() && isOver && !location.hash && !location.search ? location.pathname : `#${now}`);
}

function panel(scene) {
  const ply = plies[now];
  const words = [];
  if (ply?.depth != null) words.push(`depth ${ply.depth}`);
  if (ply?.nodes != null) words.push(`${ply.nodes.toLocaleString("en")} nodes`);
  $("info").textContent = words.join(", ");
  const mover = now < last() ? scenes[now + 1].side : isOver ? "" : scene.side === "first" ? "second" : "first";
  ["first", "second"].forEach((side, index) => {
    root.querySelector(`[data-clock="${side}"]`).textContent = clocks[now]?.[index] ?? "";
    const bar = root.querySelector(`[data-left="${side}"]`);
    if (bar) bar.value = left[now]?.[index] ?? 0;
    root.querySelector(`[data-player="${side}"]`).dataset.turn = mover === side ? "yes" : "no";
    root.querySelector(`[data-taken="${side}"]`).replaceChildren();
  });
  for (const [symbol, number] of Object.entries(scene.gone)) {
    const [identifier, name] = chart.pieces[symbol];
    const drawing = element("svg", { viewBox: "-20 -20 40 40", role: "img", "aria-label": `${name} gone` });
    drawing.append(element("use", { href: `#${identifier}`, x: -20, y: -20, width: 40, height: 40 }));
    const part = document.createElement("span");
    part.append(drawing, ` ×${number}`);
    root.querySelector(`[data-taken="${chart.owners[symbol] || "first"}"]`).append(part);
  }
}

function legend(scene) {
  const words = [...new Set(Object.values(scene.marks).flat())].filter((word) => chart.meanings[word] !== "").sort();
  $("legend").replaceChildren(...words.map((word) => {
    const item = document.createElement("li");
    const form = chart.forms[word] || "ring";
    if (form !== "none") {
      const drawing = element("svg", { viewBox: "-20 -20 40 40", "aria-hidden": "true" });
      drawing.append(element("use", { href: `#mark-${form}`, x: -20, y: -20, width: 40, height: 40 }));
      item.append(drawing);
    } else item.append("—");
    item.append(` ${word}: ${chart.meanings[word] || word}`);
    return item;
  }));
}

function cursor(drawing) {
  const [low, high, start, end] = drawing.dataset.x.split(" ").map(Number);
  const line = drawing.querySelector(".cursor");
  const x = start + ((now - low) / (high - low || 1)) * (end - start);
  line.toggleAttribute("hidden", now < low || now > high);
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

// -- going there ------------------------------------------------------------------------------------------------

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
  else if (what === "help") help();
  if (what !== "play" && timer && what in steps) play();
}

function flip() {
  board.flip();
  board.draw(scenes[now]);
  const stage = root.querySelector(".stage");
  const [upper, lower] = stage.querySelectorAll(".player");
  const frame = $("frame");
  stage.insertBefore(lower, frame);
  frame.after(upper);
  speak(`Board turned`);
}

// The moves as people write them: "1. a2-a4 b3 2. …".
function moveText() {
  return scenes.slice(1).map((scene, index) => {
    const isFirst = scene.side === "first";
    const isNumbered = isFirst || !index || scenes[index].side === scene.side;
    const number = $("moves").querySelector(`a[data-ply="${scene.ply}"]`)?.closest("tr").firstElementChild.textContent;
    return (isNumbered ? `${number}${isFirst ? "." : "..."} ` : "") + scene.move;
  }).join(" ");
}

async function copy(words, place) {
  try {
    await navigator.clipboard.writeText(words);
    $("copied").textContent = "copied";
  } catch {
    // No clipboard (no https): the text is selected instead, ready to be copied.
    getSelection().selectAllChildren(place);
    $("copied").textContent = "selected: press Ctrl+C";
  }
}

function play() {
  const button = root.querySelector('[data-go="play"]');
  if (timer) {
    clearInterval(timer);
    timer = null;
  } else {
    if (now >= last()) show(0, {});
    timer = setInterval(() => {
      if (now >= last()) { if (isOver) play(); } else show(now + 1, {});
    }, 900);
  }
  button.setAttribute("aria-pressed", String(Boolean(timer)));
  button.textContent = timer ? "Stop" : "Play";
}

function help() {
  const dialog = $("keys");
  if (dialog.open) dialog.close(); else dialog.showModal();
}

const keys = {
  ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", Home: "home", End: "end",
  " ": "play", f: "flip", c: "copy", "?": "help",
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  if ($("keys").open && event.key !== "?") return;
  // Space on a button or link is that button's; it scrolls nothing else here.
  if (event.key === " " && event.target.closest("button, summary, a")) return;
  event.preventDefault();
  go(keys[event.key]);
});

root.addEventListener("click", (event) => {
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

function follow() {
  $("following").hidden = false;
  const bring = () => load().then(settle, () => { $("connection").textContent = "Connection lost, trying again…"; });
  stream = new EventSource(root.dataset.stream);
  stream.onopen = () => { $("connection").textContent = "Live"; bring(); };
  stream.onerror = () => {
    $("connection").textContent = "Connection lost, trying again…";
    // A browser gives up after an answer that is no stream; then we begin anew.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => { if (!isOver) follow(); }, 3000);
  };
  // Events only wake: plies are asked for behind the last one we have, so none is lost, whatever was missed.
  for (const name of ["state", "ply", "final"]) stream.addEventListener(name, bring);
}

function settle() {
  if (isOver && stream) { stream.close(); stream = null; }
}

for (const button of root.querySelectorAll("button[data-go]")) button.hidden = false;
$("follow").addEventListener("change", () => { if ($("follow").checked) show(last(), { keepPlace: true }); });

const wanted = hashed();
load().then(() => {
  if (wanted !== null) show(wanted, {});
  else if (!isOver && !location.search) show(last(), { keepPlace: true });
  root.dataset.ready = "yes";
  if (!isOver) follow();
}, () => { $("connection").textContent = "The moves could not be loaded; the links below the board still work."; });
