#!/usr/bin/env node
// A bot for Lines of Action (8x8, the standard rules) in JavaScript: this file and ugi.js, no package.
//
// It wins when it can win at once; else it makes the move after which its own pieces stand closest together. It answers
// at once, so clocks and `stop` need no attention.
"use strict";

const { run } = require("./ugi.js");

const START = "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1";
const SIZE = 8;
// Half of the directions of a queen; the other half are their opposites.
const AXES = [[1, 0], [0, 1], [1, 1], [1, -1]];

const name = (cell) => "abcdefgh"[cell % SIZE] + (Math.floor(cell / SIZE) + 1);
const text = (move) => (move === null ? "pass" : name(move[0]) + name(move[1]));
const other = (side) => (side === "b" ? "w" : "b");

// The cell that far away, or -1 off the board.
function at(cell, dx, dy) {
  const x = (cell % SIZE) + dx;
  const y = Math.floor(cell / SIZE) + dy;
  return x < 0 || x >= SIZE || y < 0 || y >= SIZE ? -1 : y * SIZE + x;
}

function distance(a, b) {
  return Math.max(Math.abs((a % SIZE) - (b % SIZE)), Math.abs(Math.floor(a / SIZE) - Math.floor(b / SIZE)));
}

// Reads "board side ...": ranks from the top, digits for runs of empty cells.
function read(position) {
  const [board, turn] = position.split(" ");
  const ranks = board.split("/");
  if (ranks.length !== SIZE || (turn !== "b" && turn !== "w")) throw new Error("no position of this bot's");
  const cells = [];
  for (const rank of ranks.reverse()) {
    if (!/^[bw1-8]+$/.test(rank)) throw new Error(`unreadable rank ${rank}`);
    const row = [...rank.replace(/[1-8]/g, (run) => ".".repeat(Number(run)))];
    if (row.length !== SIZE) throw new Error(`rank ${rank} has ${row.length} cells`);
    cells.push(...row);
  }
  return { cells, turn };
}

// A piece moves as many cells as there are pieces on its line, over its own but not over the other's.
function legal({ cells, turn }) {
  const found = [];
  for (let from = 0; from < SIZE * SIZE; from++) {
    if (cells[from] !== turn) continue;
    for (const [dx, dy] of AXES) {
      let count = 0;
      for (let n = 1 - SIZE; n < SIZE; n++) {
        const cell = at(from, n * dx, n * dy);
        if (cell >= 0 && cells[cell] !== ".") count++;
      }
      for (const way of [1, -1]) {
        const to = at(from, way * count * dx, way * count * dy);
        let isFree = to >= 0 && cells[to] !== turn;
        for (let n = 1; n < count && isFree; n++) isFree = cells[at(from, way * n * dx, way * n * dy)] !== other(turn);
        if (isFree) found.push([from, to]);
      }
    }
  }
  return found.length ? found : [null];
}

function after({ cells, turn }, move) {
  const next = cells.slice();
  if (move !== null) {
    next[move[1]] = turn;
    next[move[0]] = ".";
  }
  return { cells: next, turn: other(turn) };
}

function pieces(board, side) {
  return board.cells.flatMap((held, cell) => (held === side ? [cell] : []));
}

// Whether the pieces of a side are one group of touching pieces.
function isConnected(board, side) {
  let rest = pieces(board, side);
  const group = rest.splice(0, 1);
  while (group.length) {
    const one = group.pop();
    group.push(...rest.filter((cell) => distance(cell, one) <= 1));
    rest = rest.filter((cell) => distance(cell, one) > 1);
  }
  return rest.length === 0;
}

// How far the pieces of a side stand apart: the sum of all distances between two of them.
function spread(board, side) {
  const all = pieces(board, side);
  return all.reduce((sum, one) => sum + all.reduce((more, two) => more + distance(one, two), 0), 0);
}

// A win, a move like others by how close the pieces then stand, a draw, the last stray piece of the other taken.
function worth(board, move) {
  const next = after(board, move);
  const [own, theirs] = [isConnected(next, board.turn), isConnected(next, next.turn)];
  if (own || theirs) return own ? (theirs ? 2e6 : 0) : 3e6;
  return 1e6 + spread(next, board.turn);
}

let board = read(START);

run({
  introduction: [
    "id name loa_bot_js",
    "id author the arena",
    "id family loa",
    "option name Variant type combo default standard var standard",
  ],
  setPosition(fen, moves) {
    let next = read(fen || START);
    for (const word of moves) {
      const move = legal(next).find((one) => text(one) === word);
      if (move === undefined) throw new Error(`illegal move ${word}`);
      next = after(next, move);
    }
    board = next;
  },
  choose() {
    const moves = legal(board).map((move) => [worth(board, move), move]);
    return text(moves.reduce((best, one) => (one[0] < best[0] ? one : best))[1]);
  },
});
