"""Truncated losses: piecewise polynomials that are zero on large pulls, and their sums by one sort a side.

Written as φ(z) = ℓ(−z), such a loss is 0 up to its first knot and a polynomial from each knot to the next.
From the side of a loser, the winners under a knot are the first few in ascending order, so its sums are
cumulative moments read at one place; from the side of a winner the same holds of the losers in descending
order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb, inf
from typing import TypeAlias
from weakref import proxy

import numpy as np

from pushrank._typing import Array
from pushrank.losses.base import Loss, PairSums

_ROWS = 1 << 15
"""Receivers worked on at a time, so that what is computed for them stays in the processor's cache."""

_CELL = 16.0
"""The width of a cell in windows, at least 2: windows rarely leave a wide one, a narrow one rounds less."""


Taylor: TypeAlias = list[tuple[float, ...]]
"""The coefficients of the polynomials q_e of φ(x + y) = Σ_e q_e(x) yᵉ."""


@dataclass(frozen=True)
class Piece:
    """φ(z) = Σ_d coefficients_d (z − start)^d for z above `start`, up to where the next piece starts."""

    start: float
    coefficients: tuple[float, ...]

    def derivative(self, order: int) -> Piece:
        """The piece of φ⁽ᵒ⁾; without coefficients where that is 0."""
        coefficients = self.coefficients
        for _ in range(order):
            coefficients = tuple(d * c for d, c in enumerate(coefficients))[1:]
        return Piece(self.start, coefficients)

    def taylor(self) -> Taylor:
        """The piece around any point."""
        c = self.coefficients
        return [tuple(comb(d, e) * c[d] for d in range(e, len(c))) for e in range(len(c))]


class TruncatedLoss(Loss):
    """A loss that states its pieces, in ascending order; the last one has no end."""

    @property
    @abstractmethod
    def pieces(self) -> tuple[Piece, ...]:
        """φ(z) = ℓ(−z) above its first knot; it is 0 below."""

    def value(self, pull: Array, order: int = 0) -> Array:
        z = -np.asarray(pull, dtype=np.float64)
        total = np.zeros_like(z)
        # Beyond what a float64 can hold a square is inf, which the risk reports.
        with np.errstate(over="ignore"):
            for piece, stop in _with_stops(self.pieces):
                slope = piece.derivative(order)
                if any(slope.coefficients):
                    terms = _polynomial(slope.coefficients, np.clip(z, piece.start, stop) - piece.start)
                    total = np.where((z > piece.start) & (z <= stop), terms, total)
        return -total if order == 1 else total

    def pair_sums(self, winners: Array, losers: Array) -> PairSums:
        winners, losers = (np.ascontiguousarray(side, np.float64) for side in (winners, losers))
        return _SortedSums(self.pieces, winners, losers)


class _SortedSums:
    def __init__(self, pieces: tuple[Piece, ...], winners: Array, losers: Array):
        self._losers = _View(pieces, *_ascending(winners), *_ascending(losers))
        self._winners = self._losers.mirrored()
        # The fewer receivers are searched for; the places of the others follow by counting. So both sides
        # agree on every pair, at the knots too, and what they add up to is a subgradient.
        few, many = self._losers, self._winners
        if len(winners) < len(losers):
            few, many = many, few
        few.counts = [_count_under(few.sources, few.receivers, piece.start) for piece in pieces]
        many.counts = [_counts_from_the_other_side(count, len(few.sources)) for count in few.counts]

    def at_losers(self, order: int, weight: Array) -> Array:
        return self._losers.sums(order, weight)

    def at_winners(self, order: int, weight: Array) -> Array:
        return self._winners.sums(order, weight)


class _View:
    """One side's view of the pairs: every receiver sums φ⁽ᵒ⁾(receiver − source) over the weighted sources.

    `counts` holds, for every piece, how many sources (the first ones) lie under its knot for each receiver.
    """

    counts: list[Array]

    def __init__(
        self,
        pieces: tuple[Piece, ...],
        sources: Array,
        source_order: Array,
        receivers: Array,
        receiver_order: Array,
    ):
        self.pieces = pieces
        self.sources, self.source_order = sources, source_order
        self.receivers, self.receiver_order = receivers, receiver_order
        self._last: _Weighted | None = None

    def mirrored(self) -> _View:
        """The view of the other side: scores change their sign, hence their order."""
        receivers, sources = -self.sources[::-1], -self.receivers[::-1]
        return _View(self.pieces, sources, self.receiver_order[::-1], receivers, self.source_order[::-1])

    def sums(self, order: int, weight: Array) -> Array:
        weight = np.asarray(weight, np.float64)[self.source_order]
        if self._last is None or not np.array_equal(self._last.weight, weight):
            self._last = _Weighted(self, weight)
        return self._last.sums(order)

    @cached_property
    def gaps(self) -> Array:
        """How far each source lies above the one before."""
        return np.diff(self.sources)

    @cached_property
    def cells(self) -> list[_Cells]:
        """The cells of every piece that ends."""
        knots = [piece.start for piece in self.pieces]
        return [_Cells(self.sources, self.gaps, _CELL * (stop - start)) for start, stop in pairwise(knots)]


