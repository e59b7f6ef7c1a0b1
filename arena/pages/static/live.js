// Keeps the parts of a page marked `data-live-part` fresh: the page is asked for again and those parts are exchanged.
// Woken by the stream of a tournament, or every few seconds; never while somebody is inside the part with the keyboard.
const streamed = document.querySelector("[data-live-stream]");
const timed = document.querySelector("[data-live-every]");
let isAsking = false;
let isWanted = false;
let pause = 1500;
const LATER_MS = 5000; // what was not answered is asked for again

async function refresh() {
  if (isAsking) { isWanted = true; return; }
  isAsking = true;
  let isMissed = true;
  try {
    // Not a page that rests: it must know what woke us.
    const asked = { headers: { Accept: "text/html" }, cache: "no-cache" };
    const answer = await fetch(location.pathname + location.search, asked);
    if (!answer.ok) { isMissed = answer.status >= 429; return; }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    isMissed = false;
    for (const part of document.querySelectorAll("[data-live-part]")) {
      const other = fresh.getElementById(part.id);
      if (!other || part.contains(document.activeElement) || other.innerHTML === part.innerHTML) continue;
      const places = [...part.querySelectorAll(".wide")].map((one) => one.scrollLeft);
      part.replaceChildren(...other.childNodes);
      part.hidden = other.hidden;
      part.dispatchEvent(new Event("exchanged", { bubbles: true }));
      [...part.querySelectorAll(".wide")].forEach((one, index) => { one.scrollLeft = places[index] || 0; });
    }
  } catch { /* no answer: asked again below */ } finally {
    setTimeout(() => {
      isAsking = false;
      if (isWanted || isMissed) { isWanted = false; refresh(); }
    }, isMissed ? LATER_MS : pause);
  }
}

if (streamed) {
  const tell = (words) => { const place = document.getElementById("live"); if (place) place.textContent = words; };
  const open = () => {
    const stream = new EventSource(streamed.dataset.liveStream);
    stream.onopen = () => tell("Live.");
    stream.onerror = () => {
      tell("Connection lost, trying again…");
      if (stream.readyState === EventSource.CLOSED) setTimeout(open, 5000);
    };
    // The state may be what the page shows already; results may have come between the page and its stream.
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
