// Light, dark or the system's choice, remembered. Loaded before the page is drawn, so that nothing flashes.
(() => {
  const names = ["system", "light", "dark"];
  const root = document.documentElement;
  let now = "system";
  try { now = localStorage.getItem("theme") || "system"; } catch { /* no storage: the system decides */ }
  const apply = () => {
    if (now === "system") delete root.dataset.theme; else root.dataset.theme = now;
  };
  if (!names.includes(now)) now = "system";
  apply();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    const tell = () => { button.textContent = `Theme: ${now}`; };
    tell();
    button.hidden = false;
    button.addEventListener("click", () => {
      now = names[(names.indexOf(now) + 1) % names.length];
      try { localStorage.setItem("theme", now); } catch { /* for this page only */ }
      apply();
      tell();
    });
  });
})();
