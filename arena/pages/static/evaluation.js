// The evaluation of the position on the analysis board: at once with few nodes, then with more, until the position changes.
import { message } from "./text.js";

const place = document.getElementById("evaluation");
const gauge = document.getElementById("gauge");
const STEPS = [2_000, 8_000, 32_000, 128_000, 512_000, 2_000_000];
const LINES = 3; // of the next steps; the first one answers at once
const BUSY_MS = 1500;
const DEBOUNCE_MS = 120;
let asked = 0;

const text = (name, words) => { const made = document.createElement(name); made.textContent = words; return made; };

function row(found) {
  const made = document.createElement("li");
  made.append(text("strong", found.score), " ", ...found.moves.flatMap((one, index) => {
    if (index) return [text("span", one.shown), " "];
    const button = text("button", one.shown);
    button.type = "button";
    button.className = "step";
    // The board plays the move like one of the explorer.
    button.addEventListener("click", () => place.dispatchEvent(new CustomEvent("explore-move", { detail: one.move, bubbles: true, cancelable: true })));
    return [button, " "];
  }));
  return made;
}

function draw(found) {
  if (found.chance !== null) gauge.value = 50 + 50 * found.chance;
  const list = document.createElement("ol");
  list.append(...found.lines.map(row));
  const held = [...place.querySelectorAll("button")].indexOf(document.activeElement);
  place.replaceChildren(text("small", found.depth ? message("{engine}, depth {depth}:", found) : message("{engine}:", found)), list);
  place.querySelectorAll("button")[held]?.focus({ preventScroll: true });
}

async function evaluate(query) {
  const mine = ++asked;
  await new Promise((done) => setTimeout(done, DEBOUNCE_MS));
  for (const nodes of STEPS.filter((one) => one <= Number(place.dataset.nodes))) {
    let answer = null;
    while (mine === asked && !answer) {
      try {
        query.set("nodes", nodes);
        query.set("lines", nodes === STEPS[0] ? 1 : LINES);
        const given = await fetch(`${place.dataset.address}?${query}`);
        const found = given.ok ? await given.json() : {};
        if (found.lines) answer = found;
        else if (found.is_busy) await new Promise((done) => setTimeout(done, BUSY_MS));
        else { if (mine === asked) place.replaceChildren(); return; } // the game is over
      } catch { return; } // the next position retries
    }
    if (mine !== asked) return;
    draw(answer);
  }
}

document.addEventListener("arena:position", (event) => {
  place.replaceChildren(text("span", message("The engine is thinking…")));
  evaluate(new URLSearchParams(event.detail.query));
});
