"""Says that it plays another game."""

from loop import Bot, say


class Bad(Bot):
    def ugi(self) -> None:
        say("id name lost", "id family abalone", "ugiok")


Bad().run()
