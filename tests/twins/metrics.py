"""Measures as their papers print them, on one order of single rows, and means over all orders of ties."""

import math
from functools import cache
from itertools import combinations, permutations, product


def arrangements(labels):
    """All distinct orders of a few 0s and 1s; random order makes them equally likely."""
    n = len(labels)
    for places in combinations(range(n), sum(labels)):
        yield [1 if place in places else 0 for place in range(n)]


def tied_groups(values, scores):
    """The values of equal scores together, best score first."""
    return [
        [v for v, s in zip(values, scores, strict=True) if s == score]
        for score in sorted(set(scores), reverse=True)
    ]


def all_orders(labels, scores):
    for parts in product(*(list(arrangements(group)) for group in tied_groups(labels, scores))):
        yield [label for part in parts for label in part]


def all_orders_of_gains(gains, scores):
    for parts in product(*(list(permutations(group)) for group in tied_groups(gains, scores))):
        yield [gain for part in parts for gain in part]


def over_orders(measure, orders):
    """The mean, the least and the greatest value."""
    values = [measure(order) for order in orders]
    return sum(values) / len(values), min(values), max(values)


def heights(order):
    """Per negative, best first: the share of positives that do not stand above it."""
    m = sum(order)
    return [sum(order[place:]) / m for place, label in enumerate(order) if label == 0]


def positives_at_top(order):
    return sum(order) if 0 not in order else order.index(0)


def r_infinity(order):
    return max(heights(order))


def pnorm_height_cost(order, p=2.0):
    all_heights = heights(order)
    return sum(h**p for h in all_heights) / len(all_heights)


def auc(order):
    all_heights = heights(order)
    return 1 - sum(all_heights) / len(all_heights)


def partial_area(order, max_fpr, min_tpr=0.0):
    all_heights = heights(order)
    n = len(all_heights)
    area = 0.0
    for j, height in enumerate(all_heights):
        width = min(max(max_fpr - j / n, 0.0), 1 / n)
        area += width * max(1 - height - min_tpr, 0.0)
    return area


@cache
def area_of_chance(max_fpr, min_tpr, strips=20_000):
    """Under the diagonal, in strips."""
    heights = (max((i + 0.5) / strips * max_fpr - min_tpr, 0.0) for i in range(strips))
    return sum(heights) * max_fpr / strips


def partial_auc(order, max_fpr=0.1, min_tpr=0.0, standardize=True):
    area = partial_area(order, max_fpr, min_tpr)
    if not standardize:
        return area
    chance = area_of_chance(max_fpr, min_tpr)
    greatest = max_fpr * (1 - min_tpr)
    return 0.5 * (1 + (area - chance) / (greatest - chance))


def top_fraction_score(order, share=0.05):
    return partial_area(order, share) / share


def average_precision(order):
    return sum(sum(order[: r + 1]) / (r + 1) for r, label in enumerate(order) if label) / sum(order)


def first(gains, k):
    """The gain of the first k places, a part of a place by its part."""
    return sum(gain * min(max(k - place, 0.0), 1.0) for place, gain in enumerate(gains))


def precision_at_k(gains, k):
    return first(gains, k) / k


def recall_at_k(gains, k):
    return first(gains, k) / sum(gains)


def lift(gains, k):
    return precision_at_k(gains, k) / (sum(gains) / len(gains))


def enrichment_factor(gains, k):
    return lift(gains, math.ceil(round(k, 9)))


def recall_at_precision(order, precision):
    reached = [sum(order[:r]) for r in range(1, len(order) + 1) if sum(order[:r]) / r >= precision]
    return max(reached, default=0) / sum(order)


def dcg(gains, k=None):
    return sum(
        gain * min(max((len(gains) if k is None else k) - place, 0.0), 1.0) / math.log2(place + 2)
        for place, gain in enumerate(gains)
    )


def ndcg(gains, k=None):
    return dcg(gains, k) / dcg(sorted(gains, reverse=True), k)


def mrr(order, k=None):
    place = next(place for place, gain in enumerate(order, 1) if gain > 0)
    return 1 / place if k is None or place <= k else 0.0


def rie(order, alpha=20.0):
    n = len(order)
    found = sum(math.exp(-alpha * place / n) for place, label in enumerate(order, 1) if label)
    return found / sum(order) / ((1 - math.exp(-alpha)) / (math.exp(alpha / n) - 1) / n)


def bedroc(order, alpha=20.0):
    share = sum(order) / len(order)
    if share == 1:
        return 1.0
    greatest = (1 - math.exp(-alpha * share)) / (share * (1 - math.exp(-alpha)))
    least = (1 - math.exp(alpha * share)) / (share * (1 - math.exp(alpha)))
    return (rie(order, alpha) - least) / (greatest - least)
