// Moves pieces from one scene to the next in 200 ms, for every family: what moved follows from the two boards, the path of
// the move and the row that it pushed.
const DURATION_MS = 200;
const isReduced = matchMedia("(prefers-reduced-motion: reduce)");

// Each piece of a board as [cell, level, symbol].
const listed = (pieces) => Object.entries(pieces).flatMap(([cell, symbols]) => [...symbols].map((symbol, level) => [cell, level, symbol]));

// The row of a push: every piece moves one cell on. Backwards for a move that is taken back.
function pushed(before, after) {
  const isBack = after.ply < before.ply;
  const line = isBack ? [...before.line].reverse() : after.line;
  if (line.length < 2) return [];
  return line.slice(1).map((to, index) => ({ from: line[index], to }))
    .filter(({ from, to }) => before.pieces[from] && before.pieces[from] === after.pieces[to])
    .map(({ from, to }) => ({ symbol: before.pieces[from], level: 0, path: [from, to] }));
}

// The cells that a piece passes between two cells: the move's path where it leads over both.
function path(trail, from, to) {
  for (const line of trail) {
    const [start, end] = [line.indexOf(from), line.lastIndexOf(to)];
    if (start >= 0 && start < end) return line.slice(start, end + 1);
  }
  return [from, to];
}

// What moved (with its path), what disappeared, and what is new, between two scenes.
export function movements(before, after) {
  const isBack = after.ply < before.ply;
  const trail = isBack ? before.trail.map((line) => [...line].reverse()) : after.trail;
  const rows = pushed(before, after);
  const taken = new Set(rows.map((one) => one.path[0]));
  const filled = new Set(rows.map((one) => one.path[1]));
  const left = listed(before.pieces).filter(([cell, level, symbol]) => !taken.has(cell) && after.pieces[cell]?.[level] !== symbol);
  const came = listed(after.pieces).filter(([cell, level, symbol]) => !filled.has(cell) && before.pieces[cell]?.[level] !== symbol);
  const moved = [...rows];
  const appeared = [];
  for (const [cell, level, symbol] of came) {
    const onPath = left.findIndex(([from, , one]) => one === symbol && trail.some((line) => line.includes(from) && line.lastIndexOf(cell) > line.indexOf(from)));
    const index = onPath >= 0 ? onPath : left.findIndex(([, , one]) => one === symbol);
    if (index < 0) { appeared.push({ cell, level }); continue; }
    const [[from]] = left.splice(index, 1);
    if (from !== cell) moved.push({ symbol, level, path: path(trail, from, cell) });
  }
  return { moved, appeared, vanished: left.map(([cell, , symbol]) => ({ cell, symbol })) };
}

// Animate the pieces of a board that has just been drawn.
export function play(board, { moved, appeared, vanished }) {
  if (isReduced.matches) return;
  const timing = { duration: DURATION_MS, easing: "ease-in-out" };
  for (const { level, path: cells } of moved) {
    const piece = board.shown.get(cells.at(-1))?.[level];
    const [x, y] = board.place(cells.at(-1));
    const frames = cells.map((cell) => {
      const [a, b] = board.place(cell);
      return { transform: `translate(${a - x}px, ${b - y}px)` };
    });
    piece?.parentNode.append(piece); // above the pieces that it passes
    piece?.animate(frames, timing);
  }
  for (const { cell, level } of appeared) board.shown.get(cell)?.[level]?.animate([{ opacity: 0 }, { opacity: 1 }], timing);
  for (const { cell, symbol } of vanished) {
    const [piece] = board.stack(cell, symbol);
    const layer = board.layer("struck");
    layer.append(piece);
    piece.animate([{ opacity: 1 }, { opacity: 0 }], timing).finished.then(() => piece.remove(), () => piece.remove());
  }
}
