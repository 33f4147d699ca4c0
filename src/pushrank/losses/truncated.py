"""Truncated losses: piecewise polynomials that are zero on large pulls, and their sums by one sort a side.

Written as φ(z) = ℓ(−z), such a loss is 0 up to its first knot and a polynomial from each knot to the next.
From the side of a loser, the winners under a knot are the first few in ascending order, so its sums are
cumulative moments read at one place; from the side of a winner the same holds of the losers in descending
order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb, inf
from typing import TypeAlias

import numpy as np

from pushrank._typing import Array
from pushrank.losses.base import Loss, PairSums, UndefinedSums

_ROWS = 1 << 14
"""Scores worked on at a time, so that what is computed for them stays in the processor's cache."""

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
        one, other = (
            _Side(*_ascending(np.ascontiguousarray(side, np.float64))) for side in (winners, losers)
        )
        if not (one.is_finite and other.is_finite):
            return UndefinedSums(len(winners), len(losers))
        return _SortedSums(self.pieces, one, other)


class _SortedSums:
    def __init__(self, pieces: tuple[Piece, ...], winners: _Side, losers: _Side):
        self._losers = few = _View(pieces, winners, losers)
        self._winners = many = _View(pieces, losers.mirrored(), winners.mirrored())
        self._slope: tuple[Array, Array] | None = None
        # The fewer receivers are searched for; the places of the others follow by counting. So both sides
        # agree on every pair, at the knots too, and what they add up to is a subgradient.
        if len(winners) < len(losers):
            few, many = many, few
        sources, receivers = few.sources.scores(slice(None)), few.receivers.scores(slice(None))
        counts = [_Counts(_count_under(sources, receivers, piece.start), len(sources)) for piece in pieces]
        few.counts, many.counts = [one.of_few for one in counts], [one.of_many for one in counts]

    def at_losers(self, order: int, weight: Array) -> Array:
        weight = np.asarray(weight, np.float64)
        if order == 1 and self._slope is not None and np.array_equal(self._slope[0], weight):
            slope, self._slope = self._slope[1], None
            return slope
        if order == 0:
            # A height is hardly ever wanted without its slope, and both read the same moments.
            height, slope = self._losers.sums((0, 1), weight)
            self._slope = weight.copy(), slope
            return height
        return self._losers.sums((order,), weight)[0]

    def at_winners(self, order: int, weight: Array) -> Array:
        return self._winners.sums((order,), np.asarray(weight, np.float64))[0]


class _Side:
    """The scores of one side in ascending order, and whose they are.

    The mirrored side, on which scores change their sign and hence their order, is read from the same memory.
    """

    def __init__(self, ascending: Array, order: Array, *, is_mirrored: bool = False):
        self._ascending, self._is_mirrored = ascending, is_mirrored
        # An order is as long as the list and is read block by block: bytes that hold no place are not kept.
        self._order = order.astype(np.min_scalar_type(len(order)), copy=False)

    def __len__(self) -> int:
        return len(self._ascending)

    def mirrored(self) -> _Side:
        return _Side(self._ascending, self._order, is_mirrored=not self._is_mirrored)

    @property
    def is_finite(self) -> bool:
        """Whether all scores are: infinite ones, and beyond them NaN, are sorted to the ends."""
        return bool(np.isfinite(self._ascending[[0, -1]]).all())

    def scores(self, rows: slice) -> Array:
        return -self._ascending[::-1][rows] if self._is_mirrored else self._ascending[rows]

    def score_at(self, index: Array) -> Array:
        """The scores at any index; beyond an end, the one there."""
        if self._is_mirrored:
            return -np.take(self._ascending, (len(self) - 1) - index, mode="clip")
        return np.take(self._ascending, index, mode="clip")

    def places(self, rows: slice) -> Array:
        """Where these scores stood before they were sorted."""
        order = self._order[::-1] if self._is_mirrored else self._order
        return order[rows].astype(np.intp)


class _Counts:
    """How many sources (the first ones) lie under a knot for each receiver: for both sides, from the fewer.

    To the other side, sources are receivers and the order is mirrored.
    """

    def __init__(self, counts: Array, n_sources: int):
        self._counts, self._n_sources = counts, n_sources

    def of_few(self, rows: slice) -> Array:
        return self._counts[rows]

    def of_many(self, rows: slice) -> Array:
        low, high = self._n_sources - rows.stop, self._n_sources - rows.start
        first, last = np.searchsorted(self._counts, (low, high))
        at_most = np.bincount(self._counts[first:last] - low, minlength=high - low)
        np.cumsum(at_most, out=at_most)
        return (len(self._counts) - first) - at_most[::-1]


