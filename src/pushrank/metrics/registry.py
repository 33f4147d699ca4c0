"""What makes a measure public: one function of a ranked list becomes a function of labels and scores."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, Protocol

import numpy as np

from pushrank._typing import Array
from pushrank.exceptions import IgnoredContestsWarning, InvalidParameter, PushRankWarning
from pushrank.metrics.inputs import closest, read_items
from pushrank.metrics.ranked import RankedList

_COMMON = """\
y_true : array-like of shape (n_items,)
    Two classes, the greater one (or `pos_label`) to stand on top{grades}.
y_score : array-like of shape (n_items,)
    Scores; higher is nearer the top. Infinities are scores, NaN is not; -0.0 equals 0.0."""
_KEYWORDS = """\
sample_weight : array-like of shape (n_items,), default=None
    A weight of 2 equals the row written twice; of 0, the row left out. A row of weight w takes w places.
ties : {"expected", "worst", "best", "threshold"}, default="expected"
    Rows of equal score: the exact mean over their random order, the order worst or best for the positives,
    or scikit-learn's rule that a threshold takes a run of equal scores whole.
lists, qid : array-like of shape (n_items,), default=None
    The list (day, batch, query) of every row, two names of one thing. The {summary} over lists is returned.
pos_label : label, default=None
    The class that should stand on top; by default the greater one."""
_GAIN = """
gain : array-like of shape (n_items,), default=None
    What acting on each row brings, in place of 1 for a positive and 0 for any other row."""


class PublicMeasure(Protocol):
    """A measure as users call it."""

    __name__: str
    __doc__: str | None

    def __call__(
        self,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        ties: str = "expected",
        lists: Any = None,
        qid: Any = None,
        pos_label: Any = None,
        **parameters: Any,
    ) -> float: ...


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure as the package knows it."""

    name: str
    per_list: Callable[..., Array]
    """One value per list of a ranked list, NaN where the measure is undefined."""
    best: Literal["high", "low", "neither"]
    total: bool
    """Whether lists add up; otherwise their mean is taken."""
    grades: bool
    gains: bool
    parameters: dict[str, inspect.Parameter]
    """The arguments of its own."""

    def value(self, ranked: RankedList, parameters: dict[str, Any]) -> tuple[float, int]:
        """The value over all lists, and the number of lists where it is undefined."""
        values = self.per_list(ranked, **parameters)
        undefined = np.isnan(values)
        n_undefined = int(undefined.sum())
        if n_undefined == len(values):
            return float("nan"), n_undefined
        values = values[~undefined]
        return float(values.sum() if self.total else values.mean()), n_undefined

    @property
    def needs_k(self) -> bool:
        """Whether the measure has no meaning without a budget."""
        return "k" in self.parameters and self.parameters["k"].default is inspect.Parameter.empty

    def check(self, parameters: dict[str, Any]) -> None:
        """Refuse a parameter that the measure does not have."""
        for name in parameters:
            if name not in self.parameters:
                hint = closest(name, self.parameters) if self.parameters else "It has none of its own."
                raise TypeError(f"{self.name}() has no argument {name!r}. {hint}")
        for name, parameter in self.parameters.items():
            if parameter.default is inspect.Parameter.empty and name not in parameters:
                raise TypeError(f"{self.name}() needs the argument {name}=.")


MEASURES: dict[str, Measure] = {}
"""All measures by name."""

PUBLIC: dict[str, PublicMeasure] = {}
"""The functions that users call, by name."""


def metric(
    *,
    best: Literal["high", "low", "neither"],
    total: bool = False,
    grades: bool = False,
    gains: bool = False,
) -> Callable[[Callable[..., Array]], PublicMeasure]:
    """Register a function of a ranked list, and make the public function of the same name.

    Parameters
    ----------
    best : {"high", "low", "neither"}
        Which values are good; "neither" makes no scorer.
    total : bool, default=False
        Whether the values of several lists add up; otherwise their mean is taken.
    grades : bool, default=False
        Whether y may hold grades.
    gains : bool, default=False
        Whether rows may have a gain of their own.
    """

    def register(per_list: Callable[..., Array]) -> PublicMeasure:
        own = dict(list(inspect.signature(per_list).parameters.items())[1:])
        name = per_list.__name__
        measure = MEASURES[name] = Measure(name, per_list, best, total, grades, gains, own)

        @wraps(per_list)
        def public(
            y_true: Any,
            y_score: Any,
            *,
            sample_weight: Any = None,
            ties: str = "expected",
            lists: Any = None,
            qid: Any = None,
            pos_label: Any = None,
            **parameters: Any,
        ) -> float:
            gain = parameters.pop("gain", None) if gains else None
            measure.check(parameters)
            items = read_items(
                y_true,
                y_score,
                sample_weight=sample_weight,
                lists=lists,
                qid=qid,
                gain=gain,
                pos_label=pos_label,
                grades=grades,
            )
            ranked = RankedList(items, ties)
            value, n_undefined = measure.value(ranked, parameters)
            warn_of_undefined({name: n_undefined}, ranked.n_lists, stacklevel=3)
            return value

        signature = inspect.signature(public, follow_wrapped=False)
        shown = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        if gains:
            shown.append(inspect.Parameter("gain", inspect.Parameter.KEYWORD_ONLY, default=None))
        public.__dict__["__signature__"] = signature.replace(
            parameters=[*shown, *own.values()], return_annotation=float
        )
        del public.__dict__["__wrapped__"]
        public.__doc__ = _documented(inspect.getdoc(per_list) or "", measure)
        PUBLIC[name] = public
        return public

    return register


def warn_of_undefined(undefined: dict[str, int], n_lists: int, *, stacklevel: int) -> None:
    """Say in one warning which measures are undefined, and where."""
    names = [name for name, count in undefined.items() if count]
    if not names:
        return
    shown, verb = ", ".join(names), "is" if len(names) == 1 else "are"
    reason = "a class that it needs is absent" if len(names) == 1 else "a class that they need is absent"
    if n_lists == 1:
        warnings.warn(
            f"{shown} {verb} undefined and returned as NaN: {reason} from y_true, or nothing can be gained.",
            PushRankWarning,
            stacklevel=stacklevel,
        )
        return
    count = max(undefined.values())
    warnings.warn(
        f"{shown} {verb} undefined in {count} of {n_lists} lists, which weigh nothing: {reason} from them.",
        IgnoredContestsWarning,
        stacklevel=stacklevel,
    )


def measure_named(name: str) -> Measure:
    """The measure of a name, or one sentence with the closest name."""
    if name not in MEASURES:
        raise InvalidParameter(f"There is no measure {name!r}. {closest(name, MEASURES)}")
    return MEASURES[name]


def _documented(text: str, measure: Measure) -> str:
    """The docstring with the arguments that all measures share."""
    common = _COMMON.replace("{grades}", ", or grades from 0 upwards" if measure.grades else "")
    keywords = _KEYWORDS.replace("{summary}", "total" if measure.total else "mean")
    head, _, tail = text.partition("Returns\n-------\n")
    head, _, own = head.rstrip().partition("Parameters\n----------\n")
    blocks = [common, own.strip("\n"), keywords + (_GAIN if measure.gains else "")]
    parameters = "\n".join(block for block in blocks if block)
    return f"{head.rstrip()}\n\nParameters\n----------\n{parameters}\n\nReturns\n-------\n{tail}"
