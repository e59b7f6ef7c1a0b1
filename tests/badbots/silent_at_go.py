"""Never answers `go`."""

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        pass


Bad().run()
