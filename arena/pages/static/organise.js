// The form of a tournament: the plan that follows from it is kept up to date, and bots are chosen from a list with a filter.
// The text field of the bots keeps their order.
const form = document.querySelector("form.organise");
const field = document.getElementById("f-entries.bots");
const ticks = document.getElementById("ticks");
const wanted = document.getElementById("wanted");
const start = document.getElementById("f-start_time");
const PAUSE_MS = 400;

const names = () => field.value.split("\n").map((line) => line.trim()).filter(Boolean);

function show() {
  const chosen = new Set(names());
  for (const box of ticks.querySelectorAll("input")) {
    box.checked = chosen.has(box.value);
    box.parentElement.hidden = !box.checked && !box.value.includes(wanted.value.trim().toLowerCase());
  }
}

// -- the plan ---------------------------------------------------------------------------------------------------

// Show the faults of the fresh page at the fields of this one, whose values stay.
function mark(fresh) {
  for (const old of form.querySelectorAll(".field > .bad, .who > .bad")) old.remove();
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  for (const fault of fresh.querySelectorAll(".field > .bad, .who > .bad")) {
    const input = document.getElementById((fault.closest(".who") ?? fault.parentElement.querySelector("[name]")).id);
    if (!input) continue;
    if (input.name) input.setAttribute("aria-invalid", "true");
    const before = input.matches(".who") ? input.querySelector(".some") : input.parentElement.querySelector("small");
    before.before(fault.cloneNode(true));
  }
}

let asked = 0;
async function plan() {
  const mine = ++asked;
  const game = form.elements.family.value;
  try {
    const body = new URLSearchParams(new FormData(form));
    body.set("do", "preview");
    const answer = await fetch(form.action, { method: "POST", body });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const told = fresh.getElementById("plan");
    if (mine !== asked || !told) return;
    const isOpen = document.querySelector("#plan details")?.open;
    document.getElementById("plan").replaceChildren(...told.childNodes);
    document.getElementById("plan").removeAttribute("aria-busy");
    document.querySelector("#plan details")?.toggleAttribute("open", Boolean(isOpen));
    mark(fresh);
    if (game !== ticks.dataset.family) {
      ticks.dataset.family = game;
      ticks.replaceChildren(...fresh.getElementById("ticks").children);
      show();
    }
    document.dispatchEvent(new Event("exchanged"));
  } catch { /* the next change asks again; Create tells what is wrong */ }
}

let timer = 0;
form.addEventListener("input", (event) => {
  if (event.target.closest("#wanted")) return;
  document.getElementById("plan").setAttribute("aria-busy", "true");
  clearTimeout(timer);
  timer = setTimeout(plan, PAUSE_MS);
});

form.addEventListener("click", ({ target }) => {
  if (!target.dataset.fill) return;
  document.getElementById(target.dataset.fill).value = target.value;
  plan();
});

// -- the variants, those of the chosen game ----------------------------------------------------------------------

const { family, variant } = form.elements;

function narrow() {
  for (const group of variant.querySelectorAll("optgroup")) group.hidden = group.disabled = group.dataset.family !== family.value;
  if (variant.selectedOptions[0].parentElement.hidden) variant.value = "";
}
family.addEventListener("input", narrow);
narrow();

// -- the bots ---------------------------------------------------------------------------------------------------

ticks.dataset.family = form.elements.family.value;
ticks.addEventListener("change", ({ target }) => {
  const others = names().filter((name) => name !== target.value);
  field.value = (target.checked ? [...others, target.value] : others).join("\n");
  show();
});
field.addEventListener("input", show);
wanted.addEventListener("input", show);
wanted.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
show();

// -- the start, in the reader's zone; the server takes UTC --------------------------------------------------------

const MINUTE = 60_000;
const local = (at) => new Date(at.getTime() - at.getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);
if (start.value) start.value = local(new Date(`${start.value}Z`));
start.labels[0].querySelector("[data-zone]").textContent = `(${Intl.DateTimeFormat().resolvedOptions().timeZone})`;
form.addEventListener("formdata", ({ formData }) => {
  if (start.value) formData.set("start_time", new Date(start.value).toISOString().slice(0, 16));
});
