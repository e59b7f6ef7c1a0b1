// The colours of code follow the theme that was chosen on the arena's pages, as the style sheet's own colours do; the list of
// pages shows the one that is read.
(() => {
  const chosen = document.documentElement.dataset.theme;
  const dark = document.getElementById("pygments_dark_css");
  if (dark && chosen) dark.media = chosen === "dark" ? "all" : "not all";
  document.addEventListener("DOMContentLoaded", () => {
    const current = document.querySelector(".tree a.current");
    if (current) current.closest(".tree").scrollTop = current.offsetTop - 100;
  });
})();
