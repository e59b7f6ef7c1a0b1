"""Content negotiation: choose a media type and a coding by `Accept` and `Accept-Encoding` (RFC 9110 12.5)."""

from __future__ import annotations

from arena.http.problem import Problem

_MAX_PARTS = 64


def negotiate(accept: str, offers: tuple[str, ...]) -> str:
    """Return the media type of `offers` that an `Accept` header prefers, the first one in a tie.

    Raises Problem (406) when the header accepts none of them.
    """
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
        raise Problem("not-acceptable", "no media type in Accept is available", hint="available: " + ", ".join(offers))
    return best


def accepts_coding(accept_encoding: str, coding: str) -> bool:
    """Return whether an `Accept-Encoding` header allows a coding such as gzip."""
    weights = dict(reversed(_weighted(accept_encoding)))  # the first one counts if a coding is repeated
    return weights.get(coding, weights.get("*", 0.0)) > 0


def preferred_language(accept_language: str, offers: tuple[str, ...]) -> str:
    """Return the language of `offers` that an `Accept-Language` header prefers, by default the first one."""
    weights: dict[str, float] = {}
    for tag, weight in _weighted(accept_language):
        language = tag.partition("-")[0]
        weights[language] = max(weight, weights.get(language, 0.0))
    best = max(offers, key=lambda offer: weights.get(offer, 0.0))
    return best if weights.get(best, 0.0) > 0 else offers[0]


def _weighted(header: str) -> list[tuple[str, float]]:
    """Split a header into its parts with their weights: 1 without `q=`, 0 for an invalid weight."""
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
            weight = given if 0 <= given <= 1 else 0.0  # NaN compares as false
    return name, weight


def _covers(kind: str, offer: str) -> bool:
    return kind in ("*/*", "*", offer) or (kind.endswith("/*") and offer.startswith(kind[:-1]))
