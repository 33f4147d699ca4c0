"""Risks written out pair by pair, from the papers' formulas, in extended precision where there is any.

A contest is (winners, u, losers, v): item numbers and weights. Every function that returns a pair returns a
value and a gradient. At a kink the hinge's slope is 0, the first of the highest losers is the maximum, and
losers tied at a border share what is left by weight.
"""

from __future__ import annotations

import itertools

import numpy as np

REAL = np.longdouble
WIDTH = REAL(0.1)  # of the smoothed hinge


def loss_value(loss, z):
    """ℓ and ℓ′ of pulls."""
    z = np.asarray(z, dtype=REAL)
    x = 1 - z
    if loss == "exponential":
        return np.exp(-z), -np.exp(-z)
    if loss == "logistic":
        return np.logaddexp(REAL(0), -z), -np.exp(-np.logaddexp(REAL(0), z))
    if loss == "hinge":
        return np.maximum(x, 0), np.where(x > 0, -1, 0).astype(REAL)
    if loss == "squared_hinge":
        return np.maximum(x, 0) ** 2, -2 * np.maximum(x, 0)
    assert loss == "smoothed_hinge"
    value = np.where(x <= 0, 0, np.where(x >= WIDTH, x - WIDTH / 2, x * x / (2 * WIDTH)))
    return value, -np.clip(x / WIDTH, 0, 1)


def log_sum_exp(values, weight):
    """log Σ weight e^value, and every entry's share."""
    top = np.max(values)
    terms = weight * np.exp(values - top)
    return top + np.log(terms.sum()), terms / terms.sum()


# Contests


def bipartite(is_winner, weight):
    winners = [i for i in range(len(weight)) if is_winner[i] and weight[i] > 0]
    losers = [k for k in range(len(weight)) if not is_winner[k] and weight[k] > 0]
    return [(winners, REAL(1) * weight[winners], losers, REAL(1) * weight[losers])]


def graded(grades, weight, qid):
    contests = []
    for q in sorted(set(qid)):
        here = [i for i in range(len(qid)) if qid[i] == q and weight[i] > 0]
        for low, high in itertools.combinations(sorted({grades[i] for i in here}), 2):
            winners = [i for i in here if grades[i] == high]
            losers = [k for k in here if grades[k] == low]
            contests.append((winners, REAL(1) * weight[winners], losers, REAL(1) * weight[losers]))
    return contests


def pairs_by_loser(winners, losers, pair_weight):
    contests = []
    for k in sorted(set(losers.tolist())):
        mine = [j for j in range(len(losers)) if losers[j] == k]
        contests.append((winners[mine].tolist(), REAL(1) * pair_weight[mine], [k], np.ones(1, REAL)))
    return contests


def pairs_by_winner(winners, losers, pair_weight):
    contests = []
    for i in sorted(set(winners.tolist())):
        mine = [j for j in np.argsort(losers, kind="stable") if winners[j] == i]
        contests.append(([i], np.ones(1, REAL), losers[mine].tolist(), REAL(1) * pair_weight[mine]))
    return contests


def shares_of(contests, contest_weight):
    share = np.array([u.sum() * v.sum() if contest_weight == "pairs" else REAL(1) for _, u, _, v in contests])
    return share / share.sum()


# Prices of heights


def taken_from_top(values, weight, wanted):
    """The part of `weight` on the largest values, `wanted` in all."""
    taken = np.zeros(len(values), REAL)
    left = wanted
    for x in sorted(set(values.tolist()), reverse=True):
        here = values == x
        part = min(left / weight[here].sum(), REAL(1))
        taken[here] = part * weight[here]
        left = left - taken[here].sum()
        if left <= 0:
            break
    return taken


def price_value(price, r, v):
    """Γ and ∇Γ; a price is its name and its parameter."""
    name, parameter = price
    if name == "identity":
        return v @ r, v
    if name == "power":
        return v @ r**parameter, parameter * v * r ** (parameter - 1)
    if name == "top_fraction":
        taken = taken_from_top(r, v, REAL(parameter)) / REAL(parameter)
        return taken @ r, taken
    assert name == "exponential"
    return log_sum_exp(r, v)


def degree(price):
    return {"identity": 1, "power": price[1], "top_fraction": 1, "exponential": None}[price[0]]


def log_price_value(price, log_r, v):
    """(log Γ)/degree, and its derivative by log r."""
    name, parameter = price
    if name == "power":
        value, shares = log_sum_exp(parameter * (log_r - log_r.max()), v)
        return value / parameter + log_r.max(), shares
    weight = v if name == "identity" else taken_from_top(log_r, v, REAL(parameter)) / REAL(parameter)
    return log_sum_exp(log_r, weight)


def heights(loss, contests, scores, *, log=False):
    """All (contest, loser) heights one after the other, or their logarithms."""
    scores = np.asarray(scores, REAL)
    found = []
    for winners, u, losers, _ in contests:
        for k in losers:
            pulls = scores[winners] - scores[k]
            if log:
                found.append(log_sum_exp(-pulls, u / u.sum())[0])
            else:
                found.append((u / u.sum()) @ loss_value(loss, pulls)[0])
    return np.array(found, REAL)


