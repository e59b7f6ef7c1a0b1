"""Announces ten thousand options."""

from loop import Bot, say


class Bad(Bot):
    def ugi(self) -> None:
        say(*(f"option name Wheel{number} type spin default 1 min 0 max 9" for number in range(10_000)), "ugiok")


Bad().run()
