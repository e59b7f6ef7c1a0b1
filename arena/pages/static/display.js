// Settings of boards: every field with `data-setting` is remembered in the browser, and set as a `data-` attribute of the
// document, which styles and other scripts read. theme.js sets the remembered ones before the page is drawn.
const root = document.documentElement;

export const setting = (name) => root.dataset[name];

export function choose(name, value) {
  root.dataset[name] = value;
  try { localStorage.setItem(`arena-${name}`, value); } catch { /* for this page only */ }
  document.dispatchEvent(new CustomEvent("arena:setting", { detail: { name, value } }));
}

for (const field of document.querySelectorAll("[data-setting]")) {
  const name = field.dataset.setting;
  try { root.dataset[name] ??= localStorage.getItem(`arena-${name}`) ?? ""; } catch { /* no storage */ }
  const known = root.dataset[name];
  if (!known) delete root.dataset[name];
  else if (field.type === "checkbox") field.checked = known === "on";
  else if (field.tagName === "DETAILS") field.open = known === "on";
  else if ([...field.options].some((one) => one.value === known)) field.value = known;
  if (field.tagName === "DETAILS") field.addEventListener("toggle", () => choose(name, field.open ? "on" : "off"));
  else field.addEventListener("change", () => choose(name, field.type === "checkbox" ? (field.checked ? "on" : "off") : field.value));
}

// Buttons open and close dialogs: one for settings, one for keys.
export function toggle(identifier) {
  const dialog = document.getElementById(identifier);
  if (dialog.open) dialog.close(); else dialog.showModal();
}
