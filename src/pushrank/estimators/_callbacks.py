"""Callbacks of iterative estimators: scikit-learn's own from 1.9 on, the same from here before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    from pushrank.estimators._callback_shim import CallbackSupportMixin, with_callbacks

__all__ = ["CallbackSupportMixin", "iteration_listener", "with_callbacks"]


def iteration_listener(estimator: Any, context: Any) -> Callable[[dict[str, float]], bool]:
    """What a `Monitor` calls with each row of its history: it begins and ends one subtask of the fit.

    A callback asks for a stop by a true answer of its end hook, or by raising StopIteration.
    """

    def listen(row: dict[str, float]) -> bool:
        task = context.subcontext(task_name="iteration")
        try:
            task.call_on_fit_task_begin(estimator=estimator, metadata=row)
            return bool(task.call_on_fit_task_end(estimator=estimator, metadata=row))
        except StopIteration:
            return True

    return listen
