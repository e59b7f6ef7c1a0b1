#!/usr/bin/env node
// A bot that plays a random legal move in every family: the referee sends it the list.
//
// Begin with choose. Once your program generates the moves itself, remove the option UGI_LegalMoves.
"use strict";

const readline = require("node:readline");

// Returns the move to play. `position` is "startpos", "startpos moves M...", "fen P" or "fen P moves M...".
// `limits` is what follows `go`, such as "movetime 100" or "p1time 5000 p2time 4000 p1inc 100 p2inc 100".
function choose(position, moves, limits) {
  return moves[Math.floor(Math.random() * moves.length)];
}

let position = "startpos";
let moves = [];

const answers = {
  ugi: () => "id name my bot\nid author you\noption name UGI_LegalMoves type check default true\nugiok",
  isready: () => "readyok",
  position: (rest) => void (position = rest),
  legal: (rest) => void (moves = rest.split(" ")),
  go: (rest) => {
    const move = moves.length ? choose(position, moves, rest) : "------";
    moves = [];
    return `bestmove ${move}`;
  },
  quit: () => process.exit(0),
};

readline.createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", (line) => {
  const [command, ...words] = line.trim().split(/\s+/);
  // What a bot does not know it ignores.
  const answer = Object.hasOwn(answers, command) ? answers[command](words.join(" ")) : undefined;
  if (answer !== undefined) process.stdout.write(`${answer}\n`);
});
