// Links to files that take long to make, such as animated pictures: say so while the server makes one, then follow the link.
// The server keeps the file, so that it comes at once the second time. Without this script the browser waits silently.
import { message } from "./text.js";

const open = new Set();

async function make(link) {
  if (open.has(link)) return;
  open.add(link);
  const told = document.createElement("span");
  told.setAttribute("role", "status");
  told.className = "quiet";
  link.after(" ", told);
  const from = Date.now();
  const tell = () => {
    const seconds = Math.round((Date.now() - from) / 1000);
    told.textContent = message("Making it: {seconds} s of about {expected} s, longer on a busy machine.", { seconds, expected: link.dataset.wait });
  };
  tell();
  const timer = setInterval(tell, 1000);
  try {
    const answer = await fetch(link.href);
    if (!answer.ok) throw new Error(String(answer.status));
    await answer.arrayBuffer();
    told.remove();
    const ready = link.cloneNode(true);
    delete ready.dataset.wait;
    ready.click();
  } catch {
    told.textContent = message("It could not be made; try again in a minute.");
  } finally {
    clearInterval(timer);
    open.delete(link);
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-wait]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  make(link);
});
