"""Never answers `ugi`."""

from loop import Bot


class Bad(Bot):
    def ugi(self) -> None:
        pass


Bad().run()
