"""The generator keeps what it promises: its model, its prevalence, its best ranking."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pushrank.datasets import make_ranking
from pushrank.exceptions import InvalidParameter


@given(
    st.integers(2, 60),
    st.integers(1, 6),
    st.floats(0.001, 0.999),
    st.floats(0.01, 20),
    st.integers(0, 2**32 - 1),
)
def test_chances_average_to_the_prevalence(n_items, n_features, prevalence, noise, seed):
    X, y, best = make_ranking(
        n_items,
        n_features,
        n_informative=1,
        prevalence=prevalence,
        noise=noise,
        return_probability=True,
        random_state=seed,
    )
    assert X.shape == (n_items, n_features)
    assert set(np.unique(y)) == {0, 1}
    # The threshold is found to 1e-14, which noise ≥ 0.01 turns into 1e-12 at most.
    assert_allclose(best.mean(), prevalence, atol=1e-10)


def test_the_log_odds_are_linear_in_the_informative_columns():
    noise = 0.5
    X, _, best = make_ranking(
        400, 7, n_informative=3, noise=noise, prevalence=0.3, return_probability=True, random_state=3
    )
    log_odds = np.log(best / (1 - best))
    design = np.column_stack([X, np.ones(len(X))])
    coefficients, *_ = np.linalg.lstsq(design, log_odds, rcond=None)
    assert_allclose(design @ coefficients, log_odds, atol=1e-9)
    assert np.sum(np.abs(coefficients[:-1]) > 1e-9) == 3
    assert_allclose(np.linalg.norm(coefficients[:-1]), 1 / noise, rtol=1e-9)


def test_drawn_positives_keep_the_prevalence_and_the_chances():
    _, y, best = make_ranking(200_000, 3, n_informative=2, return_probability=True, random_state=0)
    # Five standard deviations of a share of 0.1 among 200,000 draws.
    assert abs(y.mean() - 0.1) < 5 * np.sqrt(0.09 / 200_000)
    middle = (best > 0.4) & (best < 0.6)
    assert abs(y[middle].mean() - best[middle].mean()) < 5 * np.sqrt(0.25 / middle.sum())


def test_no_other_score_holds_more_positives_at_the_top():
    X, y, best = make_ranking(50_000, 5, n_informative=3, return_probability=True, random_state=1)
    positives = [int(y[np.argsort(-score)[:1000]].sum()) for score in (best, *X.T, *-X.T, X @ np.ones(5))]
    assert positives[0] > max(positives[1:])


def test_the_probability_is_returned_only_when_asked_for():
    X, y = make_ranking(50, random_state=7)
    again = make_ranking(50, random_state=7, return_probability=True)
    assert_array_equal(X, again[0])
    assert_array_equal(y, again[1])
    assert not np.array_equal(X, make_ranking(50, random_state=8)[0])


def test_all_kinds_of_random_state_are_taken():
    from_state = [make_ranking(9, random_state=np.random.RandomState(1))[0] for _ in range(2)]
    assert_array_equal(*from_state)
    from_generator = [make_ranking(9, random_state=np.random.default_rng(1))[0] for _ in range(2)]
    assert_array_equal(*from_generator)
    assert make_ranking(9)[0].shape == (9, 20)


@pytest.mark.parametrize("prevalence", [1e-9, 1 - 1e-9])
def test_both_classes_are_there_however_rare_one_is(prevalence):
    _, y, best = make_ranking(30, prevalence=prevalence, return_probability=True, random_state=0)
    rare = int(prevalence < 0.5)
    assert np.sum(y == rare) == 1
    assert y[np.argmax(best)] == 1
    assert y[np.argmin(best)] == 0


def test_next_to_no_noise_gives_a_clean_cut():
    _, y, best = make_ranking(100, prevalence=0.2, noise=1e-300, return_probability=True, random_state=0)
    assert best[y == 1].min() >= best[y == 0].max()
    assert np.isfinite(best).all()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_items": 1}, "n_items must be at least 2; got 1."),
        ({"n_features": 0}, "n_features must be at least 1; got 0."),
        ({"n_informative": 21}, "n_informative must lie between 1 and 20; got 21."),
        ({"prevalence": 1.0}, "prevalence must lie between 0 and 1; got 1.0."),
        ({"n_items": "a"}, "n_items must be a whole number; got 'a'."),
        ({"n_features": 2.5}, "n_features must be a whole number; got 2.5."),
        ({"n_informative": None}, "n_informative must be a whole number; got None."),
        ({"prevalence": "rare"}, "prevalence must be a number; got 'rare'."),
        ({"noise": [1]}, "noise must be a number; got [1]."),
        ({"noise": 0}, "noise must be positive and finite; got 0."),
        ({"noise": float("nan")}, "noise must be positive and finite; got nan."),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, sentence):
    with pytest.raises(InvalidParameter) as caught:
        make_ranking(**arguments)
    assert str(caught.value) == sentence
