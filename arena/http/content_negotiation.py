"""What a client takes, as its `Accept` and `Accept-Encoding` say it (RFC 9110 12.5)."""

from __future__ import annotations

from arena.http.problem import Problem

_MAX_PARTS = 64


def negotiate(accept: str, offers: tuple[str, ...]) -> str:
    """The media type of `offers` an `Accept` header likes best, the first in doubt. Raises Problem (406)."""
    if not accept.strip():
        return offers[0]
    ranges = _weighted(accept)
    best, best_weight = "", 0.0
    for offer in offers:
        # The most specific range that covers the offer decides its weight.
        fits = [(len(kind), weight) for kind, weight in ranges if _covers(kind, offer)]
        weight = max(fits)[1] if fits else 0.0
        if weight > best_weight:
            best, best_weight = offer, weight
    if not best:
        raise Problem("not-acceptable", "none of the forms in Accept is there", hint="there is " + ", ".join(offers))
    return best


def accepts_coding(accept_encoding: str, coding: str) -> bool:
    """Whether an `Accept-Encoding` header allows a coding such as gzip."""
    weights = dict(reversed(_weighted(accept_encoding)))  # of one named twice the first counts
    return weights.get(coding, weights.get("*", 0.0)) > 0


def _weighted(header: str) -> list[tuple[str, float]]:
    """The parts of such a header with their weights: 1 unless `q=` says otherwise, 0 for what is no weight."""
    return [_part(part) for part in header.split(",")[:_MAX_PARTS] if part.strip()]


def _part(text: str) -> tuple[str, float]:
    name, *parameters = (piece.strip().lower() for piece in text.split(";"))
    weight = 1.0
    for parameter in parameters:
        if parameter.replace(" ", "").startswith("q="):
            try:
                given = float(parameter.partition("=")[2])
            except ValueError:
                given = 0.0
            weight = given if 0 <= given <= 1 else 0.0  # not a number compares as false
    return name, weight


def _covers(kind: str, offer: str) -> bool:
    return kind in ("*/*", "*", offer) or (kind.endswith("/*") and offer.startswith(kind[:-1]))
