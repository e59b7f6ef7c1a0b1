// Sounds of moves, synthesized: a knock of wood for a move, two for a capture, a slide for a push, a chord at the end.
// Off until the visitor switches them on.
import { setting } from "./display.js";

let context = null;

// One tone that dies away.
function tone(frequency, { at = 0, length = 0.12, volume = 0.25, shape = "sine", slide = 1 }) {
  const begin = context.currentTime + at;
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  oscillator.type = shape;
  oscillator.frequency.setValueAtTime(frequency, begin);
  oscillator.frequency.exponentialRampToValueAtTime(frequency * slide, begin + length);
  gain.gain.setValueAtTime(volume, begin);
  gain.gain.exponentialRampToValueAtTime(0.001, begin + length);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(begin);
  oscillator.stop(begin + length);
}

function knock(at = 0, pitch = 1) {
  tone(320 * pitch, { at, length: 0.07, shape: "triangle", slide: 0.5 });
  tone(1400 * pitch, { at, length: 0.02, volume: 0.08, shape: "square", slide: 0.6 });
}

const SOUNDS = {
  move: () => knock(),
  capture: () => { knock(0, 0.8); knock(0.07, 1.25); },
  push: () => { tone(140, { length: 0.18, shape: "sawtooth", volume: 0.06, slide: 1.4 }); knock(0.12, 0.9); },
  end: () => [262, 330, 392, 523].forEach((frequency, index) => tone(frequency, { at: index * 0.09, length: 0.5, volume: 0.12 })),
};

export function sound(name) {
  if (setting("sound") !== "on") return;
  try {
    context ||= new AudioContext();
    context.resume();
    SOUNDS[name]();
  } catch { /* a browser without sound */ }
}

// Play a move when sounds are switched on.
document.addEventListener("arena:setting", ({ detail }) => { if (detail.name === "sound") sound("move"); });

// The sound of the move that led to a scene.
export function soundOf(scene) {
  if (!scene.move) return;
  if (scene.ejected || scene.lost) sound("capture");
  else sound(scene.line.length > 2 ? "push" : "move");
}
