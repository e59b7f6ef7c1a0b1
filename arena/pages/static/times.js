// What only the browser knows. Times in the reader's zone: the full date as a tooltip, absolute times as text, and a tap on a
// relative time shows its date. The address of this site, where the operator has not set a public one.
const pad = (number) => String(number).padStart(2, "0");

// In the format of the server's UTC times, so that the layout does not shift.
function written(time) {
  const at = new Date(time.dateTime);
  const parts = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())];
  const day = document.documentElement.lang === "fr" ? parts.reverse().join("/") : parts.join("-");
  return `${day} ${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

function show() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    time.title = new Date(time.dateTime).toLocaleString(document.documentElement.lang, { dateStyle: "full", timeStyle: "long" });
    if ("absolute" in time.dataset) time.textContent = written(time);
  }
}

document.addEventListener("click", (event) => {
  const time = event.target.closest("time[datetime]");
  if (time && !event.target.closest("a, button, summary")) time.textContent = written(time);
});
document.addEventListener("exchanged", show);
const zone = document.getElementById("zone");
if (zone) zone.textContent = zone.dataset.local;
show();
for (const place of document.querySelectorAll("[data-site]:empty")) place.textContent = location.origin;