class _Weighted:
    """The sums of one weighting of the sources, and its cumulative moments, made when they are asked for."""

    def __init__(self, view: _View, weight: Array):
        # The view holds its last weighting: a plain reference back would keep both, with all their moments,
        # until the garbage collector comes by.
        self.view: _View = proxy(view)
        self.weight = weight
        self._far = [_cumulative(weight)]
        self._near = [[self._far[0]] for _ in view.pieces[1:]]
        self._slope: Array | None = None

    def sums(self, order: int) -> Array:
        if order == 1 and self._slope is not None:
            slope, self._slope = self._slope, None
            return slope
        if order == 0:
            # A height is hardly ever wanted without its slope, and both read the same moments.
            height, self._slope = self._sums((0, 1))
            return height
        return self._sums((order,))[0]

    def _sums(self, orders: tuple[int, ...]) -> list[Array]:
        view = self.view
        # Scores beyond the stated limits overflow here to inf or nan, which the risk reports.
        with np.errstate(over="ignore", invalid="ignore"):
            parts = self._parts(orders)
            if not parts:
                return [np.zeros(len(view.receivers)) for _ in orders]
            answers = [np.empty(len(view.receivers)) for _ in orders]
            for start in range(0, len(view.receivers), _ROWS):
                rows = slice(start, start + _ROWS)
                places = view.receiver_order[rows]
                for answer, *terms in zip(answers, *(part.at(rows) for part in parts), strict=True):
                    answer[places] = sum(terms)
        return answers

    def _parts(self, orders: tuple[int, ...]) -> list[_Tail | _Window]:
        """What the pieces add, one part a piece that is not 0 in all orders."""
        parts: list[_Tail | _Window] = []
        for number, piece in enumerate(self.view.pieces):
            moved = [piece.derivative(order) for order in orders]
            if not any(any(one.coefficients) for one in moved):
                continue
            taylors, n = [one.taylor() for one in moved], max(len(one.coefficients) for one in moved)
            if number == len(self.view.pieces) - 1:
                parts.append(_Tail(self.view, taylors, self._far_moments(n)[:n]))
            else:
                parts.append(_Window(self.view, number, taylors, self._near_moments(number, n)[:n]))
        return parts

    def _far_moments(self, n: int) -> list[Array]:
        """S_d[h] = Σ_{j<h} weight_j (x_{h−1} − x_j)^d, which is centred anew at every source.

        As x grows by a gap g, S_d becomes Σ_e C(d, e) g^{d−e} S_e. Every term is positive, so no digit is
        lost however far a score lies.
        """
        moments, gaps = self._far, self.view.gaps
        for d in range(len(moments), n):
            growth = moments[0][1:-1] * gaps**d
            for e in range(1, d):
                growth += comb(d, e) * gaps ** (d - e) * moments[e][1:-1]
            moments.append(_cumulative(growth, 2))
        return moments

    def _near_moments(self, number: int, n: int) -> list[Array]:
        """The cumulative sums of weight_j (a − x_j)^d, where a is the first source of the cell of x_j."""
        moments = self._near[number]
        for d in range(len(moments), n):
            moments.append(_cumulative(self.weight * self.view.cells[number].offsets ** d))
        return moments


class _Tail:
    """The last piece: all sources under its knot, seen from the nearest of them."""

    def __init__(self, view: _View, taylors: list[Taylor], moments: list[Array]):
        self._view, self._taylors, self._moments = view, taylors, moments
        self._start, self._counts = view.pieces[-1].start, view.counts[-1]

    def at(self, rows: slice) -> list[Array]:
        view, counts = self._view, self._counts[rows]
        moments = [np.take(moment, counts) for moment in self._moments]
        if len(moments) == 1:
            return [taylor[0][0] * moments[0] for taylor in self._taylors]
        nearest = np.take(view.sources, counts - 1, mode="clip")
        # Without a source under the knot the distance is not positive, and all moments are 0.
        x = np.maximum((view.receivers[rows] - nearest) - self._start, 0.0)
        return [_expanded(taylor, x, moments) for taylor in self._taylors]


class _Window:
    """A piece between two knots: the sources in a window, by cells many windows wide.

    Sums over a window are differences of cumulative sums. They are taken of offsets within a cell, which are
    no larger than the cell, so their error is that of rounding times the weights and the window, wherever the
    scores lie. A window meets two cells at most.
    """

    def __init__(self, view: _View, number: int, taylors: list[Taylor], moments: list[Array]):
        self._view, self._taylors, self._moments = view, taylors, moments
        self._start, self._cells = view.pieces[number].start, view.cells[number]
        self._above, self._below = view.counts[number], view.counts[number + 1]

    def at(self, rows: slice) -> list[Array]:
        receivers, above, below = self._view.receivers[rows], self._above[rows], self._below[rows]
        border = np.maximum(np.take(self._cells.first, above - 1, mode="clip"), below)
        totals = self._within(receivers, border, above)
        crossing = np.flatnonzero(border > below)
        others = self._within(receivers[crossing], below[crossing], border[crossing])
        for total, other in zip(totals, others, strict=True):
            total[crossing] += other
        return totals

    def _within(self, receivers: Array, below: Array, above: Array) -> list[Array]:
        """The sums over windows that each lie in one cell."""
        anchors = np.take(self._cells.anchors, above - 1, mode="clip")
        # The distance leaves its bounds where a window is empty only, and could overflow there.
        x = np.minimum(np.maximum((receivers - anchors) - self._start, 0.0), self._cells.reach)
        moments = [np.take(moment, above) - np.take(moment, below) for moment in self._moments]
        return [_expanded(taylor, x, moments) for taylor in self._taylors]


