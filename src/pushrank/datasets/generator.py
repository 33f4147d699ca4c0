"""Made-up ranking problems whose best ranking is known."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from pushrank._typing import Array
from pushrank.exceptions import InvalidParameter


def make_ranking(
    n_items: int = 1000,
    n_features: int = 20,
    *,
    n_informative: int = 5,
    prevalence: float = 0.1,
    noise: float = 0.25,
    return_probability: bool = False,
    random_state: Any = None,
) -> tuple[Array, ...]:
    """Make a ranking problem and, when asked, the chance of each item to be positive.

    The features are independent standard normal numbers. A hidden unit vector w on `n_informative` of them
    gives each item its worth g = w·x, which is standard normal too, and

        P(y = 1 | x) = 1 / (1 + exp((t − g) / noise)),

    with the threshold t set so that these chances average to `prevalence` over the items made. Every order by
    P(y = 1 | x), so by g, is a best ranking: no other holds more positives in its first k places on average,
    whatever k.

    Parameters
    ----------
    n_items : int, default=1000
        The number of rows, at least 2.
    n_features : int, default=20
        The number of columns.
    n_informative : int, default=5
        How many of the columns, drawn at random, have a part in the worth.
    prevalence : float, default=0.1
        The expected share of positives, between 0 and 1.
    noise : float, default=0.25
        How far chance blurs the threshold, as a share of the worth's spread: near 0 the best ranking has
        nearly all positives first; at 10 it is hardly better than any other.
    return_probability : bool, default=False
        Whether to return P(y = 1 | x) as well.
    random_state : int, numpy Generator, RandomState or None, default=None
        Where chance comes from; the same int gives the same problem.

    Returns
    -------
    X : ndarray of shape (n_items, n_features)
        The features.
    y : ndarray of shape (n_items,)
        1 for the positives, 0 for the others. Where chance would leave one class empty, the likeliest item is
        positive, or the least likely one negative.
    probability : ndarray of shape (n_items,)
        P(y = 1 | x), the best score; only if `return_probability`.

    Raises
    ------
    InvalidParameter
        If an argument is out of its range.

    Examples
    --------
    >>> X, y, best = make_ranking(2000, 8, prevalence=0.05, return_probability=True, random_state=0)
    >>> X.shape, round(float(best.mean()), 6)
    ((2000, 8), 0.05)
    >>> first = np.argsort(-best)[:20]
    >>> bool(y[first].mean() > 5 * y.mean())
    True
    """
    _require_number("n_items", n_items, Integral)
    _require(n_items >= 2, "n_items must be at least 2", n_items)
    _require_number("n_features", n_features, Integral)
    _require(n_features >= 1, "n_features must be at least 1", n_features)
    _require_number("n_informative", n_informative, Integral)
    _require(
        1 <= n_informative <= n_features, f"n_informative must lie between 1 and {n_features}", n_informative
    )
    _require_number("prevalence", prevalence, Real)
    _require(0 < prevalence < 1, "prevalence must lie between 0 and 1", prevalence)
    _require_number("noise", noise, Real)
    _require(0 < noise < np.inf, "noise must be positive and finite", noise)
    rng = _generator(random_state)
    X = rng.standard_normal((n_items, n_features))
    informative = np.sort(rng.choice(n_features, n_informative, replace=False))
    direction = rng.standard_normal(n_informative)
    worth = X[:, informative] @ (direction / np.linalg.norm(direction))
    probability = _chances(worth, prevalence, noise)
    y = (rng.random(n_items) < probability).astype(np.int64)
    if not y.any():
        y[np.argmax(worth)] = 1
    if y.all():
        y[np.argmin(worth)] = 0
    return (X, y, probability) if return_probability else (X, y)


def _require_number(name: str, value: object, kind: type) -> None:
    whole = "a whole number" if kind is Integral else "a number"
    _require(isinstance(value, kind) and not isinstance(value, bool), f"{name} must be {whole}", value)


def _require(holds: bool, rule: str, got: object) -> None:
    if not holds:
        raise InvalidParameter(f"{rule}; got {got!r}.")


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def _chances(worth: Array, prevalence: float, noise: float) -> Array:
    """The logistic chances at the threshold where their mean is the prevalence."""
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    def at(threshold: float) -> Array:
        # Next to no noise makes the quotient infinite, whose chance, 0 or 1, is the right one.
        with np.errstate(over="ignore"):
            return expit((worth - threshold) / noise)

    def excess(threshold: float) -> float:
        return float(at(threshold).mean()) - prevalence

    # At either end every single chance lies on one side of the prevalence; the margin outweighs rounding.
    reach = noise * (abs(float(logit(prevalence))) + 1) + 1
    threshold = brentq(excess, worth.min() - reach, worth.max() + reach, xtol=1e-14, rtol=1e-14)
    return at(threshold)