class _View:
    """One side's view of the pairs: every receiver sums φ⁽ᵒ⁾(receiver − source) over the weighted sources.

    `counts` answers, for every piece, how many sources lie under its knot for some rows of the receivers.
    """

    counts: list[Callable[[slice], Array]]

    def __init__(self, pieces: tuple[Piece, ...], sources: _Side, receivers: _Side):
        self.pieces, self.sources, self.receivers = pieces, sources, receivers

    def sums(self, orders: tuple[int, ...], weight: Array) -> list[Array]:
        """One array for every order, in the order that the receivers came in."""
        # Scores beyond the stated limits overflow here to inf or nan, which the risk reports.
        with np.errstate(over="ignore", invalid="ignore"):
            parts = self._parts(orders, weight)
            if not parts:
                return [np.zeros(len(self.receivers)) for _ in orders]
            answers = [np.empty(len(self.receivers)) for _ in orders]
            for rows in _blocks(len(self.receivers)):
                places, receivers = self.receivers.places(rows), self.receivers.scores(rows)
                totals = parts[0].at(rows, receivers)
                for part in parts[1:]:
                    for total, terms in zip(totals, part.at(rows, receivers), strict=True):
                        total += terms
                for answer, total in zip(answers, totals, strict=True):
                    answer[places] = total
        return answers

    @cached_property
    def cells(self) -> list[_Cells]:
        """The cells of every piece that ends."""
        knots = [piece.start for piece in self.pieces]
        return [_Cells(self.sources, _CELL * (stop - start)) for start, stop in pairwise(knots)]

    def _parts(self, orders: tuple[int, ...], weight: Array) -> list[_Tail | _Window]:
        """What the pieces add, one part a piece that is not 0 in all orders."""
        taylors: dict[int, list[Taylor]] = {}
        for number, piece in enumerate(self.pieces):
            moved = [piece.derivative(order) for order in orders]
            if any(any(one.coefficients) for one in moved):
                taylors[number] = [one.taylor() for one in moved]
        sizes = {number: max(map(len, some)) for number, some in taylors.items()}
        moments = self._moments(sizes, weight) if sizes else {}
        return [
            (_Tail if number == len(self.pieces) - 1 else _Window)(self, number, some, moments[number])
            for number, some in taylors.items()
        ]

    def _moments(self, sizes: dict[int, int], weight: Array) -> dict[int, list[Array]]:
        """The first cumulative moments of the sources, so many of each piece.

        Of the last piece, S_d[h] = Σ_{j<h} weight_j (x_{h−1} − x_j)^d, centred anew at every source: as x
        grows by a gap g, S_d becomes Σ_e C(d, e) g^{d−e} S_e. Every term is positive, so no digit is lost
        however far a score lies. Of the others, the sums of weight_j (a − x_j)^d, where a is the first source
        of the cell of x_j.
        """
        total = np.zeros(len(self.sources) + 1)
        moments = {
            number: [total, *(np.zeros(len(total)) for _ in range(1, size))] for number, size in sizes.items()
        }
        for rows in _blocks(len(self.sources)):
            masses = np.take(weight, self.sources.places(rows))
            _accumulate(total, rows, masses)
            for number, some in moments.items():
                if len(some) == 1:
                    continue
                if number < len(self.pieces) - 1:
                    offsets = self.cells[number].offsets(rows)
                    for d in range(1, len(some)):
                        _accumulate(some[d], rows, masses * offsets**d)
                    continue
                gaps = np.diff(self.sources.scores(rows), prepend=self.sources.score_at(rows.start - 1))
                for d in range(1, len(some)):
                    growth = some[0][rows] * gaps**d
                    for e in range(1, d):
                        growth += comb(d, e) * gaps ** (d - e) * some[e][rows]
                    _accumulate(some[d], rows, growth)
        return moments


class _Tail:
    """The last piece: all sources under its knot, seen from the nearest of them."""

    def __init__(self, view: _View, number: int, taylors: list[Taylor], moments: list[Array]):
        self._sources, self._taylors, self._moments = view.sources, taylors, moments
        self._start, self._counts = view.pieces[number].start, view.counts[number]

    def at(self, rows: slice, receivers: Array) -> list[Array]:
        counts = self._counts(rows)
        moments = [np.take(moment, counts) for moment in self._moments]
        if len(moments) == 1:
            return [taylor[0][0] * moments[0] for taylor in self._taylors]
        # Without a source under the knot the distance is not positive, and all moments are 0.
        x = np.maximum((receivers - self._sources.score_at(counts - 1)) - self._start, 0.0)
        return [_expanded(taylor, x, moments) for taylor in self._taylors]


