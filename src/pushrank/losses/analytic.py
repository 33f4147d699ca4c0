"""Analytic losses: sums over all pairs through Chebyshev nodes of small cells, in O(m + n).

With φ analytic, the function s ↦ φ(t − s) is a polynomial of low degree within a cell of scores, to the last
digit. So the items of a cell are replaced by 14 charges at the nodes of the cell, charges act on the nodes of
the other side, and a polynomial through each cell's nodes carries the result back to its items:

    Σ_i weight_i φ(s_k − s_i) ≈ Σ_j T_j(x_k) a_cj,   a = cosine transform of Σ_b φ(node_a − node_b) q_b,
    q = cosine transform of the moments Σ_i weight_i T_j(x_i).

Cells are a grid of which only the occupied ones are kept, so scores may lie as far apart as they like. A cell
of few items has no nodes but those items. Beyond the reach of a loss its tails stand for φ, as running sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from pushrank import _kernels
from pushrank._dispatch import portable
from pushrank._kernels import cells as kernels
from pushrank._kernels.cells import NODES
from pushrank._typing import Array
from pushrank.losses.base import Loss, PairSums, UndefinedSums

WRITTEN_OUT = 4
"""Pairs are written out up to this many per item, and up to `FEW_PAIRS`: no dearer than cells, and exact."""
FEW_PAIRS = 1 << 14
PAIRS_AT_ONCE = 1 << 16
"""Pairs that exist at a time where they are written out."""
RUN = 8192
"""Sorted items treated at once: their polynomials, RUN × NODES numbers, stay in a core's own cache."""
BLOCK = 256
"""Nodes of both sides together that one block of the node-to-node matrix spans."""
STRIP = 2048
"""Columns of the node-to-node matrix that exist at a time."""
WORTH_A_KERNEL = 100_000
"""Items from which on a kernel saves more than it may cost to load."""

_FAR = 2.0**26
"""Where the bisection of a conjugate starts. A loss that flattens like 1/z is off its limit by 1e-8 there."""
_HALVINGS = 90
"""From _FAR down to 5e-20."""

_NODE_PLACES = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
_COSINES = np.cos(np.pi * np.outer(np.arange(NODES), np.arange(NODES) + 0.5) / NODES) * (2.0 / NODES)
_COSINES[0] /= 2.0


@dataclass(frozen=True)
class Tails:
    """What φ is beyond its reach, to the last digit: slope·z + intercept above, scale·exp(rate·z) below.

    Below, so are its derivatives; above, the second counts as zero, so what is left of it must be negligible.
    An infinite reach states nothing: sums are then right for every loss, and slow where scores spread over
    hundreds of cells.
    """

    reach: float = np.inf
    slope: float = 0.0
    intercept: float = 0.0
    scale: float = 0.0
    rate: float = 1.0


class AnalyticLoss(Loss):
    """A loss without kinks. A subclass writes `value`, and may state its tails and its conjugate."""

    tails: ClassVar[Tails] = Tails()
    cell_width: ClassVar[float] = 1.0
    """A power of two, at most a third of the distance from the real line to φ's nearest singularity."""

    def pair_sums(self, winners: Array, losers: Array) -> PairSums:
        winners = np.ascontiguousarray(winners, dtype=np.float64)
        losers = np.ascontiguousarray(losers, dtype=np.float64)
        m, n = len(winners), len(losers)
        if not (np.isfinite(winners).all() and np.isfinite(losers).all()):
            return UndefinedSums(m, n)
        if m * n <= max(FEW_PAIRS, WRITTEN_OUT * (m + n)):
            return _WrittenOutSums(self, winners, losers)
        return _CellSums(self, winners, losers)

    def conjugate(self, slope: Array) -> Array:
        # slope·z − ℓ(z) is concave, so its slope is bisected for the top; errors in z count squared.
        slope = np.asarray(slope, dtype=np.float64)
        low, high = np.full(slope.shape, -_FAR), np.full(slope.shape, _FAR)
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(_HALVINGS):
                middle = (low + high) / 2.0
                rising = slope > self.value(middle, 1)
                low, high = np.where(rising, middle, low), np.where(rising, high, middle)
            top = slope * middle - self.value(middle)
            # Outside the range of ℓ′ the bisection runs into an end, and beyond it the terms go on rising.
            beyond = slope * (2.0 * middle) - self.value(2.0 * middle)
        at_end = np.abs(middle) > _FAR / 2.0
        # A slope outside by no more than 1e-12 is taken for rounding of the domain's end.
        unbounded = at_end & (beyond - top > 1e-12 * _FAR)
        return np.where(unbounded, np.inf, top)

    def _phi(self, z: Array, order: int) -> Array:
        value = self.value(-z, order)
        return -value if order == 1 else value


