"""Logistic, and sums of analytic losses through cells, against sums written out in longer floats."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from pushrank._dispatch import without_fast_paths
from pushrank.losses import analytic
from pushrank.losses.analytic import AnalyticLoss, Tails, _CellSums, _WrittenOutSums
from pushrank.losses.base import UndefinedSums
from pushrank.losses.logistic import Logistic

# Nodes, polynomials and sums each lose a few bits; second derivatives lose ten times that.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Root(AnalyticLoss):
    """ℓ(z) = (√(z² + 16) − z)/2: analytic within 4 of the real line, its tails no exponentials."""

    name: ClassVar[str] = "root"

    def value(self, pull, order=0):
        root = np.hypot(pull, 4.0)
        if order == 0:
            return 8.0 / (root + np.abs(pull)) + np.maximum(-pull, 0.0)
        if order == 1:
            near_zero = -8.0 / (root * (root + np.abs(pull)))
            return np.where(pull > 0, near_zero, -1.0 - near_zero)
        return 8.0 / root**3


@dataclass(frozen=True)
class SteepLogistic(AnalyticLoss):
    """3·ℓ(2z), ℓ the logistic loss: slope, scale, rate and cell width are all other than one."""

    name: ClassVar[str] = "steep-logistic"
    cell_width: ClassVar[float] = 0.5
    tails: ClassVar[Tails] = Tails(reach=20.0, slope=6.0, intercept=0.0, scale=3.0, rate=2.0)

    def value(self, pull, order=0):
        return 3.0 * 2.0**order * Logistic().value(2.0 * pull, order)


def phi_logistic(z, order):
    z = z.astype(np.longdouble)
    small = np.exp(-np.abs(z))
    if order == 0:
        return np.maximum(z, 0) + np.log1p(small)
    return np.where(z > 0, 1, small) / (1 + small) if order == 1 else small / (1 + small) ** 2


def phi_steep(z, order):
    return 3 * np.longdouble(2) ** order * phi_logistic(2 * z.astype(np.longdouble), order)


def phi_root(z, order):
    z = z.astype(np.longdouble)
    root = np.sqrt(z * z + 16)
    if order == 0:
        return np.where(z > 0, (root + z) / 2, 8 / (root + np.abs(z)))
    if order == 1:
        return np.where(z > 0, (1 + z / root) / 2, 8 / (root * (root + np.abs(z))))
    return 8 / root**3


def written_out(phi, winners, losers, order, u, v):
    """The sums over all pairs, at the losers and at the winners."""
    matrix = phi(losers[:, None].astype(np.longdouble) - winners[None, :].astype(np.longdouble), order)
    return (matrix @ u).astype(float), (v @ matrix).astype(float)


RNG = np.random.default_rng(7)
# Drawn once, in this order, so every test sees the same scores whichever tests are run.
SCORES = {
    "ordinary": (3 * RNG.normal(size=240), 3 * RNG.normal(size=320)),
    "narrow": (1e-3 * RNG.normal(size=240), 1e-3 * RNG.normal(size=320)),
    "wide": (300 * RNG.normal(size=240), 300 * RNG.normal(size=320)),
    "tied": (RNG.integers(0, 3, 240) / 1.0, RNG.integers(0, 3, 320) / 1.0),
    "two heaps": (RNG.choice([0.25, 50.5], 240), RNG.choice([0.5, 48.25], 320)),
    "all winners far above": (35 + RNG.normal(size=240), RNG.normal(size=320)),
    "all winners out of reach": (200 + RNG.normal(size=240), RNG.normal(size=320)),
    "all winners far below": (-200 + RNG.normal(size=240), RNG.normal(size=320)),
    "one at 1e9": (RNG.normal(size=240), np.append(RNG.normal(size=320), [1e9, -1e9])),
    "islands": (RNG.choice([-1e6, 0.0, 50.0, 1e6], 240) + RNG.normal(size=240), 60 * RNG.normal(size=320)),
    "beyond whole numbers": (
        RNG.choice([-1e300, 1e300, 5e15, 0.5], 240),
        RNG.choice([1e300, 5e15 + 1, 0.0], 320),
    ),
    "below zero by a hair": (np.full(240, -1e-20), np.linspace(-1, 1, 320)),
    "crowded and alone": (np.append(RNG.normal(size=230), 99.0 * np.arange(10)), 400 * RNG.uniform(size=320)),
    "one winner": (np.array([0.3]), 3 * RNG.normal(size=20_000)),
    "one loser": (3 * RNG.normal(size=20_000), np.array([0.3])),
}


def weights(winners, losers):
    rng = np.random.default_rng(len(winners))
    return rng.uniform(size=len(winners)), rng.uniform(size=len(losers))


@pytest.fixture(params=SCORES)
def sides(request):
    return SCORES[request.param]


@pytest.mark.parametrize("sums", [_CellSums, _WrittenOutSums])
@pytest.mark.parametrize(("loss", "phi"), [(Logistic(), phi_logistic), (SteepLogistic(), phi_steep)])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_sums_equal_the_pairs(sums, loss, phi, order, sides):
    winners, losers = sides
    found = sums(loss, winners, losers)
    u, v = weights(winners, losers)
    u[: len(u) // 3] = 0.0
    # Above the reach φ″ counts as zero: φ″ ≤ 12e⁻⁴⁰ there, for either loss. All else keeps its digits.
    missing = 12.0 * np.exp(-40.0) if order == 2 else 1e-300
    at_losers, at_winners = written_out(phi, winners, losers, order, u, v)
    assert_allclose(found.at_losers(order, u), at_losers, rtol=TOLERANCE, atol=missing * u.sum())
    assert_allclose(found.at_winners(order, v), at_winners, rtol=TOLERANCE, atol=missing * v.sum())


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", ["ordinary", "wide", "one at 1e9", "islands"])
def test_a_loss_without_stated_tails_is_summed_right_everywhere(name, order):
    winners, losers = SCORES[name]
    found = _CellSums(Root(), winners, losers)
    u, v = weights(winners, losers)
    at_losers, at_winners = written_out(phi_root, winners, losers, order, u, v)
    assert_allclose(found.at_losers(order, u), at_losers, rtol=TOLERANCE)
    assert_allclose(found.at_winners(order, v), at_winners, rtol=TOLERANCE)


def test_signed_weights(sides):
    winners, losers = sides
    found = _CellSums(Logistic(), winners, losers)
    u, v = weights(winners, losers)
    u, v = u - 0.5, v - 0.5
    at_losers, at_winners = written_out(phi_logistic, winners, losers, 0, u, v)
    # What cancels costs digits, in proportion to the sum of sizes.
    size, winner_size = written_out(phi_logistic, winners, losers, 0, np.abs(u), np.abs(v))
    assert np.all(np.abs(found.at_losers(0, u) - at_losers) <= TOLERANCE * size)
    assert np.all(np.abs(found.at_winners(0, v) - at_winners) <= TOLERANCE * winner_size)


def test_slopes_kept_from_heights_serve_their_own_weights_only():
    winners, losers = SCORES["ordinary"]
    u, other = weights(winners, winners)
    fresh = _CellSums(Logistic(), winners, losers)
    expected, expected_other = fresh.at_losers(1, u), fresh.at_losers(1, other)
    sums = _CellSums(Logistic(), winners, losers)
    sums.at_losers(0, u)
    assert_allclose(sums.at_losers(1, other), expected_other, rtol=TOLERANCE)
    kept = sums.at_losers(1, u)
    assert_allclose(kept, expected, rtol=TOLERANCE)
    assert not kept.flags.writeable
    u[:] = other
    assert_allclose(sums.at_losers(1, u), expected_other, rtol=TOLERANCE)


@pytest.mark.parametrize("sizes", [(300, 300), (2, 50_000), (50_000, 2)])
def test_few_pairs_are_written_out_and_equal_cells(sizes):
    rng = np.random.default_rng(1)
    winners, losers = 3 * rng.normal(size=sizes[0]), 3 * rng.normal(size=sizes[1])
    sums = Logistic().pair_sums(winners, losers)
    assert isinstance(sums, _CellSums if sizes == (300, 300) else _WrittenOutSums)
    u, v = np.ones(sizes[0]), np.ones(sizes[1])
    cells = _CellSums(Logistic(), winners, losers)
    for order in (0, 1, 2):
        assert_allclose(sums.at_losers(order, u), cells.at_losers(order, u), rtol=TOLERANCE)
        assert_allclose(sums.at_winners(order, v), cells.at_winners(order, v), rtol=TOLERANCE)


@pytest.mark.parametrize("sizes", [(40, 60), (400, 600)])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_scores_that_are_not_finite_have_sums_of_nan(sizes, bad):
    rng = np.random.default_rng(2)
    winners, losers = rng.normal(size=sizes[0]), rng.normal(size=sizes[1])
    losers[3] = bad
    sums = Logistic().pair_sums(winners, losers)
    assert isinstance(sums, UndefinedSums)
    assert_array_equal(sums.at_losers(0, np.ones(sizes[0])), np.full(sizes[1], np.nan))
    assert_array_equal(sums.at_winners(1, np.ones(sizes[1])), np.full(sizes[0], np.nan))


def test_any_array_will_do():
    winners, losers = SCORES["ordinary"]
    weight = np.ones(len(winners))
    expected = Logistic().pair_sums(winners, losers).at_losers(0, weight)
    strided = np.repeat(winners, 2)[::2]
    strided.flags.writeable = False
    assert_array_equal(Logistic().pair_sums(strided, losers).at_losers(0, weight), expected)
    whole = np.ones(len(winners), dtype=int)
    assert_array_equal(Logistic().pair_sums(winners, losers).at_losers(0, whole), expected)
    single = Logistic().pair_sums(winners.astype(np.float32), losers).at_losers(0, weight)
    assert single.dtype == np.float64
    # A score moved by 2⁻²⁴ of itself moves a height by no more than that share of the largest score, 12.
    assert_allclose(single, expected, rtol=1e-5)
    assert len(Logistic().pair_sums(winners[:0], losers).at_losers(0, weight[:0])) == len(losers)


@pytest.mark.parametrize("spread", [3.0, 300.0, 30_000.0])
def test_many_items(spread):
    rng = np.random.default_rng(3)
    winners, losers = spread * rng.normal(size=3_000), spread * rng.normal(size=60_000)
    sums = Logistic().pair_sums(winners, losers)
    some, few = slice(None, None, 2_000), slice(None, None, 1_000)
    u, v = weights(winners, losers)
    for order in (0, 1):
        expected, _ = written_out(phi_logistic, winners, losers[some], order, u, v[some])
        assert_allclose(sums.at_losers(order, u)[some], expected, rtol=TOLERANCE)
        _, expected = written_out(phi_logistic, winners[few], losers, order, u[few], v)
        assert_allclose(sums.at_winners(order, v)[few], expected, rtol=TOLERANCE)


@pytest.mark.parametrize("constant", ["RUN", "BLOCK", "STRIP"])
def test_sizes_of_blocks_do_not_change_the_answer(constant, monkeypatch):
    winners, losers = SCORES["crowded and alone"]
    u, _ = weights(winners, losers)
    expected = _CellSums(Logistic(), winners, losers).at_losers(0, u)
    monkeypatch.setattr(analytic, constant, 37)
    with without_fast_paths():
        found = _CellSums(Logistic(), winners, losers).at_losers(0, u)
    assert_allclose(found, expected, rtol=TOLERANCE)


def test_logistic_values_and_derivatives():
    loss = Logistic()
    z = np.array([-1e300, -800.0, -3.0, 0.0, 1e-9, 3.0, 30.0, 700.0, 1e300])
    for order, sign in ((0, 1), (1, -1), (2, 1)):
        expected = sign * phi_logistic(-z, order).astype(float)
        assert_allclose(loss.value(z, order), expected, rtol=1e-15, atol=1e-310)
    for point in (-3.0, 0.0, 0.7, 5.0):
        for order in (0, 1):
            slope = approx_fprime([point], lambda x, o=order: loss.value(x, o)[0], 1e-6)[0]
            # Forward differences of step 1e-6 err by about as much.
            assert slope == pytest.approx(loss.value(np.array(point), order + 1), abs=1e-5)


def test_logistic_conjugate():
    loss = Logistic()
    slopes = np.array([-1.0, -0.999999, -0.5, -1e-3, -1e-12, -1e-300, 0.0])
    grid = np.linspace(-800.0, 800.0, 1_600_001)
    for slope, found in zip(slopes, loss.conjugate(slopes), strict=True):
        # The grid's step of 1e-3 costs at most 1/32 of its square, since ℓ″ ≤ 1/4.
        assert found == pytest.approx(np.max(slope * grid - loss.value(grid)), abs=1e-7)
    assert_array_equal(loss.conjugate(np.array([-1.1, 1e-9, 2.0])), np.inf)


def test_a_conjugate_is_found_where_none_is_written():
    slopes = np.array([-1.5, -1.0 - 1e-9, -1.0, -0.999999, -0.5, -1e-3, -1e-12, 0.0, 1e-9, 0.5])
    # At an end of the domain the supremum lies at infinity, and the search ends 1e-8 before it.
    found = AnalyticLoss.conjugate(Logistic(), slopes)
    assert_allclose(found, Logistic().conjugate(slopes), rtol=1e-12, atol=1e-8)
    a = np.array([1.0, 0.9, 0.5, 0.1, 0.0])
    # With c = 1 − 2a: sup_z (cz − √(z² + 16))/2 = −2√(1 − c²) = −4√(a(1 − a)).
    assert_allclose(Root().conjugate(-a), -4.0 * np.sqrt(a * (1 - a)), rtol=1e-12, atol=1e-7)
    assert_array_equal(Root().conjugate(np.array([-1.2, 0.2])), np.inf)
