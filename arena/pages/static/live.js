// Updates the parts of a page marked `data-live-part`: fetches the page again and replaces those parts.
// Triggered by a tournament's event stream, or by a timer. A part in which the reader uses a control is left alone.
const streamed = document.querySelector("[data-live-stream]");
const timed = document.querySelector("[data-live-every]");
const shown = new Map(); // the last version of every part, as the server sent it
let isAsking = false;
let isWanted = false;
let pause = 1500;
let timer = null;
const RETRY_INTERVAL_MS = 5000; // after a failed request

const isUsed = (part) => part.contains(document.activeElement) && document.activeElement.matches("a, button, input, select, summary, textarea");

function exchange(part, other) {
  const scrolled = [...part.querySelectorAll(".wide")].map((one) => [one.scrollLeft, one === document.activeElement]);
  const open = [...part.querySelectorAll("details")].map((one) => one.open);
  part.replaceChildren(...other.childNodes);
  part.hidden = other.hidden;
  [...part.querySelectorAll("details")].forEach((one, index) => { one.open = open[index] ?? one.open; });
  part.dispatchEvent(new Event("exchanged", { bubbles: true }));
  for (const [index, one] of [...part.querySelectorAll(".wide")].entries()) {
    const [left, hadFocus] = scrolled[index] || [0, false];
    one.scrollLeft = left;
    if (hadFocus) one.focus({ preventScroll: true });
  }
}

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
    document.title = fresh.title;
    if (!fresh.querySelector("[data-live-every]")) clearInterval(timer);
    for (const part of document.querySelectorAll("[data-live-part]")) {
      const other = fresh.getElementById(part.id);
      if (!other || isUsed(part) || other.innerHTML === shown.get(part.id)) continue;
      shown.set(part.id, other.innerHTML);
      exchange(part, other);
    }
  } catch { /* network error: retried below */ } finally {
    setTimeout(() => {
      isAsking = false;
      if (isWanted || isMissed) { isWanted = false; refresh(); }
    }, isMissed ? RETRY_INTERVAL_MS : pause);
  }
}

if (streamed) {
  const place = document.getElementById("live"); // outside of all parts
  const tell = (state) => { if (place) place.textContent = place.dataset[state]; };
  const open = () => {
    const stream = new EventSource(streamed.dataset.liveStream);
    stream.onopen = () => tell("open");
    stream.onerror = () => {
      tell("lost");
      if (stream.readyState === EventSource.CLOSED) setTimeout(open, 5000);
    };
    // Refresh only if the state differs from the page: results may have arrived before the stream was open.
    stream.addEventListener("state", (event) => {
      const { state, finished_games: games } = JSON.parse(event.data).tournament;
      if (`${state} ${games}` !== streamed.dataset.liveState) refresh();
    });
    for (const name of ["game", "tournament"]) stream.addEventListener(name, refresh);
    stream.addEventListener("final", () => { stream.close(); pause = 100; refresh(); tell("over"); });
  };
  open();
}

if (timed) {
  timer = setInterval(() => { if (!document.hidden) refresh(); }, Number(timed.dataset.liveEvery) * 1000);
}
