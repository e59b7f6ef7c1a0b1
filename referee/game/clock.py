"""The clocks of one game: the time left to each side. The caller measures the time of each move and charges it."""

from __future__ import annotations

from referee.game.spec import TimeControl


class GameClock:
    """The clocks of both sides (0 = first, 1 = second); `second` is the second side's time control if it differs.

    `margin_ms` is never shown to the bots: a flag falls only when a side exceeds its time by more than the margin.
    """

    def __init__(self, control: TimeControl, margin_ms: int = 0, *, second: TimeControl | None = None) -> None:
        self.controls = (control, second or control)
        self.margin_ms = margin_ms
        self.left_ms: list[float] = [float(side_control.base_ms) for side_control in self.controls]
        self._charged = [0, 0]
        self._fixed_words = tuple(_fixed_words(side_control) for side_control in self.controls)
        # If the opponent has no clock, `go` gives this side's own time for both sides.
        self._shown = tuple(
            tuple(number if self.controls[number].kind == "clock" else side for number in (0, 1)) for side in (0, 1)
        )
        self._forms = tuple(
            b"p1time %%d p2time %%d p1inc %d p2inc %d" % tuple(self.controls[number].increment_ms for number in shown)
            for shown in self._shown
        )

    def allowance_ms(self, side: int) -> float | None:
        """Return the longest time that a side may take for this move, margin included; None without a time limit."""
        control = self.controls[side]
        if control.kind == "clock":
            return max(0.0, self.left_ms[side]) + self.margin_ms
        return control.base_ms + self.margin_ms if control.kind == "movetime" else None

    def charge(self, side: int, used_ms: float) -> bool:
        """Charge `used_ms`; add the increment, and the base time if a period begins. Return False if the flag fell."""
        control = self.controls[side]
        if control.kind != "clock":
            return control.kind != "movetime" or used_ms <= control.base_ms + self.margin_ms
        left = self.left_ms[side] - used_ms
        if left < -self.margin_ms:
            self.left_ms[side] = left
            return False
        # Time within the margin is forgiven: carried over as a debt, it would make the margin smaller at each move.
        self.left_ms[side] = max(0.0, left) + control.increment_ms
        self._charged[side] += 1
        if control.moves and self._charged[side] % control.moves == 0:
            self.left_ms[side] += control.base_ms
        return True

    def moves_to_go(self, side: int) -> int | None:
        """Return the number of moves until the base time is added again; None for a control without periods."""
        moves = self.controls[side].moves
        return moves - self._charged[side] % moves if moves else None

    def words(self, side: int) -> bytes:
        """Return the arguments of the side's `go`: `p1time … p2inc …`, `movetime …`, `depth …` or `nodes …`."""
        if self._fixed_words[side]:
            return self._fixed_words[side]
        first, second = self._shown[side]
        first_ms, second_ms = self.left_ms[first], self.left_ms[second]
        # A side whose clock is at 0 may still have the margin: it is asked as if it had a millisecond.
        # `%d` cuts off the fraction: a bot never sees more time than it has.
        return self._forms[side] % (first_ms if first_ms > 1 else 1, second_ms if second_ms > 1 else 1)


def _fixed_words(control: TimeControl) -> bytes:
    if control.kind == "clock":
        return b""
    if control.kind == "movetime":
        return b"movetime %d" % control.base_ms
    return f"{control.kind} {control.limit}".encode()
