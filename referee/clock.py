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

    def words(self) -> str:
        """The arguments of `go` for both sides: `p1time … p2inc …`, `movetime …`, `depth …` or `nodes …`."""
        control = self.control
        if control.kind == "clock":
            first, second, plus = int(self.left_ms[0]), int(self.left_ms[1]), control.increment_ms
            return f"p1time {max(1, first)} p2time {max(1, second)} p1inc {plus} p2inc {plus}"
        if control.kind == "movetime":
            return f"movetime {control.base_ms}"
        return f"{control.kind} {control.limit}"