@dataclass(eq=False)
class _WrittenOutSums:
    """Every pair, some targets at a time."""

    loss: AnalyticLoss
    winners: Array
    losers: Array

    def at_losers(self, order: int, weight: Array) -> Array:
        return self._sum(self.losers, self.winners, 1.0, order, weight)

    def at_winners(self, order: int, weight: Array) -> Array:
        return self._sum(self.winners, self.losers, -1.0, order, weight)

    def _sum(self, targets: Array, sources: Array, sign: float, order: int, weight: Array) -> Array:
        sums = np.empty(len(targets))
        rows = max(1, PAIRS_AT_ONCE // max(1, len(sources)))
        for start in range(0, len(targets), rows):
            z = sign * np.subtract.outer(targets[start : start + rows], sources)
            sums[start : start + rows] = self.loss._phi(z, order) @ weight
        return sums


class _CellSums:
    """Sums through cells; the cells of both sides are made once."""

    def __init__(self, loss: AnalyticLoss, winners: Array, losers: Array):
        self._loss = loss
        many = len(winners) + len(losers) >= WORTH_A_KERNEL
        self._winners = _Cells(winners, loss.cell_width, many=many)
        self._losers = _Cells(losers, loss.cell_width, many=many)
        self._slopes: tuple[Array, Array] | None = None

    def at_losers(self, order: int, weight: Array) -> Array:
        # Heights are followed by their slopes for the same weights, and the two share nearly all the work.
        if order == 1 and self._slopes is not None and np.array_equal(self._slopes[0], weight):
            return self._slopes[1]
        orders = (0, 1) if order == 0 else (order,)
        values = self._sum(self._losers, self._winners, orders, weight, mirrored=False)
        if order == 0:
            slopes = values[1]
            slopes.flags.writeable = False  # It may be handed out more than once.
            self._slopes = np.array(weight), slopes
        return values[0]

    def at_winners(self, order: int, weight: Array) -> Array:
        return self._sum(self._winners, self._losers, (order,), weight, mirrored=True)[0]

    def _sum(
        self, targets: _Cells, sources: _Cells, orders: Sequence[int], weight: Array, *, mirrored: bool
    ) -> Array:
        to, by = targets.nodes, sources.nodes
        charges = sources.charges(np.ascontiguousarray(weight, dtype=np.float64))
        if mirrored:
            # φ of source − target is φ of target − source on the mirrored line.
            to, by, charges = to.mirrored(), by.mirrored(), charges[::-1]
        potentials = _potentials(self._loss, to, by, charges, orders)
        return targets.values(potentials[:, ::-1] if mirrored else potentials)


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Points of the line as cell number plus offset, by ascending cell.

    The two parts are kept apart: at 1e300 their sum would lose the offset, and the difference of two points
    of one cell is the difference of their offsets.
    """

    base: Array
    offset: Array

    def mirrored(self) -> _Nodes:
        return _Nodes(-self.base[::-1], -self.offset[::-1])


class _Cells:
    """One side's scores in the occupied cells of the grid.

    A cell of more than NODES items is crowded: it has nodes. The items of all other cells stand alone, each a
    node of its own; the crowd counts them as one more cell, whose sums are dropped.
    """

    def __init__(self, scores: Array, width: float, *, many: bool):
        cell, place, bases, counts = _grid(scores if width == 1.0 else scores / width)
        crowded = counts > NODES
        n_crowded = np.count_nonzero(crowded)
        sizes = np.where(crowded, NODES, counts)
        self._n_crowded = n_crowded
        self._in_crowd = np.repeat(crowded, sizes)
        offset = np.empty(len(self._in_crowd))
        offset[self._in_crowd] = np.tile((_NODE_PLACES + 1.0) / 2.0, n_crowded)
        if n_crowded == len(crowded):
            self._alone = np.zeros(0, dtype=np.int64)
        else:
            in_crowd = np.where(crowded, np.cumsum(crowded) - 1, n_crowded).astype(np.int32)[cell]
            alone = np.flatnonzero(in_crowd == n_crowded)
            self._alone = alone[np.argsort(cell[alone], kind="stable")]
            offset[~self._in_crowd] = place[self._alone]
            cell = in_crowd
            counts = np.append(counts[crowded], len(alone))
        self.nodes = _Nodes(np.repeat(bases, sizes), offset)
        place *= 2.0
        place -= 1.0
        # A crowded cell has more than NODES items, so the numbers of all fit 32 bits.
        self._crowd = Crowd(cell.astype(np.int32, copy=False), place, counts, many)

    def charges(self, weight: Array) -> Array:
        """Weights at the nodes that act like `weight` at the items."""
        charges = np.empty(len(self.nodes.base))
        if self._n_crowded:
            totals = moments(self._crowd, weight)[: self._n_crowded]
            charges[self._in_crowd] = (totals @ _COSINES).ravel()
        charges[~self._in_crowd] = weight[self._alone]
        return charges

    def values(self, potentials: Array) -> Array:
        """Numbers at the items from numbers at the nodes, for several sets at once."""
        n_sets = len(potentials)
        coefficients = np.zeros((n_sets, len(self._crowd.counts), NODES))
        at_nodes = potentials[:, self._in_crowd].reshape(n_sets, self._n_crowded, NODES)
        coefficients[:, : self._n_crowded] = at_nodes @ _COSINES.T
        if self._n_crowded:
            values = evaluate(self._crowd, coefficients)
        else:
            values = np.empty((n_sets, len(self._crowd.cell)))
        values[:, self._alone] = potentials[:, ~self._in_crowd]
        return values


def _grid(scores: Array) -> tuple[Array, Array, Array, Array]:
    """Each score's cell and its offset from the cell's lower edge; the cells' lower edges and counts.

    Empty cells are among them only where scores lie so close that there are few.
    """
    low, high = np.floor(scores.min()), np.floor(scores.max())
    if high - low > 2.0 * len(scores) + 1024.0:
        edge = np.floor(scores)
        edges, cell, counts = np.unique(edge, return_inverse=True, return_counts=True)
        return cell, scores - edge, edges, counts
    cell = np.empty(len(scores), dtype=np.int32 if high - low < 2.0**31 else np.int64)
    place = np.empty(len(scores))
    # Run by run, since fresh memory for whole arrays costs more than the arithmetic on them.
    for start in range(0, len(scores), RUN):
        run = slice(start, start + RUN)
        edge = np.floor(scores[run])
        np.subtract(scores[run], edge, out=place[run])
        edge -= low
        cell[run] = edge
    counts = np.bincount(cell)
    return cell, place, low + np.arange(len(counts)), counts


@dataclass(eq=False)
class Crowd:
    """Items by cell, and where in its cell each lies, from −1 to 1."""

    cell: Array
    place: Array
    counts: Array
    many: bool
    """Whether the evaluation has items enough for a kernel to pay."""

    @cached_property
    def order(self) -> Array:
        """Items sorted by cell."""
        short = np.uint16 if len(self.counts) <= 1 << 16 else np.int64
        return np.argsort(self.cell.astype(short), kind="stable")

    @cached_property
    def sorted_place(self) -> Array:
        """The places in that order."""
        return self.place[self.order]

    @cached_property
    def bounds(self) -> Array:
        """Where each cell begins in that order, and where the last one ends."""
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.counts)])

    def runs(self) -> list[tuple[slice, int, int, Array]]:
        """Runs of sorted items: the items, the cells from and to, and where those begin within the run."""
        runs = []
        n = len(self.cell)
        for start in range(0, n, RUN):
            stop = min(start + RUN, n)
            first = int(np.searchsorted(self.bounds, start, side="right")) - 1
            last = int(np.searchsorted(self.bounds, stop, side="left"))
            starts = np.maximum(self.bounds[first:last] - start, 0)
            runs.append((slice(start, stop), first, last, starts))
        return runs


def _polynomials(place: Array) -> Array:
    table = np.empty((NODES, len(place)))
    table[0] = 1.0
    table[1] = place
    double = 2.0 * place
    for j in range(2, NODES):
        np.multiply(double, table[j - 1], out=table[j])
        table[j] -= table[j - 2]
    return table


def _draw_crowd(rng: np.random.Generator) -> Crowd:
    counts = rng.multinomial(20_000, rng.dirichlet(np.ones(9))) + NODES
    cell = rng.permutation(np.repeat(np.arange(9), counts))
    return Crowd(cell, rng.uniform(-1.0, 1.0, len(cell)), counts, many=True)


def _draw_moments(rng: np.random.Generator) -> tuple[Crowd, Array]:
    crowd = _draw_crowd(rng)
    return crowd, rng.uniform(0.0, 1.0, len(crowd.cell))


def _draw_evaluate(rng: np.random.Generator) -> tuple[Crowd, Array]:
    crowd = _draw_crowd(rng)
    return crowd, rng.uniform(0.0, 1.0, (2, len(crowd.counts), NODES))


def _kernel_pays(crowd: Crowd, numbers: Array) -> bool:
    return crowd.many and _kernels.available()


@portable
def moments(crowd: Crowd, weight: Array) -> Array:
    """Σ weight·T_j(place) over the items of every cell: shape (n_cells, NODES)."""
    totals = np.zeros((len(crowd.counts), NODES))
    weight = weight[crowd.order]
    for items, first, last, starts in crowd.runs():
        table = _polynomials(crowd.sorted_place[items])
        if last - first == 1:
            totals[first] += table @ weight[items]
        else:
            table *= weight[items]
            totals[first:last] += np.add.reduceat(table, starts, axis=1).T
    return totals


@moments.fast(when=_kernel_pays, examples=_draw_moments)
def _compiled_moments(crowd: Crowd, weight: Array) -> Array:
    return kernels.moments(crowd.cell, crowd.place, weight, len(crowd.counts))


@portable
def evaluate(crowd: Crowd, coefficients: Array) -> Array:
    """Σ_j coefficients[:, cell, j]·T_j(place) at every item: shape (n_sets, n_items)."""
    values = np.empty((len(coefficients), len(crowd.cell)))
    for items, first, last, starts in crowd.runs():
        table = _polynomials(crowd.sorted_place[items])
        if last - first == 1:
            found = coefficients[:, first] @ table
        else:
            lengths = np.diff(starts, append=table.shape[1])
            spread = np.repeat(coefficients[:, first:last], lengths, axis=1)
            found = np.einsum("jk,skj->sk", table, spread)
        values[:, crowd.order[items]] = found
    return values


@evaluate.fast(when=_kernel_pays, examples=_draw_evaluate)
def _compiled_evaluate(crowd: Crowd, coefficients: Array) -> Array:
    return kernels.evaluate(crowd.cell, crowd.place, np.ascontiguousarray(coefficients))


def _potentials(
    loss: AnalyticLoss, targets: _Nodes, sources: _Nodes, charges: Array, orders: Sequence[int]
) -> Array:
    """Σ_b charges_b φ⁽ᵒ⁾(target_a − source_b) at every target node a, for every order asked.

    Targets go block by block. Sources within the reach of some target of the block act through φ, those
    below it (z above the reach) and above it through the tails, whose sums run along from block to block.
    """
    tails, width = loss.tails, loss.cell_width
    # Both sides count for the size of a block: neither may be long while the other is short.
    rank = np.arange(len(targets.base)) + np.searchsorted(sources.base, targets.base)
    starts = np.flatnonzero(np.diff(rank // BLOCK, prepend=-1))
    stops = np.append(starts[1:], len(rank))
    far = tails.reach / width + 1.0  # Offsets move a difference of two points by less than one cell.
    near_from = np.searchsorted(sources.base, targets.base[starts] - far, side="left")
    near_to = np.searchsorted(sources.base, targets.base[stops - 1] + far, side="right")

    potentials = np.zeros((len(orders), len(rank)))
    for start, stop, first, last in zip(starts, stops, near_from, near_to, strict=True):
        block = slice(start, stop)
        for strip in range(first, last, STRIP):
            by = slice(strip, min(strip + STRIP, last))
            z = np.subtract.outer(targets.base[block], sources.base[by])
            z += np.subtract.outer(targets.offset[block], sources.offset[by])
            z *= width
            for row, order in enumerate(orders):
                potentials[row, block] += loss._phi(z, order) @ charges[by]

    blocks = list(zip(starts.tolist(), stops.tolist(), near_from.tolist(), near_to.tolist(), strict=True))
    if near_from[-1] > 0:
        _add_upper_tail(potentials, loss, targets, sources, charges, orders, blocks)
    if near_to[0] < len(charges):
        _add_lower_tail(potentials, loss, targets, sources, charges, orders, blocks)
    return potentials


def _add_upper_tail(
    potentials: Array,
    loss: AnalyticLoss,
    targets: _Nodes,
    sources: _Nodes,
    charges: Array,
    orders: Sequence[int],
    blocks: list[tuple[int, int, int, int]],
) -> None:
    """Add slope·z + intercept for the sources far below each block; blocks ascend."""
    tails, width = loss.tails, loss.cell_width
    done, origin, total, moment = 0, 0.0, 0.0, 0.0
    for start, stop, first, _ in blocks:
        if first > done:
            fresh = slice(done, first)
            # The sum Σ charge·(origin − source) is taken from the nearest source, so it keeps its digits.
            if done > 0:
                moment += total * (sources.base[first - 1] - origin)
            origin = sources.base[first - 1]
            distance = (origin - sources.base[fresh]) - sources.offset[fresh]
            moment += distance @ charges[fresh]
            total += charges[fresh].sum()
            done = first
        if done == 0:
            continue
        block = slice(start, stop)
        for row, order in enumerate(orders):
            if order == 0:
                z = (targets.base[block] - origin) + targets.offset[block]
                potentials[row, block] += tails.slope * width * (total * z + moment) + tails.intercept * total
            elif order == 1:
                potentials[row, block] += tails.slope * total


def _add_lower_tail(
    potentials: Array,
    loss: AnalyticLoss,
    targets: _Nodes,
    sources: _Nodes,
    charges: Array,
    orders: Sequence[int],
    blocks: list[tuple[int, int, int, int]],
) -> None:
    """Add scale·exp(rate·z) for the sources far above each block; blocks descend."""
    tails = loss.tails
    rate = tails.rate * loss.cell_width
    done, origin, total = len(charges), 0.0, 0.0
    for start, stop, _, last in reversed(blocks):
        if last < done:
            fresh = slice(last, done)
            if done < len(charges):
                total *= np.exp(rate * (sources.base[last] - origin))
            origin = sources.base[last]
            # Every exponent is below rate, so nothing overflows; what underflows is nothing beside the rest.
            total += np.exp(rate * ((origin - sources.base[fresh]) - sources.offset[fresh])) @ charges[fresh]
            done = last
        if done == len(charges):
            continue
        block = slice(start, stop)
        terms = np.exp(rate * ((targets.base[block] - origin) + targets.offset[block]))
        for row, order in enumerate(orders):
            potentials[row, block] += tails.scale * tails.rate**order * total * terms
