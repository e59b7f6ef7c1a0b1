// Set up the position of a problem by hand.
import { Board } from "./board.js";
import { Entry } from "./entry.js";
import { Palette } from "./palette.js";

const root = document.getElementById("setup");
const $ = (id) => document.getElementById(id);
const say = (words) => { $("spoken").textContent = words; };
const form = new FormData(root.querySelector("form[method=get]"));
const { options } = $("palette").dataset;
const query = new URLSearchParams({ variant: form.get("variant"), ...(options && { options }), position: form.get("position") });

fetch(`${root.dataset.scenes}?${query}`).then((answer) => answer.json()).then(({ scenes, chart }) => {
  const board = new Board($("frame").querySelector("svg.board"), chart, false);
  const entry = new Entry({ board, frame: $("frame"), place: $("entry"), say, send: () => {} });
  const leave = () => { board.draw(scenes[0]); entry.offer([], scenes[0]); $("arrange").hidden = false; $("arrange").focus(); };
  const palette = new Palette({ place: $("palette"), board, entry, say, start: scenes[0].pieces, leave });
  $("arrange").hidden = false;
  $("arrange").addEventListener("click", () => { $("arrange").hidden = true; palette.open(scenes[0]); });
  root.dataset.ready = "yes";
});
