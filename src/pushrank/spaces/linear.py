"""Linear scorers over dense or sparse columns, in passes over blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pushrank._typing import Array, Vector
from pushrank.spaces.base import Space

BLOCK_BYTES = 1 << 20
"""Rows are taken in blocks of about this size where a pass needs a copy of them: they stay in cache."""


class LinearSpace(Space):
    """f(x) = w·x over the rows of X: float64, float32 (never copied to float64 whole) or CSR.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_items, n_features)
        Finite numbers.
    n_outputs : int, default=1
        Scores per item; with more than one, parameters are (n_features · n_outputs,) in C order.

    Examples
    --------
    >>> space = LinearSpace(np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> space.scores(np.array([0.5, 1.0])).tolist()
    [0.5, 2.5]
    >>> space.pull_back(np.array([1.0, 1.0])).tolist()
    [2.0, 2.0]
    """

    def __init__(self, X: Any, *, n_outputs: int = 1, _index: Array | None = None):
        self._X = X
        self._index = _index
        self._outputs = n_outputs
        self.n_items = X.shape[0] if _index is None else len(_index)
        self.n_features = X.shape[1]
        self.n_parameters = self.n_features * n_outputs
        self._whole = _index is None and X.dtype == np.float64

    def scores(self, parameters: Vector) -> Array:
        w = parameters if self._outputs == 1 else parameters.reshape(self.n_features, self._outputs)
        if self._whole:
            return np.asarray(self._X @ w)
        scores = np.empty((self.n_items, *w.shape[1:]))
        for rows, block in self._blocks():
            scores[rows] = block @ w
        return scores

    def pull_back(self, weights: Array) -> Vector:
        if self._whole:
            return np.asarray(self._X.T @ weights).reshape(-1)
        total = np.zeros((self.n_features, self._outputs) if self._outputs > 1 else self.n_features)
        for rows, block in self._blocks():
            total += np.asarray(block.T @ weights[rows])
        return total.reshape(-1)

    def scorer(self, parameters: Vector) -> LinearScorer:
        coef = parameters if self._outputs == 1 else parameters.reshape(self.n_features, self._outputs)
        return LinearScorer(np.array(coef, dtype=np.float64))

    def inner(self, one: Vector, other: Vector) -> float:
        return float(one @ other)

    def gram(self, weights: Array) -> Array:
        total = np.zeros((self.n_features, self.n_features))
        for rows, block in self._blocks():
            weight = weights[rows]
            if sparse.issparse(block):
                total += (block.T @ block.multiply(weight[:, None])).toarray()
            else:
                total += block.T @ (block * weight[:, None])
        return total

    def rows(self, index: Array) -> LinearSpace:
        index = np.asarray(index)
        if self._index is not None:
            index = self._index[index]
        return LinearSpace(self._X, n_outputs=self._outputs, _index=index)

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """Blocks of rows as float64, with the places they fill."""
        width = self._X.nnz / max(1, self._X.shape[0]) if sparse.issparse(self._X) else self.n_features
        step = max(256, int(BLOCK_BYTES / (8 * max(1.0, width))))
        for start in range(0, self.n_items, step):
            rows = slice(start, min(start + step, self.n_items))
            block = self._X[rows] if self._index is None else self._X[self._index[rows]]
            yield rows, block.astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class LinearScorer:
    """Scores of new rows by their coefficients; float32 rows get float32 scores, summed in float64.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
    """

    coef: Vector

    def scores(self, X: Any) -> Array:
        scores = LinearSpace(X, n_outputs=1).scores(self.coef)
        return scores.astype(np.float32) if X.dtype == np.float32 else scores

    def contributions(self, X: Any) -> Any:
        """What each column adds to each row's score: an array like X, sparse where X is."""
        if sparse.issparse(X):
            return sparse.csr_matrix(X.multiply(self.coef[None, :]))
        return X * self.coef
