// The entries of a new tournament as a tick list with a filter. It edits the text field, which keeps their order.
const field = document.getElementById("f-entries.bots");
const ticks = document.getElementById("ticks");
const family = document.getElementById("f-family");
const wanted = document.getElementById("wanted");

const names = () => field.value.split("\n").map((line) => line.trim()).filter(Boolean);
const boxes = () => [...ticks.querySelectorAll("input")];

function show() {
  const chosen = new Set(names());
  for (const box of boxes()) {
    box.checked = chosen.has(box.value);
    box.parentElement.hidden = !box.checked && !box.value.includes(wanted.value.trim().toLowerCase());
  }
}

ticks.addEventListener("change", ({ target }) => {
  const others = names().filter((name) => name !== target.value);
  field.value = (target.checked ? [...others, target.value] : others).join("\n");
  show();
});
field.addEventListener("input", show);
wanted.addEventListener("input", show);
wanted.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
family.addEventListener("change", async () => {
  const answer = await fetch(`/tournaments/new?family=${family.value}`);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  ticks.replaceChildren(...fresh.getElementById("ticks").children);
  show();
});
show();
