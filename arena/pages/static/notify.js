// Notifications of this browser about unread notices of the account, as long as a page of the arena is open.
// The storage keeps when the latest notice happened that was shown; without it, notifications are off.
const KEY = "arena-notified-until";
const INTERVAL_MS = 30_000;
const buttons = document.querySelectorAll("[data-notify]");
const isPossible = "Notification" in window;
const isOn = () => isPossible && Notification.permission === "granted" && localStorage.getItem(KEY) !== null;
const isBlocked = () => isPossible && Notification.permission === "denied";

function show() {
  for (const button of buttons) {
    button.hidden = !isPossible;
    button.disabled = isBlocked();
    if (isBlocked()) button.lastChild.textContent = button.dataset.blocked; // until the reader allows it and reloads
    button.setAttribute("aria-pressed", String(isOn()));
  }
}

async function look() {
  if (!isOn()) return;
  const answer = await fetch("/account/notices.json", { cache: "no-store" });
  if (!answer.ok) return;
  const until = Number(localStorage.getItem(KEY));
  const { now, items } = await answer.json();
  localStorage.setItem(KEY, String(now));
  if (!until) return; // just switched on
  for (const one of items.filter(({ at }) => at > until)) {
    // Two open pages use the same tag, so that the browser shows one notification.
    const note = new Notification(one.title, { body: one.body, tag: one.address });
    note.onclick = () => { window.focus(); location.assign(one.address); };
  }
}

for (const button of buttons) {
  button.addEventListener("click", async () => {
    if (isOn()) localStorage.removeItem(KEY);
    else if (await Notification.requestPermission() === "granted") localStorage.setItem(KEY, "0");
    show();
    await look();
  });
}
show();
const check = () => look().catch(() => { /* network error, or a browser that refuses: the page shows the notices */ });
setInterval(check, INTERVAL_MS);
check();
