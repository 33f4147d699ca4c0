"""The five losses and their sums over all pairs, literally: one m × n array of pulls, and no short cut.

A pull is s_i − s_k; φ(z) = ℓ(−z), so derivatives of odd order by a loser's score change their sign.
The losses are RankBoost's (Rudin 2005), RankNet's, the Infinite Push's (Agarwal 2011), TopPush's (Li et
al. 2014), and the hinge with a parabola of a given width in place of its kink.
"""

import numpy as np


def exponential(pull, order=0):
    return (-1.0) ** order * np.exp(-pull)


def logistic(pull, order=0):
    if order == 0:
        return np.logaddexp(0.0, -pull)
    chance = np.exp(-np.logaddexp(0.0, pull))
    return -chance if order == 1 else chance * np.exp(-np.logaddexp(0.0, -pull))


def hinge(pull, order=0):
    if order == 0:
        return np.maximum(0.0, 1.0 - pull)
    return np.where(pull < 1.0, -1.0, 0.0) if order == 1 else np.zeros_like(pull)


def squared_hinge(pull, order=0):
    x = np.maximum(0.0, 1.0 - pull)
    if order == 0:
        return x**2
    return -2.0 * x if order == 1 else np.where(pull < 1.0, 2.0, 0.0)


def smoothed_hinge(pull, order=0, width=0.1):
    x = 1.0 - pull
    if order == 0:
        parabola = np.clip(x, 0.0, width) ** 2 / (2.0 * width)
        return np.where(x <= 0.0, 0.0, np.where(x <= width, parabola, x - width / 2.0))
    if order == 1:
        return -np.clip(x / width, 0.0, 1.0)
    return np.where((x > 0.0) & (x <= width), 1.0 / width, 0.0)


BY_NAME = {f.__name__: f for f in (exponential, logistic, hinge, squared_hinge, smoothed_hinge)}

KINKS = {
    "exponential": (),
    "logistic": (),
    "hinge": (1.0,),
    "squared_hinge": (1.0,),
    "smoothed_hinge": (1.0, 0.9),
}
"""The pulls where a derivative of order one or two jumps (of a smoothed hinge: at its default width)."""


def pulls(winners, losers):
    winners = np.asarray(winners, dtype=np.float64)
    losers = np.asarray(losers, dtype=np.float64)
    table = np.empty((len(winners), len(losers)))
    for i, winner in enumerate(winners):
        for k, loser in enumerate(losers):
            table[i, k] = winner - loser
    return table


def at_losers(loss, order, winners, losers, weight):
    """Σ_i weight_i φ⁽ᵒ⁾(s_k − s_i), one number per loser."""
    terms = (-1.0) ** order * loss(pulls(winners, losers), order)
    return (np.asarray(weight, dtype=np.float64)[:, None] * terms).sum(axis=0)


def at_winners(loss, order, winners, losers, weight):
    """Σ_k weight_k φ⁽ᵒ⁾(s_k − s_i), one number per winner."""
    terms = (-1.0) ** order * loss(pulls(winners, losers), order)
    return (np.asarray(weight, dtype=np.float64)[None, :] * terms).sum(axis=1)


def heights(loss, winners, losers, weight):
    """r_k = Σ_i weight_i ℓ(s_i − s_k)."""
    return (np.asarray(weight, dtype=np.float64)[:, None] * loss(pulls(winners, losers))).sum(axis=0)


def log_heights(winners, losers, weight):
    """log r_k of the exponential loss, which holds no number above the largest exponent."""
    exponents = np.log(np.asarray(weight, dtype=np.float64))[:, None] - pulls(winners, losers)
    top = exponents.max(axis=0)
    return top + np.log(np.exp(exponents - top).sum(axis=0))


def pull_back(loss, winners, losers, weight, loser_weight):
    """The gradient of Σ_k loser_weight_k r_k by winner scores and by loser scores."""
    slopes = weight[:, None] * loser_weight[None, :] * loss(pulls(winners, losers), 1)
    return slopes.sum(axis=1), -slopes.sum(axis=0)


def log_pull_back(winners, losers, weight, loser_weight):
    """The gradient of Σ_k loser_weight_k log r_k of the exponential loss."""
    terms = weight[:, None] * np.exp(-pulls(winners, losers))
    shares = loser_weight[None, :] * terms / terms.sum(axis=0)
    return -shares.sum(axis=1), shares.sum(axis=0)
