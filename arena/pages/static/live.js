// Updates the parts of a page marked `data-live-part`: fetches the page again and replaces those parts.
// Triggered by a tournament's event stream, or by a timer. A part in which a field is being filled is left alone; any other
// focus moves to the same element of the new part.
const streamed = document.querySelector("[data-live-stream]");
const timed = document.querySelector("[data-live-every]");
let isAsking = false;
let isWanted = false;
let pause = 1500;
const RETRY_INTERVAL_MS = 5000; // after a failed request

// A function that focuses the element that is focused now, after its part was replaced.
function refocus(part) {
  const active = document.activeElement;
  if (!part.contains(active)) return () => {};
  const alike = () => [...part.querySelectorAll(active.tagName)];
  const index = alike().indexOf(active);
  const address = active.getAttribute("href");
  return () => {
    const found = (address && alike().find((one) => one.getAttribute("href") === address)) || alike()[index];
    found?.focus({ preventScroll: true });
  };
}

const isFilling = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");

async function refresh() {
  if (isAsking) { isWanted = true; return; }
  isAsking = true;
  let isMissed = true;
  try {
    // Bypass the browser's cache: a cached page predates the event.
    const asked = { headers: { Accept: "text/html" }, cache: "no-cache" };
    const answer = await fetch(location.pathname + location.search, asked);
    if (!answer.ok) { isMissed = answer.status >= 429; return; }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    isMissed = false;
    for (const part of document.querySelectorAll("[data-live-part]")) {
      const other = fresh.getElementById(part.id);
      if (!other || isFilling(part) || other.innerHTML === part.innerHTML) continue;
      const focus = refocus(part);
      const places = [...part.querySelectorAll(".wide")].map((one) => one.scrollLeft);
      part.replaceChildren(...other.childNodes);
      part.hidden = other.hidden;
      focus();
      tell(said);
      part.dispatchEvent(new Event("exchanged", { bubbles: true }));
      [...part.querySelectorAll(".wide")].forEach((one, index) => { one.scrollLeft = places[index] || 0; });
    }
  } catch { /* network error: retried below */ } finally {
    setTimeout(() => {
      isAsking = false;
      if (isWanted || isMissed) { isWanted = false; refresh(); }
    }, isMissed ? RETRY_INTERVAL_MS : pause);
  }
}

// The state of the connection, which an exchange must not wipe away.
let said = "";

function tell(words) {
  said = words;
  const place = document.getElementById("live");
  if (place && place.textContent !== words) place.textContent = words;
}

if (streamed) {
  const open = () => {
    const stream = new EventSource(streamed.dataset.liveStream);
    stream.onopen = () => tell("Live.");
    stream.onerror = () => {
      tell("Connection lost. Reconnecting…");
      if (stream.readyState === EventSource.CLOSED) setTimeout(open, 5000);
    };
    // Refresh only if the state differs from the page: results may have arrived before the stream was open.
    stream.addEventListener("state", (event) => {
      const { state, finished_games: games } = JSON.parse(event.data).tournament;
      if (`${state} ${games}` !== streamed.dataset.liveState) refresh();
    });
    for (const name of ["game", "tournament"]) stream.addEventListener(name, refresh);
    stream.addEventListener("final", () => { stream.close(); pause = 100; refresh(); tell("Finished."); });
  };
  open();
}

if (timed) {
  setInterval(() => { if (!document.hidden) refresh(); }, Number(timed.dataset.liveEvery) * 1000);
}
