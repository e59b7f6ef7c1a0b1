// The switch that makes this browser a device of the user: it registers the worker, asks the browser's push service for
// an address, and sends address and keys to the arena.
const form = document.querySelector("#device");
const isPossible = form && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

const encoded = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

async function subscribe() {
  const registration = await navigator.serviceWorker.register(form.dataset.worker);
  // An earlier subscription may be bound to another key, or to another user.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: form.dataset.key });
}

async function markThisDevice(button) {
  for (const registration of await navigator.serviceWorker.getRegistrations()) {
    const endpoint = (await registration.pushManager.getSubscription())?.endpoint;
    for (const item of document.querySelectorAll("[data-endpoint]")) {
      if (item.dataset.endpoint !== endpoint) continue;
      item.querySelector("span").append(` – ${item.dataset.here}`);
      button.hidden = true;
    }
  }
}

if (isPossible) {
  const button = form.querySelector("button");
  const status = form.querySelector("[role=status]");
  document.querySelector("#no-push").hidden = true;
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      if (await Notification.requestPermission() !== "granted") throw new Error("refused");
      const subscription = await subscribe();
      form.elements.endpoint.value = subscription.endpoint;
      form.elements.key.value = encoded(subscription.getKey("p256dh"));
      form.elements.secret.value = encoded(subscription.getKey("auth"));
      form.submit();
    } catch {
      button.disabled = false;
      status.textContent = Notification.permission === "denied" ? form.dataset.blocked : form.dataset.failed;
    }
  });
  markThisDevice(button).catch(() => { /* a browser that refuses: the list is right without the mark */ });
}