def push_risk(loss, price, contests, scores, contest_weight="pairs"):
    """Γ^(1/degree) of the pooled heights, or log Γ / degree for the exponential loss."""
    scores = np.asarray(scores, REAL)
    share = shares_of(contests, contest_weight)
    v = np.concatenate([c * v / v.sum() for c, (_, _, _, v) in zip(share, contests, strict=True)])
    g = degree(price)
    logarithms = loss == "exponential" and g is not None
    r = heights(loss, contests, scores, log=logarithms)
    if logarithms:
        value, slopes = log_price_value(price, r, v)
    elif g is None:
        value, slopes = price_value(price, r, v)
    else:
        top = r.max()
        if top == 0:
            return REAL(0), np.zeros(len(scores), REAL)
        value, slopes = price_value(price, r / top, v)
        slopes = slopes * value ** (REAL(1) / g - 1) / g
        value = top * value ** (REAL(1) / g)
    gradient = np.zeros(len(scores), REAL)
    at = 0
    for winners, u, losers, _ in contests:
        for k in losers:
            pulls = scores[winners] - scores[k]
            if logarithms:
                per_pair = log_sum_exp(-pulls, u / u.sum())[1]
            else:
                per_pair = -(u / u.sum()) * loss_value(loss, pulls)[1]
            for i, moved in zip(winners, slopes[at] * per_pair, strict=True):
                gradient[i] -= moved
                gradient[k] += moved
            at += 1
    return value, gradient


# Tops


def top_value(top, s, v):
    """t and ∇t; a top is its name and its parameters."""
    name, *parameters = top
    s, v = np.asarray(s, REAL), np.asarray(v, REAL)
    gradient = np.zeros(len(s), REAL)
    if name == "maximum":
        gradient[int(np.argmax(s))] = 1
        return s.max(), gradient
    if name == "mean_of_top":
        (k,) = parameters
        wanted = REAL(k) * v.sum() if k < 1 else min(REAL(k), v.sum())
        taken = taken_from_top(s, v, wanted) / wanted
        return taken @ s, taken
    if name == "soft_top":
        p, at_least = parameters
        if at_least is not None:
            return capped_soft_top(REAL(p), REAL(at_least), s, v)
        value, shares = log_sum_exp(p * (s - s.max()), v / v.sum())
        return s.max() + value / p, shares
    assert name == "quantile"
    reached = [x for x in s if v[s >= x].sum() >= parameters[0] * v.sum() * (1 - 1e-14)]
    gradient[int(np.flatnonzero(s == max(reached))[0])] = 1
    return max(reached), gradient


def capped_soft_top(p, at_least, s, v):
    """max over b ≤ v/K of b·s − KL(b‖v̄)/p: b_k = min(v_k/K, v̄_k e^{p(s_k − τ)}), trying every capped set."""
    total = v.sum()
    at_least = min(at_least, total)
    order = np.argsort(-s, kind="stable")
    for n_capped in range(len(s) + 1):
        capped, free = order[:n_capped], order[n_capped:]
        b = np.zeros(len(s), REAL)
        b[capped] = v[capped] / at_least
        left = 1 - b[capped].sum()
        if len(free):
            b[free] = max(left, REAL(0)) * log_sum_exp(p * (s[free] - s[free].max()), v[free])[1]
        if np.all(b[free] <= v[free] / at_least * (1 + 1e-15)):
            break
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(b > 0, b * np.log(b * total / v), 0)
    return b @ s - terms.sum() / p, b


def top_risk(loss, top, contests, scores, contest_weight="pairs"):
    """Σ_c share_c Σ_i u_i ℓ(s_i − t_c) / Σu, or its logarithm for the exponential loss."""
    scores = np.asarray(scores, REAL)
    pulls, weight, moves = [], [], []
    for c, (winners, u, losers, v) in zip(shares_of(contests, contest_weight), contests, strict=True):
        looked_at, w = (losers, v)
        if top[0] == "quantile" and top[2] == "all":
            looked_at, w = winners + losers, np.concatenate([u, v])
        t, slopes = top_value(top[:2] if top[0] == "quantile" else top, scores[looked_at], w)
        for i, share in zip(winners, c * u / u.sum(), strict=True):
            pulls.append(scores[i] - t)
            weight.append(share)
            moves.append((i, looked_at, slopes))
    pulls, weight = np.array(pulls, REAL), np.array(weight, REAL)
    if loss == "exponential":
        value, shares = log_sum_exp(-pulls, weight)
        by_pull = -shares
    else:
        terms, slopes = loss_value(loss, pulls)
        value, by_pull = weight @ terms, weight * slopes
    gradient = np.zeros(len(scores), REAL)
    for slope, (i, looked_at, by_score) in zip(by_pull, moves, strict=True):
        gradient[i] += slope
        for k, share in zip(looked_at, by_score, strict=True):
            gradient[k] -= slope * share
    return value, gradient
