"""The clocks of one game: what each side has left, and what a move is charged. Refuses to measure anything itself."""

from __future__ import annotations

from referee.spec import TimeControl


class Clock:
    """Time left per side (0 = first, 1 = second) in milliseconds under one time control.

    `margin_ms` is never given to the bots: a side flags only when it overstepped by more than the margin.
    """

    def __init__(self, control: TimeControl, margin_ms: int = 0) -> None:
        self.control = control
        self.margin_ms = margin_ms
        self.left_ms: list[float] = [float(control.base_ms), float(control.base_ms)]
        self._fixed_words = b""
        if control.kind == "movetime":
            self._fixed_words = b"movetime %d" % control.base_ms
        elif control.kind != "clock":
            self._fixed_words = f"{control.kind} {control.limit}".encode()

    def allowance_ms(self, side: int) -> float | None:
        """How long the side may take for this move, margin included; None where only a search limit holds."""
        if self.control.kind == "clock":
            return max(0.0, self.left_ms[side]) + self.margin_ms
        return self.control.base_ms + self.margin_ms if self.control.kind == "movetime" else None

    def charge(self, side: int, used_ms: float) -> bool:
        """Take `used_ms` off the side's clock and add the increment; False when the flag fell."""
        if self.control.kind == "movetime":
            return used_ms <= self.control.base_ms + self.margin_ms
        if self.control.kind != "clock":
            return True
        left = self.left_ms[side] - used_ms
        if left < -self.margin_ms:
            self.left_ms[side] = left
            return False
        self.left_ms[side] = max(0.0, left) + self.control.increment_ms
        return True

    def words(self) -> bytes:
        """The arguments of `go` for both sides: `p1time … p2inc …`, `movetime …`, `depth …` or `nodes …`."""
        if self._fixed_words:
            return self._fixed_words
        first, second = self.left_ms
        plus = self.control.increment_ms
        return b"p1time %d p2time %d p1inc %d p2inc %d" % (max(1, first), max(1, second), plus, plus)
