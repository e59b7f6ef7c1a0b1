#!/usr/bin/env python3
from bots.sdk import Bot, run


class MyBot(Bot):
    name = "my bot"

    def choose(self, position, clock):
        for move in position.moves:
            outcome = position.play(move).outcome
            if outcome and outcome.winner == position.side:
                return move
        return position.moves[len(position.moves) // 2]


if __name__ == "__main__":
    run(MyBot())
