// Shows what the arena sends to this device, also while none of its pages is open.
self.addEventListener("push", (event) => {
  const { title, body, address } = event.data.json();
  // Two messages about the same page show one notification.
  event.waitUntil(self.registration.showNotification(title, { body, tag: address, data: { address }, icon: "/icon-192.png" }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(new URL(event.notification.data.address, self.location.origin)));
});
