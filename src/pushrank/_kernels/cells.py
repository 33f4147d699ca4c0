"""Sums of Chebyshev polynomials over the items of cells, and their evaluation at the items."""

from __future__ import annotations

from typing import Any

import numpy as np

from pushrank._kernels import kernel

NODES = 14
"""Polynomials per cell, T_0 to T_13, and nodes per cell."""


@kernel
def moments(cell: Any, place: Any, weight: Any, n_cells: int) -> Any:
    """Σ weight·T_j(place) over the items of every cell: shape (n_cells, NODES)."""
    total = np.zeros((n_cells, NODES))
    part = np.zeros((n_cells, NODES))
    # Short runs are summed apart and then added, so that rounding does not grow with the number of items.
    run = max(4096, 16 * n_cells)
    n = cell.shape[0]
    for start in range(0, n, run):
        part[:] = 0.0
        for item in range(start, min(start + run, n)):
            c = cell[item]
            double = 2.0 * place[item]
            before = weight[item]
            now = before * place[item]
            part[c, 0] += before
            part[c, 1] += now
            for j in range(2, NODES):
                after = double * now - before
                before = now
                now = after
                part[c, j] += now
        total += part
    return total


@kernel
def evaluate(cell: Any, place: Any, coefficients: Any) -> Any:
    """Σ_j coefficients[:, cell, j]·T_j(place) at every item, for several sets of coefficients at once."""
    n_sets = coefficients.shape[0]
    n = cell.shape[0]
    values = np.empty((n_sets, n))
    for item in range(n):
        c = cell[item]
        double = 2.0 * place[item]
        for s in range(n_sets):
            later = 0.0
            now = coefficients[s, c, NODES - 1]
            for back in range(2, NODES):
                # In this order the addition that waits for `now` is the only one on the critical path.
                earlier = (coefficients[s, c, NODES - back] - later) + double * now
                later = now
                now = earlier
            values[s, item] = (coefficients[s, c, 0] - later) + place[item] * now
    return values
