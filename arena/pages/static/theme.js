// Theme switch: light, dark or system, stored in the browser. Loaded before rendering, so that the page does not flash.
(() => {
  const names = ["system", "light", "dark"];
  const root = document.documentElement;
  // Settings of boards, see display.js.
  try {
    for (const [key, value] of Object.entries(localStorage)) {
      if (/^arena-[a-z]+$/.test(key)) root.dataset[key.slice(6)] = value;
    }
  } catch { /* no storage */ }
  let now = "system";
  try { now = localStorage.getItem("theme") || "system"; } catch { /* no storage: use the system's theme */ }
  const apply = () => {
    if (now === "system") delete root.dataset.theme; else root.dataset.theme = now;
  };
  if (!names.includes(now)) now = "system";
  apply();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    const showName = () => { button.lastElementChild.textContent = button.dataset[now]; };
    showName();
    button.hidden = false;
    button.addEventListener("click", () => {
      now = names[(names.indexOf(now) + 1) % names.length];
      try { localStorage.setItem("theme", now); } catch { /* for this page only */ }
      apply();
      showName();
    });
  });
})();
