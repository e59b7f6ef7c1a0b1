// Clocks that run between plies: compute the time left now from the time left at an earlier moment, and show it on those of boards.
let ahead = 0; // offset of the server's clock from ours, in milliseconds

// Estimate the offset from the Date header of a response, which has a resolution of one second.
export function set(answer) {
  const there = Date.parse(answer.headers.get("Date"));
  if (there && Math.abs(there + 500 - Date.now()) > 1500) ahead = there + 500 - Date.now();
}

// Format the time left now: `left` milliseconds at the time `at` of the server or of this browser. Empty without a clock.
export function remaining(left, at, isServers = true) {
  if (left == null) return "";
  const seconds = Math.max(0, left - Math.max(0, Date.now() + (isServers ? ahead : 0) - at)) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const [minutes, rest] = [Math.floor(seconds / 60), String(Math.floor(seconds % 60)).padStart(2, "0")];
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

setInterval(() => {
  for (const clock of document.querySelectorAll(".clock[data-left]")) {
    const words = remaining(Number(clock.dataset.left), Number(clock.dataset.at));
    if (clock.textContent !== words) clock.textContent = words;
  }
}, 200);
