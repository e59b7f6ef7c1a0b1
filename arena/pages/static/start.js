// The form that starts a game against a bot remembers the last choice for each family.
const form = document.getElementById("start");
const key = form && `arena-play-${form.dataset.family}`;

function restore() {
  let known = {};
  try { known = JSON.parse(localStorage.getItem(key)) || {}; } catch { /* nothing is known */ }
  for (const field of form.elements) {
    if (!(field.name in known)) continue;
    if (field.type === "radio") field.checked = field.checked || field.value === known[field.name];
    else if (field.type === "select-one" && [...field.options].some((one) => one.value === known[field.name])) field.value = known[field.name];
  }
}

if (form) {
  // A choice in the address is newer than the remembered one.
  if (!["bot", "variant", "side", "time"].some((name) => new URLSearchParams(location.search).has(name))) restore();
  for (const chosen of form.querySelectorAll("details :checked")) if (chosen.name === "bot") chosen.closest("details").open = true;
  form.addEventListener("submit", () => {
    try { localStorage.setItem(key, JSON.stringify(Object.fromEntries(new FormData(form)))); } catch { /* no storage */ }
  });
}
