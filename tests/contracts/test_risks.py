"""Every loss × price and loss × top: twins, finite differences, what is declared, certificates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pushrank import losses, prices
from pushrank._arrays import Segments
from pushrank.exceptions import ScoreOverflow
from pushrank.prices import Identity, Power, TopFraction
from pushrank.risks import PushRisk, TopRisk, make_risk
from pushrank.targets.ranking import Contest, RankingTarget
from pushrank.tops import Maximum, MeanOfTop, Quantile, SoftTop
from twins import risks as twin

LOSSES = ("exponential", "logistic", "hinge", "squared_hinge", "smoothed_hinge")
PRICES = [
    (Identity(), ("identity", None)),
    (Power(1), ("power", 1)),
    (Power(1.5), ("power", 1.5)),
    (Power(2), ("power", 2)),
    (Power(64), ("power", 64)),
    (Power(1e6), ("power", 1e6)),
    (TopFraction(0.3), ("top_fraction", 0.3)),
    (prices.Exponential(), ("exponential", None)),
]
TOPS = [
    (Maximum(), ("maximum",)),
    (MeanOfTop(1), ("mean_of_top", 1)),
    (MeanOfTop(2), ("mean_of_top", 2)),
    (MeanOfTop(0.4), ("mean_of_top", 0.4)),
    (SoftTop(1.0), ("soft_top", 1, None)),
    (SoftTop(2.0), ("soft_top", 2, None)),
    (SoftTop(64.0), ("soft_top", 64, None)),
    (SoftTop(1e6), ("soft_top", 1e6, None)),
    (SoftTop(2.0, at_least=2), ("soft_top", 2, 2)),
    (SoftTop(64.0, at_least=1), ("soft_top", 64, 1)),
    (SoftTop(1e6, at_least=3), ("soft_top", 1e6, 3)),
    (Quantile(0.3), ("quantile", 0.3, "losers")),
    (Quantile(0.3, over="all"), ("quantile", 0.3, "all")),
]
# (name of the loss, risk, twin, which contests, what the twin is told)
CELLS = [
    (loss, make_risk(loss, price), twin.push_risk, 0, spec) for loss in LOSSES for price, spec in PRICES
] + [(loss, make_risk(loss, top), twin.top_risk, 1, spec) for loss in LOSSES for top, spec in TOPS]
every_cell = pytest.mark.parametrize(
    ("loss", "risk", "reference", "kind", "spec"),
    CELLS,
    ids=[f"{cell[0]}-{'-'.join(map(str, cell[4]))}" for cell in CELLS],
)
convex_cells = pytest.mark.parametrize(
    "risk", [cell[1] for cell in CELLS if cell[1].convex], ids=lambda risk: f"{risk}"
)
# At p = 1e6 shares turn over within a millionth of a score, which no difference quotient resolves.
MILD = [cell for cell in CELLS if 1e6 not in cell[4]]


def bipartite(is_winner, weight):
    is_winner, weight = np.array(is_winner, dtype=bool), np.array(weight, dtype=float)
    return RankingTarget.bipartite(is_winner, weight), (twin.bipartite(is_winner, weight),) * 2, "pairs"


def random_bipartite(seed, n=11):
    rng = np.random.default_rng(seed)
    is_winner = np.arange(n) % 3 == 0
    return rng.normal(size=n) * (1 + seed), *bipartite(is_winner, rng.choice([0.5, 1.0, 2.0, 1 / 3], n))


def random_graded(seed, contest_weight):
    rng = np.random.default_rng(seed)
    n = 12
    grades, qid, weight = rng.integers(0, 3, n), np.arange(n) % 2, rng.choice([0.5, 1.0, 2.0], n)
    weight[3] = 0.0
    grades[[0, 2]] = [0, 1]
    target = RankingTarget.graded(grades, weight, qid, contest_weight)
    return rng.normal(size=n), target, (twin.graded(grades, weight, qid),) * 2, contest_weight


def random_pairs(seed, contest_weight):
    rng = np.random.default_rng(seed)
    n, n_pairs = 8, 14
    winners = rng.integers(0, n, n_pairs)
    losers = (winners + rng.integers(1, n, n_pairs)) % n
    weight = rng.choice([0.5, 1.0, 2.0], n_pairs)
    target = RankingTarget.pairs(winners, losers, weight, n, contest_weight)
    contests = twin.pairs_by_loser(winners, losers, weight), twin.pairs_by_winner(winners, losers, weight)
    return rng.normal(size=n), target, contests, contest_weight


ones = np.ones
NASTY = {
    "ordinary": random_bipartite(0),
    "wide": random_bipartite(6),
    "queries": random_graded(1, "pairs"),
    "queries, equal": random_graded(2, "equal"),
    "pairs": random_pairs(3, "pairs"),
    "pairs, equal": random_pairs(4, "equal"),
    "ties": (np.array([1.0, 0, 0, 2, 2, 1, 0, 2]), *bipartite([1, 0, 1, 0, 0, 1, 0, 0], ones(8))),
    "all tied": (np.zeros(6), *bipartite([1, 0, 1, 0, 0, 0], [1, 2, 0.5, 1, 0, 1])),
    "one winner": (np.array([0.3, -1, 2, 0.5, 0.5]), *bipartite([1, 0, 0, 0, 0], [1, 0.5, 2, 1, 1])),
    "one loser": (np.array([0.3, -1, 2, 0.5]), *bipartite([0, 1, 1, 1], [3, 0.5, 2, 1])),
    "one pair": (np.array([0.3, -1]), *bipartite([0, 1], [3, 0.5])),
    "zero weights": (np.array([0.3, 9, 2, 0.5, -8, 1]), *bipartite([0, 1, 1, 0, 0, 0], [1, 0, 1, 2, 0, 1])),
    "far winner": (np.array([0.3, 1e9, 2, 0.5, -1, 1]), *bipartite([0, 1, 1, 0, 0, 1], ones(6))),
    "far loser": (np.array([0.3, -1, 2, 0.5, 1e9, 1]), *bipartite([0, 1, 1, 0, 0, 1], ones(6))),
    "low winner": (np.array([0.3, -1e9, 2, 0.5, -1, 1]), *bipartite([0, 1, 1, 0, 0, 1], ones(6))),
    "low loser": (np.array([0.3, -1, 2, -1e9, 0.7, 1]), *bipartite([0, 1, 1, 0, 0, 1], ones(6))),
    "far loser of pairs": (
        np.where(np.arange(8) == 5, 1e9, random_pairs(3, "pairs")[0]),
        *random_pairs(3, "pairs")[1:],
    ),
    "subnormal": (np.array([5e-324, 0, -5e-324, 0.5]), *bipartite([1, 0, 1, 0], ones(4))),
}


@pytest.mark.parametrize("name", NASTY)
@every_cell
def test_value_and_gradient_equal_the_twin(loss, risk, reference, kind, spec, name):
    scores, target, contests, contest_weight = NASTY[name]
    conditioning = 1.0
    if spec == ("exponential", None):
        highest = float(twin.heights(loss, contests[0], scores, log=loss == "exponential").max())
        if loss == "exponential" and highest > 700:
            with pytest.raises(ScoreOverflow, match="which the exponential price cannot take"):
                risk.value_and_gradient(scores, target)
            return
        conditioning = min(highest, 1e9)
    elif 1e6 in spec:
        conditioning = 1e6 * min(np.ptp(scores), 20.0)
    value, gradient = risk.value_and_gradient(scores, target)
    expected, slopes = reference(loss, spec, contests[kind], scores, contest_weight)
    assert_allclose(value, float(expected), rtol=1e-10, atol=1e-14)
    # e^r is known to eps·r where r is rounded, and a power p of it to p·eps·r.
    tolerance = max(1e-10, 2**-52 * conditioning) * max(1.0, float(np.abs(slopes).max()))
    assert_allclose(gradient, slopes.astype(float), rtol=0, atol=tolerance)


EXTREME = np.array([1e250, -1e250, 0.5, 3e249, -1e250, 1.0])


@pytest.mark.parametrize(
    ("loss", "risk", "reference", "kind", "spec"),
    [cell for cell in CELLS if cell[0] == "exponential" and cell[4][0] != "exponential"],
)
def test_the_exponential_loss_takes_scores_of_1e250(loss, risk, reference, kind, spec):
    target, contests, _ = bipartite([0, 1, 1, 0, 0, 1], [1, 2, 1, 1, 0.5, 1])
    value, gradient = risk.value_and_gradient(EXTREME, target)
    expected, slopes = reference(loss, spec, contests[kind], EXTREME)
    assert_allclose(value, float(expected), rtol=1e-10)
    assert_allclose(gradient, slopes.astype(float), atol=1e-10)


@pytest.mark.parametrize(
    ("loss", "risk", "reference", "kind", "spec"),
    [cell for cell in CELLS if cell[0] in ("hinge", "logistic") and cell[4][0] != "exponential"],
)
def test_losses_of_linear_growth_take_scores_of_1e300(loss, risk, reference, kind, spec):
    scores = np.array([1e300, -1e300, 0.5, 3e299, -1e300, 1.0])
    target, contests, _ = bipartite([0, 1, 1, 0, 0, 1], [1, 2, 1, 1, 0.5, 1])
    value, gradient = risk.value_and_gradient(scores, target)
    expected, slopes = reference(loss, spec, contests[kind], scores)
    assert_allclose(value, float(expected), rtol=1e-10)
    assert_allclose(gradient, slopes.astype(float), atol=1e-10)


@pytest.mark.parametrize("p", [1, 2, 64, 1e6])
@pytest.mark.parametrize("name", ["ordinary", "ties", "one loser", "one winner", "zero weights"])
def test_soft_top_and_power_are_one_machine(p, name):
    scores, target, _, _ = NASTY[name]
    top_value, top_gradient = TopRisk(losses.Exponential(), SoftTop(p)).value_and_gradient(scores, target)
    value, gradient = PushRisk(losses.Exponential(), Power(p)).value_and_gradient(scores, target)
    assert_allclose(top_value, value, rtol=1e-12, atol=1e-14)
    assert_allclose(top_gradient, gradient, rtol=0, atol=1e-12)


def central_difference(function, scores, step):
    """∂function/∂scores, one row per score, by a difference of fourth order."""
    rows = []
    for j in range(len(scores)):
        shift = np.zeros(len(scores), dtype=scores.dtype)
        shift[j] = step
        far = function(scores + 2 * shift) - function(scores - 2 * shift)
        rows.append((8 * (function(scores + shift) - function(scores - shift)) - far) / (12 * step))
    return np.array(rows)


@pytest.mark.parametrize(("loss", "risk", "reference", "kind", "spec"), MILD, ids=lambda x: "")
@pytest.mark.parametrize("name", ["ordinary", "queries, equal", "pairs"])
def test_gradients_are_the_twins_differences(loss, risk, reference, kind, spec, name):
    scores, target, contests, contest_weight = NASTY[name]
    gradient = risk.value_and_gradient(scores, target)[1]
    # These problems keep a few steps away from kinks; extended precision leaves a rounding of 1e-19/step.
    differences = central_difference(
        lambda s: reference(loss, spec, contests[kind], s, contest_weight)[0],
        scores.astype(np.longdouble),
        1e-5,
    )
    assert_allclose(gradient, differences.astype(float), atol=1e-8 * max(1.0, np.abs(gradient).max()))


@pytest.mark.parametrize(("loss", "risk", "reference", "kind", "spec"), MILD, ids=lambda x: "")
@pytest.mark.parametrize("name", ["ordinary", "queries", "pairs, equal"])
def test_hessians_are_differences_of_gradients(loss, risk, reference, kind, spec, name):
    scores, target, contests, contest_weight = NASTY[name]
    hessian = risk.hessian(scores, target)
    if not risk.smooth:
        assert hessian is None
        return
    matrix = np.array([hessian.apply(column) for column in np.eye(len(scores))])
    differences = central_difference(
        lambda s: reference(loss, spec, contests[kind], s, contest_weight)[1],
        scores.astype(np.longdouble),
        1e-5,
    )
    scale = max(1.0, np.abs(matrix).max())
    assert_allclose(matrix, differences.astype(float), atol=2e-8 * scale)
    factors = hessian.factors()
    if factors is not None:
        written = np.diag(factors.diagonal) + (factors.vectors.T * factors.coefficients) @ factors.vectors
        assert_allclose(written, matrix, atol=1e-12 * scale)
    one_contest = name == "ordinary"
    has_factors = one_contest and (isinstance(risk, TopRisk) or loss == "exponential")
    assert (factors is not None) == has_factors


@convex_cells
def test_convex_risks_are_below_their_chords(risk):
    rng = np.random.default_rng(5)
    for name in ("ordinary", "queries", "pairs"):
        _, target, _, _ = NASTY[name]
        for _ in range(10):
            one, other = rng.normal(size=(2, target.contest.n_items)) * 2
            chord = (risk.value_and_gradient(one, target)[0] + risk.value_and_gradient(other, target)[0]) / 2
            middle, gradient = risk.value_and_gradient((one + other) / 2, target)
            slack = 1e-12 * max(1.0, abs(chord))
            assert middle <= chord + slack
            assert risk.value_and_gradient(one, target)[0] >= middle + gradient @ (one - other) / 2 - slack


def test_a_quantile_is_not_convex_and_says_so():
    risk = TopRisk(losses.Hinge(), Quantile(0.6))  # Of two losers: the lower one.
    target, _, _ = bipartite([1, 0, 0], ones(3))
    ends = [risk.value_and_gradient(np.array(s), target)[0] for s in ([0.0, 0.0, 9.0], [0.0, 9.0, 0.0])]
    middle, _ = risk.value_and_gradient(np.array([0.0, 4.5, 4.5]), target)
    assert middle > sum(ends) / 2
    assert not risk.convex
    assert risk.dual() is None


@every_cell
def test_risks_do_not_see_a_shift(loss, risk, reference, kind, spec):
    scores, target, _, _ = NASTY["queries"]
    value, gradient = risk.value_and_gradient(scores, target)
    shifted, same = risk.value_and_gradient(scores + 0.5, target)
    # At p = 1e6 the rounding of the shifted scores, 1e-16, moves shares by 1e-10.
    assert_allclose(shifted, value, rtol=1e-12)
    assert_allclose(same, gradient, atol=1e-8 if 1e6 in spec else 1e-12)
    assert abs(gradient.sum()) <= 1e-12 * max(1.0, np.abs(gradient).sum())


@every_cell
def test_gradients_push_losers_down_and_winners_up(loss, risk, reference, kind, spec):
    scores, target, _, _ = NASTY["ordinary"]
    gradient = risk.value_and_gradient(scores, target)[1]
    if spec[-1] == "all":
        return
    assert np.all(gradient[target.contest.winner_items] <= 0)
    assert np.all(gradient[target.contest.loser_items] >= 0)


@every_cell
def test_whole_weights_are_repetitions_and_zero_is_absence(loss, risk, reference, kind, spec):
    rng = np.random.default_rng(9)
    weight = np.array([1, 2, 3, 0, 1, 2, 1, 0, 3])
    is_winner = np.array([1, 0, 0, 1, 1, 0, 1, 0, 0], dtype=bool)
    scores = rng.normal(size=9)
    rows = np.repeat(np.arange(9), weight)
    value, gradient = risk.value_and_gradient(scores, bipartite(is_winner, weight)[0])
    repeated, parts = risk.value_and_gradient(scores[rows], bipartite(is_winner[rows], ones(len(rows)))[0])
    assert_allclose(value, repeated, rtol=1e-12)
    assert_allclose(gradient, np.bincount(rows, parts, 9), atol=1e-10 if 1e6 in spec else 1e-12)


SMOOTH = [cell for cell in MILD if cell[1].smooth]


@pytest.mark.parametrize(("loss", "risk", "reference", "kind", "spec"), SMOOTH, ids=lambda x: "")
def test_smooth_gradients_do_not_jump_at_ties(loss, risk, reference, kind, spec):
    target, _, _ = bipartite([1, 0, 0, 0, 1, 0], [1, 2, 1, 1, 0.5, 1])
    scores = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    ahead = np.array([0.3, 1.0, -0.5, 0.2, -0.7, 0.6])
    # A gradient of curvature at most 64²/width moves by less than 1e-4 over 1e-9.
    one = risk.value_and_gradient(scores - 1e-9 * ahead, target)[1]
    other = risk.value_and_gradient(scores + 1e-9 * ahead, target)[1]
    assert_allclose(one, other, atol=1e-4)


# Certificates


@pytest.mark.parametrize(
    ("loss", "risk", "reference", "kind", "spec"), [cell for cell in CELLS if cell[3] == 1 and cell[1].convex]
)
def test_duals_are_conjugates(loss, risk, reference, kind, spec):
    rng = np.random.default_rng(11)
    dual = risk.dual()
    for name in ("ordinary", "queries", "pairs, equal"):
        scores, target, _, _ = NASTY[name]
        contest = target.stars
        value, weights = split_gradient(risk, scores, target)
        conjugate = dual.conjugate(-weights[0], weights[1], target)
        joined = contest.join(*weights)
        # Equality at the gradient; p = 1e6 divides what KL rounds, nothing else is badly conditioned.
        assert value + conjugate == pytest.approx(joined @ scores, abs=1e-9 * max(1.0, abs(value)))
        for _ in range(10):
            other = scores + rng.normal(size=len(scores))
            bound = joined @ other - conjugate
            assert risk.value_and_gradient(other, target)[0] >= bound - 1e-9 * max(1.0, abs(bound))


def split_gradient(risk, scores, target):
    """The gradient by entries, for an item may be an entry of several contests, on both sides."""
    contest = target.stars
    winners = np.arange(len(contest.winner_items))
    losers = len(winners) + np.arange(len(contest.loser_items))
    apart = Contest(
        len(winners) + len(losers),
        winners,
        contest.winner_weight,
        contest.winner_blocks,
        losers,
        contest.loser_weight,
        contest.loser_blocks,
        contest.contest_weight,
    )
    entries = scores[np.concatenate([contest.winner_items, contest.loser_items])]
    value, gradient = risk.value_and_gradient(entries, RankingTarget(apart, apart))
    return value, (gradient[winners], gradient[losers])


def test_a_dual_point_outside_its_domain_has_no_conjugate():
    _, target, _, _ = NASTY["ordinary"]
    dual = TopRisk(losses.Hinge(), Maximum()).dual()
    m, n = len(target.contest.winner_items), len(target.contest.loser_items)
    assert dual.conjugate(-ones(m) / m, ones(n) / n, target) == np.inf
    assert dual.conjugate(ones(m) / m, -ones(n) / n, target) == np.inf
    assert dual.conjugate(ones(m) / m, ones(n) / m, target) == np.inf
    assert dual.conjugate(np.zeros(m), np.zeros(n), target) == 0.0
    assert TopRisk(losses.Hinge(), Quantile(0.3, over="all")).dual() is None


# The population optimum: every atom is both a winner and a loser.

RATIO = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 1.1, 1.6, 2.5, 4.0, 7.0, 12.0])
WON = np.array([1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6.0]) / 39
LOST = 20 * WON / RATIO / (WON / RATIO).sum()
ATOMS = np.arange(12)
POPULATION = Contest(12, ATOMS, WON, Segments.one(12), ATOMS, LOST, Segments.one(12))


def population_optimum(risk):
    from scipy.optimize import minimize

    target = RankingTarget(POPULATION, POPULATION)

    def ridged(s):  # Risks do not see a shift; the ridge chooses one, and is too small to move an order.
        value, gradient = risk.value_and_gradient(s, target)
        return value + 1e-9 * (s @ s), gradient + 2e-9 * s

    options = {"maxiter": 20000, "maxfun": 40000, "gtol": 1e-9, "ftol": 1e-15, "maxcor": 30}
    return minimize(ridged, np.zeros(12), jac=True, method="L-BFGS-B", options=options).x


STRICT = [
    make_risk(loss, top)
    for loss in LOSSES
    for top in (SoftTop(1.0), SoftTop(3.0), SoftTop(2.0, at_least=3))
    if make_risk(loss, top).loss.orders_top
] + [make_risk(loss, price) for loss in ("exponential", "logistic") for price in (Identity(), Power(3))]


@pytest.mark.parametrize("risk", STRICT, ids=lambda risk: f"{risk}")
def test_the_population_optimum_orders_strictly_where_declared(risk):
    push = risk.top if isinstance(risk, TopRisk) else risk.price
    assert risk.loss.orders_top
    assert push.orders_rest
    steps = np.diff(population_optimum(risk))
    # Likelihood ratios that differ by a third are told apart by far more than the solver's 1e-5.
    assert steps.min() > 1e-3


def test_the_exponential_machine_orders_by_the_log_odds():
    scores = population_optimum(PushRisk(losses.Exponential(), Power(2)))
    # Rudin (2005): P(y | x) = σ((p + 1) s + b).
    assert_allclose(3 * np.diff(scores), np.diff(np.log(RATIO)), atol=1e-3)


def cone_optimum(loss, push):
    """The same optimum by an independent cone solver, for cells with kinks."""
    import cvxpy as cp

    s = cp.Variable(12)
    if isinstance(push, SoftTop):
        top = cp.log_sum_exp(push.p * s + np.log(LOST / 20)) / push.p
    elif isinstance(push, Maximum):
        top = cp.max(s)
    else:
        border = cp.Variable()
        top = border + LOST @ cp.pos(s - border) / (20 * push.top)
    pulls = s - top
    terms = cp.pos(1 - pulls) if loss == "hinge" else cp.logistic(-pulls)
    cp.Problem(cp.Minimize(WON @ terms), [cp.sum(s) == 0]).solve(solver="CLARABEL")
    return s.value


def test_the_hinge_ties_the_top():
    assert not losses.Hinge().orders_top
    assert not losses.SmoothedHinge().orders_top
    scores = cone_optimum("hinge", SoftTop(1.0))
    assert np.diff(scores)[-3:].max() < 1e-4
    assert np.diff(scores)[:3].min() > 1e-2


@pytest.mark.parametrize("push", [Maximum(), MeanOfTop(0.2)])
def test_sharp_tops_tie_what_lies_below(push):
    assert not push.orders_rest
    assert not Quantile().orders_rest
    assert np.ptp(cone_optimum("logistic", push)[:4]) < 1e-4


def test_a_price_on_the_top_fraction_ties_what_lies_below():
    import cvxpy as cp

    assert not TopFraction().orders_rest
    s, border = cp.Variable(12), cp.Variable()
    heights = cp.hstack([WON @ cp.logistic(s[k] - s) for k in range(12)])
    risk = border + LOST @ cp.pos(heights - border) / (20 * 0.2)
    cp.Problem(cp.Minimize(risk), [cp.sum(s) == 0]).solve(solver="CLARABEL")
    assert np.ptp(s.value[:4]) < 1e-4


@pytest.mark.parametrize("push", [*(push for push, _ in PRICES), *(push for push, _ in TOPS)], ids=repr)
@pytest.mark.parametrize("loss", ["exponential", "logistic", "hinge", "squared_hinge"])
def test_a_large_shift_costs_no_digits(loss, push):
    rng = np.random.default_rng(4)
    far = rng.normal(size=30) + 1e8
    target = RankingTarget.bipartite(np.arange(30) % 3 == 0, np.ones(30))
    risk = make_risk(loss, push)
    value, gradient = risk.value_and_gradient(far, target)
    expected, slopes = risk.value_and_gradient(far - 1e8, target)  # An exact difference.
    # A power of p magnifies the rounding of a height by p.
    rtol = 1e-12 + 4e-15 * getattr(push, "p", 1.0)
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert_allclose(gradient, slopes, rtol=rtol, atol=1e-12)
