// Clocks that go on between plies: what is left at a moment of the server's, as it would read now.
let ahead = 0; // how much the server's clock is ahead of ours, in milliseconds

// Compare the clocks: an answer says when it was given, to the second.
export function set(answer) {
  const there = Date.parse(answer.headers.get("Date"));
  if (there && Math.abs(there + 500 - Date.now()) > 1500) ahead = there + 500 - Date.now();
}

// `left` milliseconds at `at`, a time of the server's or of ours; empty without a clock.
export function remaining(left, at, isServers = true) {
  if (left == null) return "";
  const seconds = Math.max(0, left - Math.max(0, Date.now() + (isServers ? ahead : 0) - at)) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const [minutes, rest] = [Math.floor(seconds / 60), String(Math.floor(seconds % 60)).padStart(2, "0")];
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}
