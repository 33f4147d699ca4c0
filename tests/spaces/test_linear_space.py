"""The linear space: one answer for dense, float32, sparse and row views, and no copy of X as a whole."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from pushrank.spaces import LinearSpace
from pushrank.spaces.linear import BLOCK_BYTES


def matrix(n=50, d=4, seed=0):
    # Numbers that float32 holds exactly, so that all kinds of X hold the same ones.
    X = np.round(np.random.default_rng(seed).standard_normal((n, d)) * 8) / 8
    X[np.abs(X) < 0.5] = 0
    return X


KINDS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "csr": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csr32": lambda X: sparse.csr_array(X.astype(np.float32)),
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


@kinds
def test_scores_and_pull_back_are_products(kind):
    X = matrix()
    space = LinearSpace(kind(X))
    random = np.random.default_rng(1)
    w, weights = random.standard_normal(4), random.standard_normal(50)
    assert (space.n_items, space.n_parameters, space.n_features) == (50, 4, 4)
    np.testing.assert_allclose(space.scores(w), X @ w, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(space.pull_back(weights), X.T @ weights, rtol=1e-12, atol=1e-12)
    assert space.scores(w).dtype == space.pull_back(weights).dtype == np.float64
    assert space.scores(w).shape == (50,)
    assert space.pull_back(weights).shape == (4,)


@kinds
def test_several_outputs_are_adjoint_too(kind):
    X = matrix()
    space = LinearSpace(kind(X), n_outputs=3)
    random = np.random.default_rng(2)
    w, weights = random.standard_normal(12), random.standard_normal((50, 3))
    assert space.n_parameters == 12
    assert space.scores(w).shape == (50, 3)
    assert space.pull_back(weights).shape == (12,)
    assert (space.scores(w) * weights).sum() == pytest.approx(space.inner(w, space.pull_back(weights)))
    np.testing.assert_allclose(space.scorer(w).scores(X), space.scores(w), rtol=1e-12, atol=1e-12)


@kinds
def test_the_gram_is_weighted(kind):
    X = matrix()
    weights = np.random.default_rng(3).random(50)
    gram = LinearSpace(kind(X)).gram(weights)
    assert isinstance(gram, np.ndarray)
    np.testing.assert_allclose(gram, X.T @ (weights[:, None] * X), rtol=1e-12, atol=1e-12)


@kinds
def test_rows_are_views_of_some_items(kind):
    X = matrix()
    index = np.array([7, 3, 3, 49])
    rows = LinearSpace(kind(X)).rows(index)
    w = np.arange(4.0)
    np.testing.assert_allclose(rows.scores(w), X[index] @ w, rtol=1e-12)
    np.testing.assert_allclose(rows.pull_back(np.arange(4.0)), X[index].T @ np.arange(4.0), rtol=1e-12)
    again = rows.rows(np.array([1, 0]))
    np.testing.assert_allclose(again.scores(w), X[[3, 7]] @ w, rtol=1e-12)
    assert again.n_items == 2


@kinds
def test_the_scorer_scores_new_rows_and_pickles(kind):
    X = matrix()
    w = np.random.default_rng(4).standard_normal(4)
    scorer = pickle.loads(pickle.dumps(LinearSpace(kind(X)).scorer(w)))
    given = kind(X)
    scores = scorer.scores(given)
    assert scores.dtype == given.dtype
    rtol = 1e-6 if given.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(scores, X @ w, rtol=rtol, atol=rtol)


def test_the_scorer_does_not_follow_its_parameters():
    w = np.ones(4)
    scorer = LinearSpace(matrix()).scorer(w)
    w[:] = 0
    assert (scorer.coef == 1).all()


def test_float32_is_summed_in_float64():
    X = np.full((1, 1000), np.float32(0.1))
    exact = 1000 * float(np.float32(0.1))
    assert LinearSpace(X).scores(np.ones(1000))[0] == pytest.approx(exact, rel=1e-14)


def test_blocks_of_rows_join_without_a_seam():
    d = 16
    n = 3 * BLOCK_BYTES // (8 * d) + 5
    X = matrix(n, d, seed=5).astype(np.float32)
    w, weights = np.arange(1.0, d + 1), np.linspace(-1, 1, n)
    space = LinearSpace(X)
    np.testing.assert_allclose(space.scores(w), X.astype(np.float64) @ w, rtol=1e-12)
    np.testing.assert_allclose(space.pull_back(weights), X.astype(np.float64).T @ weights, atol=1e-9)


@pytest.mark.parametrize("kind", ["float32", "csr", "csr32"])
def test_no_pass_copies_or_densifies_the_whole(kind):
    n, d = 20_000, 200
    if kind == "float32":
        X = np.ones((n, d), dtype=np.float32)
    else:
        X = sparse.random(n, d, density=0.01, format="csr", random_state=0)
        X = X.astype(np.float32) if kind == "csr32" else X
    space = LinearSpace(X)
    w, weights = np.ones(d), np.ones(n)
    tracemalloc.start()
    space.scores(w)
    space.pull_back(weights)
    space.gram(weights)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Scores and a few blocks; the dense float64 matrix would be 32 MB.
    assert peak < 8 * BLOCK_BYTES


def test_read_only_and_strided_rows_serve():
    X = matrix(20, 6)
    X.flags.writeable = False
    view = X[::2, ::3]
    space = LinearSpace(view)
    np.testing.assert_allclose(space.scores(np.ones(2)), view.sum(axis=1), rtol=1e-12)


def test_no_items_have_no_scores():
    for X in (np.zeros((0, 3)), np.zeros((0, 3), dtype=np.float32), sparse.csr_array((0, 3))):
        assert LinearSpace(X).scores(np.ones(3)).shape == (0,)
        assert LinearSpace(X).pull_back(np.zeros(0)).tolist() == [0.0, 0.0, 0.0]
