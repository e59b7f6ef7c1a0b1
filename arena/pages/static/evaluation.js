// The evaluation of the position on the analysis board: at once with few nodes, then with more, until the position changes.
import { message } from "./text.js";

const place = document.getElementById("evaluation");
const gauge = document.getElementById("gauge");
const STEPS = [2_000, 20_000, 200_000, 2_000_000];
const BUSY_MS = 1500;
const DEBOUNCE_MS = 120;
let asked = 0;

const text = (name, words) => { const made = document.createElement(name); made.textContent = words; return made; };

function draw(found) {
  if (found.chance !== null) gauge.value = 50 + 50 * found.chance;
  const moves = found.line.map((one, index) => {
    if (index) return text("span", one.shown);
    const button = text("button", one.shown);
    button.type = "button";
    button.className = "step";
    // The board plays the move like one of the explorer.
    button.addEventListener("click", () => place.dispatchEvent(new CustomEvent("explore-move", { detail: one.move, bubbles: true, cancelable: true })));
    return button;
  });
  place.replaceChildren(text("strong", found.score), ` ${found.depth ? message("{engine}, depth {depth}:", found) : message("{engine}:", found)} `, ...moves.flatMap((one) => [one, " "]));
}

async function evaluate(query) {
  const mine = ++asked;
  await new Promise((done) => setTimeout(done, DEBOUNCE_MS));
  for (const nodes of STEPS.filter((one) => one <= Number(place.dataset.nodes))) {
    let answer = null;
    while (mine === asked && !answer) {
      try {
        query.set("nodes", nodes);
        const given = await fetch(`${place.dataset.address}?${query}`);
        const found = given.ok ? await given.json() : {};
        if (found.line) answer = found;
        else if (found.is_busy) await new Promise((done) => setTimeout(done, BUSY_MS));
        else { if (mine === asked) place.replaceChildren(); return; } // the game is over
      } catch { return; } // the next position retries
    }
    if (mine !== asked) return;
    draw(answer);
  }
}

document.addEventListener("arena:position", (event) => {
  place.replaceChildren(text("span", "…"));
  evaluate(new URLSearchParams(event.detail.query));
});
