// The analysis of a game in progress: its share and its curve, read again until it is done. The marks come with the page.
const POLL_INTERVAL_MS = 1000;
const MOST_MS = 2000; // after failures, and while nothing changes

async function poll(wait) {
  await new Promise((done) => setTimeout(done, wait));
  const panel = document.getElementById("analysis");
  let shown = panel.outerHTML;
  try {
    const answer = await fetch(panel.dataset.address);
    if (answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = fresh.getElementById("analysis");
      if (next.dataset.state !== "waiting") { location.reload(); return; }
      if (next.outerHTML !== shown) {
        shown = "";
        panel.replaceWith(next);
        draw(fresh.getElementById("charts"));
      }
    }
  } catch { /* the next poll retries */ }
  poll(shown ? Math.min(2 * wait, MOST_MS) : POLL_INTERVAL_MS);
}

function draw(charts) {
  if (!charts?.children.length) return;
  const place = document.getElementById("charts");
  const chosen = place.querySelector("input:checked")?.id;
  place.replaceChildren(...charts.childNodes);
  const tab = document.getElementById(chosen);
  if (tab) tab.checked = true;
  document.getElementById("charts-part").hidden = false;
}

poll(POLL_INTERVAL_MS);