class _Cells:
    """Runs of sources that lie within a few times `width`; no window of half of it meets three.

    Cells change where ⌊x / width⌋ does, and at every gap of a cell's width. The second rule parts scores so
    large that the quotient is rounded: from 2⁵³ cells on, distinct scores are a cell apart.
    """

    def __init__(self, sources: Array, gaps: Array, width: float):
        with np.errstate(over="ignore"):
            quotient = np.floor(sources / width)
        changes = np.flatnonzero((quotient[1:] != quotient[:-1]) | (gaps >= width)) + 1
        starts = np.concatenate([np.zeros(1, np.intp), changes])
        sizes = np.diff(starts, append=len(sources))
        self.first = np.repeat(starts, sizes)
        self.anchors = np.repeat(sources[starts], sizes)
        self.offsets = self.anchors - sources
        self.reach = 4.0 * width
        """More than any source's distance from the knot in a window that meets its cell."""


def _with_stops(pieces: tuple[Piece, ...]) -> list[tuple[Piece, float]]:
    stops = [after.start for _, after in pairwise(pieces)]
    return list(zip(pieces, [*stops, inf], strict=True))


def _expanded(taylor: Taylor, x: Array, moments: list[Array]) -> Array:
    """Σ_j weight_j φ(x + y_j), from the moments Σ_j weight_j y_jᵉ."""
    total = np.zeros_like(x)
    for q, moment in zip(taylor, moments, strict=False):
        total += _polynomial(q, x) * moment
    return total


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    value: Array = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * x
        if c:
            value += c
    return value


def _ascending(values: Array) -> tuple[Array, Array]:
    """The sorted values and their order, in some two thirds of the time of an argsort.

    Sorting numbers is far quicker than sorting places by them. So the bits of a float64, arranged to be
    ordered as integers are, give their last ones up to its place; the few values that differ in those only
    are sorted once more.
    """
    places = np.int64((1 << len(values).bit_length()) - 1)
    order = values.view(np.int64) >> 63
    order &= np.iinfo(np.int64).max
    order ^= values.view(np.int64)
    order &= ~places
    order |= np.arange(len(values))
    order.sort()
    order &= places
    ascending = values[order]
    if np.any(ascending[1:] < ascending[:-1]):
        bits = ascending.view(np.int64) & ~places
        alike = bits[1:] == bits[:-1]
        close = np.flatnonzero(np.append(alike, False) | np.append(False, alike))
        mended = close[np.argsort(ascending[close])]
        order[close], ascending[close] = order[mended], ascending[mended]
    return ascending, order


def _cumulative(terms: Array, n_zeros: int = 1) -> Array:
    """Cumulative sums that begin with zeros: at place h, with one zero, the sum of the first h terms."""
    sums = np.empty(len(terms) + n_zeros)
    sums[:n_zeros] = 0.0
    np.cumsum(terms, out=sums[n_zeros:])
    return sums


def _count_under(sources: Array, receivers: Array, knot: float) -> Array:
    """How many of the sorted sources have receiver − source above the knot, as a float64 has it.

    Searching for receiver − knot rounds that, and then misses ties of scores so large that the knot is lost
    in them. The neighbours of every place found are therefore asked, and the few wrong places bisected.
    """
    counts = np.searchsorted(sources, receivers - knot, side="left")

    def under(index: Array, receivers: Array) -> Array:
        return receivers - np.take(sources, index, mode="clip") > knot

    short = (counts < len(sources)) & under(counts, receivers)
    long = (counts > 0) & ~under(counts - 1, receivers)
    wrong = np.flatnonzero(short | long)
    if len(wrong):
        receivers = receivers[wrong]
        low, high = np.zeros(len(wrong), np.intp), np.full(len(wrong), len(sources))
        for _ in range(len(sources).bit_length()):
            middle = (low + high) // 2
            is_under = (middle < high) & under(middle, receivers)
            low, high = np.where(is_under, middle + 1, low), np.where(is_under, high, middle)
        counts[wrong] = low
    return counts


def _counts_from_the_other_side(counts: Array, n_sources: int) -> Array:
    """For the sources as receivers, in mirrored order: how many of the receivers have them under the knot."""
    at_most = np.bincount(counts, minlength=n_sources + 1)
    np.cumsum(at_most, out=at_most)
    return np.subtract(len(counts), at_most, out=at_most)[n_sources - 1 :: -1]
