// What only the browser knows. Times in the reader's zone and dates by their customs: the full date as a tooltip, absolute
// times as text, and a tap on a relative time shows its date. The address of this site, where the operator has not set a
// public one.
import { message, messages } from "./text.js";

const SHOWN = 4; // appointments of a day in the calendar; arena.css hides the others
const { lang } = document.documentElement;
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
// The reader's own kind of the page's language: dates are written differently in Britain and in America.
const custom = navigator.languages.find((one) => one.split("-")[0] === lang) ?? lang;
const pad = (number) => String(number).padStart(2, "0");
const clock = (at) => `${pad(at.getHours())}:${pad(at.getMinutes())}`;

// In the format of the server's UTC times, so that the layout does not shift.
function written(time) {
  const at = new Date(time.dateTime);
  const parts = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())];
  return `${lang === "fr" ? parts.reverse().join("/") : parts.join("-")} ${clock(at)}`;
}

function show() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.title = at.toLocaleString(custom, { dateStyle: "full", timeStyle: "long" });
    if ("absolute" in time.dataset) time.textContent = written(time);
    else if ("clock" in time.dataset) time.textContent = clock(at);
    else if ("zoned" in time.dataset) {
      const part = { weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
      time.textContent = at.toLocaleString(custom, part);
    }
  }
  for (const place of document.querySelectorAll("[data-site]:empty")) place.textContent = location.origin;
  for (const label of document.querySelectorAll("[data-at]")) { // of a time axis
    const part = label.dataset.unit === "hour" ? { day: "2-digit", month: "short" } : { second: "2-digit" };
    label.textContent = new Date(1000 * label.dataset.at).toLocaleString(custom, { ...part, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  }
}

// The server knows the days in UTC only: give each appointment to its day here.
function arrange(calendar) {
  const items = [...calendar.querySelectorAll("ul > li")];
  for (const [index, day] of [...calendar.children].entries()) {
    const date = new Date();
    date.setDate(date.getDate() + index);
    const its = items.filter((item) => new Date(item.querySelector("time").dateTime).toDateString() === date.toDateString());
    const [head, list, rest] = ["b", "ul", "small"].map((name) => document.createElement(name));
    head.textContent = date.toLocaleDateString(custom, { weekday: "short", day: "numeric", month: "short" });
    list.append(...its);
    if (its.length > SHOWN) rest.textContent = messages("and {count} more", "and {count} more", its.length - SHOWN);
    day.className = its.length ? "" : "empty";
    day.replaceChildren(head, ...(its.length ? [list, rest] : []));
  }
}

// Days and a clock that runs down; the page itself tells that the time has come when it is exchanged.
function countDown() {
  for (const time of document.querySelectorAll("time[data-countdown]")) {
    const left = Math.max(0, Math.ceil(Number(time.dataset.countdown) - Date.now() / 1000));
    const rest = [Math.floor(left / 3600) % 24, Math.floor(left / 60) % 60, left % 60].map(pad).join(":");
    const days = Math.floor(left / 86400);
    time.textContent = days ? message("{days} d {rest}", { days, rest }) : rest;
  }
}

document.addEventListener("click", (event) => {
  const time = event.target.closest("time[datetime]:not([data-countdown])");
  if (time && !event.target.closest("a, button, summary")) time.textContent = written(time);
});
document.addEventListener("exchanged", show);
for (const place of document.querySelectorAll("[data-local]")) place.textContent = place.dataset.local.replace("{zone}", timeZone);
for (const calendar of document.querySelectorAll(".calendar")) arrange(calendar);
show();
countDown();
if (document.querySelector("time[data-countdown]")) setInterval(countDown, 1000);
