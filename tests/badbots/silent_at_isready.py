"""Never answers `isready`."""

from loop import Bot


class Bad(Bot):
    def isready(self) -> None:
        pass


Bad().run()
