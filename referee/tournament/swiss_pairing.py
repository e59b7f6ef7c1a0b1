"""The pairing of a round of a Swiss: a minimum-cost matching of the whole field.

In order of importance: no second bye while another bot has had none, no rematches, a bye for the fewest points, equal
points, balanced sides (if matches have an odd number of games), and within a score group the fold (best of the upper
half against best of the lower half).

Byes follow the FIDE Handbook as of February 2026. C.04.1, articles 2 to 4: no rematches; who had a bye, or a win
without a game, gets no other. C.04.3 (Dutch system), [C5]: of the others, it goes to one with the fewest points. Where
no round has neither a second bye nor a rematch, the arbiter decides (C.04.3, 1.9.3): here bots meet again, as a second
bye would give points for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from referee.tournament.match import Seed
from referee.tournament.swiss_scores import SeatScore

WINDOW = 24
"""In large fields, opponents at most this far apart in rank, or from the ideal opponent, are tried first."""
_WHOLE = 64
"""Fields up to this size are searched completely."""
_BYE = -1


def pair(field_: Sequence[SeatScore], round: int, *, is_odd: bool = False) -> list[tuple[int, int]]:
    """Pair a round: return (first, second) seats, best board first; a seat in no pair has the bye.

    If withdrawals and byes leave no round without a forbidden pair, as many bots as necessary have the bye.
    `is_odd`: matches have an odd number of games, so the balance of sides matters.
    """
    ranked = sorted(field_, key=lambda line: (-line.points, line.seat))
    near = _edges(ranked, WINDOW if len(ranked) > _WHOLE else len(ranked))
    partner = (
        _match(ranked, near, is_odd, may_repeat=False)
        or _match(ranked, _edges(ranked, len(ranked)), is_odd, may_repeat=False)
        or _match(ranked, _edges(ranked, len(ranked)), is_odd, may_repeat=True)
        or _match(ranked, _edges(ranked, len(ranked)), is_odd, may_repeat=True, may_rest=True)
    )
    assert partner is not None, "everybody may have the bye: there is a pairing"
    tables: list[tuple[int, int]] = []
    for place, line in enumerate(ranked):
        rival = partner[place]
        if rival > place:
            tables.append(_colours(line, ranked[rival], round, len(tables)))
    return tables


def _group_folds(ranked: Sequence[SeatScore]) -> list[int]:
    """Return, for every place in the ranking, its ideal opponent by the fold: the place half a score group away."""
    ideal = [0] * len(ranked)
    begin = 0
    while begin < len(ranked):
        end = begin
        while end < len(ranked) and ranked[end].points == ranked[begin].points:
            end += 1
        half = (end - begin) // 2
        for place in range(begin, begin + half):
            ideal[place], ideal[place + half] = place + half, place
        if (end - begin) % 2:
            ideal[end - 1] = end  # the last of an odd group floats down, or has a bye
        begin = end
    return ideal


def _edges(ranked: Sequence[SeatScore], window: int) -> Iterable[tuple[int, int]]:
    ideal = _group_folds(ranked)
    for one in range(len(ranked)):
        for two in range(one + 1, len(ranked)):
            if two - one <= window or abs(two - ideal[one]) <= window or abs(one - ideal[two]) <= window:
                yield one, two


def _match(
    ranked: Sequence[SeatScore],
    edges: Iterable[tuple[int, int]],
    is_odd: bool,
    *,
    may_repeat: bool,
    may_rest: bool = False,
) -> list[int] | None:
    """Return the opponent of every place in the ranking (`_BYE`: a bye); None if a place has no possible opponent.

    `may_rest`: any places may have a bye, if there is no other way.
    """
    from networkx import Graph, max_weight_matching  # 0.3 s to import: only when a round is paired

    size = len(ranked)
    ideal = _group_folds(ranked)
    # Each weight exceeds the largest sum of all following ones.
    # The fold costs at most `size` in each of `size / 2` pairs; the other costs are bounded in the same way.
    fold = 1
    colour = 2 * fold * size * size
    most = max((abs(line.balance) for line in ranked), default=0) + 1
    score = 2 * colour * size * most * most
    spread = round(2 * (ranked[0].points - ranked[-1].points)) + 1
    rest = 2 * score * size * spread * spread
    repeat = 2 * rest * spread
    met = [Counter(rival for rival, _ in line.rivals) for line in ranked]
    graph = Graph()
    graph.add_nodes_from(range(size))
    for upper, lower in edges:
        again = met[upper].get(ranked[lower].seat, 0)
        if (again and not may_repeat) or ranked[lower].seat in ranked[upper].forbidden:
            continue
        # Squares: two bots that meet a third time cost more than two pairs that meet a second time.
        cost = repeat * again * again
        # Points are multiples of a half: doubled, they are whole numbers.
        cost += score * round(2 * (ranked[upper].points - ranked[lower].points)) ** 2
        if is_odd and ranked[upper].balance * ranked[lower].balance > 0:
            cost += colour * min(abs(ranked[upper].balance), abs(ranked[lower].balance)) ** 2
        cost += fold * abs(lower - ideal[upper])
        # networkx maximises. Whole numbers make it compute exactly, however large they are.
        graph.add_edge(upper, lower, weight=-cost)
    if size % 2:
        fewest = min(line.byes for line in ranked)
        for place, line in enumerate(ranked):
            if line.byes == fewest or may_rest:
                cost = rest * round(2 * (line.points - ranked[-1].points)) + fold * (size - 1 - place)
                cost += repeat * size * (line.byes - fewest)
                graph.add_edge(place, _BYE, weight=-cost)
    # As many pairs as possible first: by weight alone, an empty matching would be best, as no weight is positive.
    matching = max_weight_matching(graph, maxcardinality=True)
    if 2 * len(matching) != size + size % 2 and not may_rest:
        return None
    partner = [_BYE] * size
    for left, right in matching:
        if left != _BYE:
            partner[left] = right
        if right != _BYE:
            partner[right] = left
    return partner


def _colours(left: SeatScore, right: SeatScore, round: int, board: int) -> tuple[int, int]:
    """Return (first, second) of two seats. The first is the one that moved first less often; if equal, the one that did
    not begin its last match; if equal again, boards alternate.
    """
    if (left.balance, left.was_first) != (right.balance, right.was_first):
        is_left = (left.balance, left.was_first) < (right.balance, right.was_first)
    else:
        is_left = (round + board) % 2 == 1
    return (left.seat, right.seat) if is_left else (right.seat, left.seat)


def has_pairing(seeds: Sequence[Seed]) -> bool:
    """Return whether these bots can be paired without a forbidden pair; one of an odd number rests."""
    seats = {seed.number for seed in seeds}
    fewest = min((len(seats) - 1 - len(seed.forbidden & seats) for seed in seeds), default=0)
    if 2 * fewest >= len(seeds):  # Dirac: there is a circle through all of them; the search takes much longer
        return True
    from networkx import Graph, max_weight_matching  # 0.3 s to import

    graph = Graph()
    graph.add_edges_from(
        (seed.number, rival.number)
        for place, seed in enumerate(seeds)
        for rival in seeds[:place]
        if rival.number not in seed.forbidden
    )
    return len(max_weight_matching(graph, maxcardinality=True)) == len(seeds) // 2
