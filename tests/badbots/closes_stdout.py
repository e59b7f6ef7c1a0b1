"""Closes its standard output and lives on."""

import os

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        os.close(1)


Bad().run()