class _Window:
    """A piece between two knots: the sources in a window, by cells many windows wide.

    Sums over a window are differences of cumulative sums. They are taken of offsets within a cell, which are
    no larger than the cell, so their error is that of rounding times the weights and the window, wherever the
    scores lie. A window meets two cells at most.
    """

    def __init__(self, view: _View, number: int, taylors: list[Taylor], moments: list[Array]):
        self._taylors, self._moments = taylors, moments
        self._start, self._cells = view.pieces[number].start, view.cells[number]
        self._above, self._below = view.counts[number], view.counts[number + 1]

    def at(self, rows: slice, receivers: Array) -> list[Array]:
        above, below = self._above(rows), self._below(rows)
        first, anchors = self._cells.of(above - 1)
        border = np.maximum(first, below)
        totals = self._within(receivers, anchors, border, above)
        crossing = np.flatnonzero(border > below)
        if len(crossing):
            border = border[crossing]
            _, anchors = self._cells.of(border - 1)
            others = self._within(receivers[crossing], anchors, below[crossing], border)
            for total, other in zip(totals, others, strict=True):
                total[crossing] += other
        return totals

    def _within(self, receivers: Array, anchors: Array, below: Array, above: Array) -> list[Array]:
        """The sums over windows that each lie in one cell."""
        # The distance leaves its bounds where a window is empty only, and could overflow there.
        x = np.minimum(np.maximum((receivers - anchors) - self._start, 0.0), self._cells.reach)
        moments = [np.take(moment, above) - np.take(moment, below) for moment in self._moments]
        return [_expanded(taylor, x, moments) for taylor in self._taylors]


class _Cells:
    """Runs of sources that lie within a few times `width`; no window of half of it meets three.

    Cells change where ⌊x / width⌋ does, and at every gap of a cell's width. The second rule parts scores so
    large that the quotient is rounded: from 2⁵³ cells on, distinct scores are a cell apart.
    """

    def __init__(self, sources: _Side, width: float):
        self._sources = sources
        starts = [np.zeros(1, np.intp)]
        for rows in _blocks(len(sources)):
            x = np.append(sources.score_at(rows.start - 1), sources.scores(rows))
            quotient = np.floor(x / width)
            changes = (quotient[1:] != quotient[:-1]) | (x[1:] - x[:-1] >= width)
            starts.append(np.flatnonzero(changes) + rows.start)
        self._starts = np.concatenate(starts)
        self.reach = 4.0 * width
        """More than any source's distance from the knot in a window that meets its cell."""

    def of(self, sources: Array) -> tuple[Array, Array]:
        """The first source of the cell of each of these, which ascend, and its score."""
        starts = self._starts_between(sources[0], sources[-1])
        if len(starts) > len(sources):
            # A −1 stands for no source; whatever cell it gets, its window is empty.
            first = np.take(starts, np.searchsorted(starts, sources, side="right") - 1, mode="clip")
            return first, self._sources.score_at(first)
        sizes = np.diff(np.searchsorted(sources, starts[1:]), prepend=0, append=len(sources))
        return np.repeat(starts, sizes), np.repeat(self._sources.score_at(starts), sizes)

    def offsets(self, rows: slice) -> Array:
        """A − x_j of these sources, where a is the first source of the cell of x_j."""
        starts = self._starts_between(rows.start, rows.stop - 1)
        sizes = np.diff(starts[1:] - rows.start, prepend=0, append=rows.stop - rows.start)
        return np.repeat(self._sources.score_at(starts), sizes) - self._sources.scores(rows)

    def _starts_between(self, first: int, last: int) -> Array:
        """Where the cells of these and of all sources between them start."""
        low, high = np.maximum(np.searchsorted(self._starts, (first, last), side="right"), 1)
        return self._starts[low - 1 : high]


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


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + _ROWS, n)) for start in range(0, n, _ROWS)]


def _accumulate(sums: Array, rows: slice, terms: Array) -> None:
    """Go on with cumulative sums: at place h, they hold the sum of the first h terms."""
    part = sums[rows.start : rows.stop + 1]
    part[1:] = terms
    np.cumsum(part, out=part)


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
