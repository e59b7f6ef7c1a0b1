"""Puts bytes that are no UTF-8 into its name, its info and its move."""

from loop import Bot, write


class Bad(Bot):
    def ugi(self) -> None:
        write(b"id name \xc3\x28\xff\nugiok\n")

    def go(self) -> None:
        write(b"info string \xf0\x28\x8c\x28\nbestmove \xff\xfe\n")


Bad().run()
