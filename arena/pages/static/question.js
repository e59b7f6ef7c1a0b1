// Analyse the position on the board: submit the form, then poll the page of the result until it is done.
import { message } from "./text.js";

const panel = document.querySelector('[data-panel="analysis"]');
const form = panel?.querySelector("form");
const place = document.getElementById("answered");
const POLL_INTERVAL_MS = 1000;
let asked = 0;

async function ask(event) {
  event.preventDefault();
  const mine = ++asked;
  const line = new URL(document.getElementById("permalink").href);
  const action = `${new URL(form.action).pathname}${line.search}`;
  let next = () => fetch(action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  try {
    while (mine === asked) {
      const answer = await next();
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== asked) return; // the board shows another position by now
      const section = found.getElementById("answer");
      if (!section) {
        place.textContent = found.querySelector("main")?.textContent.trim() || message("The analysis could not be requested.");
        return;
      }
      place.replaceChildren(document.adoptNode(section));
      if (section.dataset.state !== "waiting") return;
      await new Promise((done) => setTimeout(done, POLL_INTERVAL_MS));
      next = () => fetch(answer.url);
    }
  } catch { if (mine === asked) place.textContent = message("Network error; try again."); }
}

form?.addEventListener("submit", ask);
document.addEventListener("arena:position", () => { asked += 1; place.replaceChildren(); });
