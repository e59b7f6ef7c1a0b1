// ugi.js - the Universal Game Interface for bots written in JavaScript: one file for Node.js, no package.
//
// It knows no game: positions and moves are text. Call run with an object of
//   introduction            lines that follow `ugi`: id and option lines
//   setPosition(fen, moves) a position ("" = the start of the variant) and the moves from it; throw what cannot be read
//   choose(limits)          the move to play; limits by their names in the protocol: {p1time: 1000, ...}; may be a promise
//   setOption(name, value), newGame()   where they are wanted
// Copy it, change it, ship it with your bot.
"use strict";

const readline = require("node:readline");

// "name N value V"; names and values may contain blanks.
function readOption(words) {
  const value = words.indexOf("value", 1);
  const end = value < 0 ? words.length : value;
  return [words.slice(1, end).join(" "), words.slice(end + 1).join(" ")];
}

// "startpos [moves ...]" or "fen P [moves ...]".
function readPosition(words) {
  if (words[0] !== "startpos" && words[0] !== "fen") throw new Error("position needs startpos or fen");
  const at = words.indexOf("moves");
  const end = at < 0 ? words.length : at;
  return [words.slice(1, end).join(" "), words.slice(end + 1)];
}

function readLimits(words) {
  const limits = {};
  for (let i = 0; i < words.length; i++) {
    limits[words[i]] = words[i] === "infinite" ? 1 : Math.max(0, Number(words[++i]) || 0);
  }
  return limits;
}

// Reads lines until `quit` or the end of the input.
async function run(bot) {
  let isSet = false;
  const say = (...lines) => process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  const answers = {
    ugi: () => say(...bot.introduction, "ugiok"),
    isready: () => say("readyok"),
    setoption: (words) => bot.setOption?.(...readOption(words)),
    uginewgame: () => bot.newGame?.(),
    position: (words) => {
      isSet = false;
      bot.setPosition(...readPosition(words));
      isSet = true;
    },
    go: async (words) => say(`bestmove ${isSet ? await bot.choose(readLimits(words)) : "------"}`),
  };
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const [command, ...words] = line.trim().split(/\s+/);
    if (command === "quit") break;
    try {
      if (Object.hasOwn(answers, command)) await answers[command](words); // what a bot does not know it ignores
    } catch (error) {
      say(`info string error ${error.message}`);
    }
  }
  process.exit(0);
}

module.exports = { run };
