"""Which solver is chosen, and the sentences of refusal."""

import numpy as np
import pytest

from pushrank.exceptions import InvalidParameter
from pushrank.losses import Hinge, Logistic
from pushrank.penalties import L1, L2
from pushrank.prices import Identity
from pushrank.risks import PushRisk, TopRisk
from pushrank.solvers import LBFGS, Bundle, Problem, Solver, choose
from pushrank.spaces import LinearSpace
from pushrank.targets import RankingTarget
from pushrank.tops import Quantile


def problem_of(risk, penalty):
    target = RankingTarget.bipartite(np.array([True, False]), np.ones(2))
    return Problem(LinearSpace(np.array([[1.0], [0.0]])), risk, target, penalty)


@pytest.mark.parametrize(
    ("risk", "penalty", "name"),
    [
        (PushRisk(Logistic(), Identity()), L2(1.0), "lbfgs"),
        (PushRisk(Logistic(), Identity()), L1(1.0), "proximal"),
        (PushRisk(Hinge(), Identity()), L2(1.0), "bundle"),
        (PushRisk(Hinge(), Identity()), L1(1.0), "bundle"),
        (TopRisk(Hinge(), Quantile(0.5)), L2(1.0), "lbfgs"),
        (TopRisk(Hinge(), Quantile(0.5)), L1(1.0), "proximal"),
    ],
)
def test_auto_takes_the_first_that_serves(risk, penalty, name):
    problem = problem_of(risk, penalty)
    assert choose("auto", problem).name == name
    assert choose(name, problem).name == name


def test_a_solver_is_taken_as_it_is():
    solver = Bundle("level")
    assert choose(solver, problem_of(PushRisk(Hinge(), Identity()), L2(1.0))) is solver


def test_an_unknown_name_gets_the_closest():
    with pytest.raises(InvalidParameter, match=r"'lbgfs'.*lbfgs"):
        choose("lbgfs", problem_of(PushRisk(Hinge(), Identity()), L2(1.0)))


def test_a_refusal_is_the_solvers_own_sentence():
    problem = problem_of(PushRisk(Hinge(), Identity()), L2(1.0))
    with pytest.raises(InvalidParameter) as caught:
        choose("lbfgs", problem)
    assert str(caught.value) == LBFGS().unsupported(problem)
    assert isinstance(LBFGS(), Solver)
