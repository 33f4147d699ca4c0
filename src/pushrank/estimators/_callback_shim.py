"""What scikit-learn 1.9 offers for callbacks, as far as our estimators use it, for the versions before.

A callback has `setup(estimator, context)`, `on_fit_task_begin(estimator, context, …)`,
`on_fit_task_end(estimator, context, …)` and `teardown(estimator, context)`; keyword-only parameters of the
hooks are filled by name from X, y, metadata and fitted_estimator.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Self

HOOKS = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")


class CallbackContext:
    """A task of a fit: the whole of it, or one iteration."""

    def __init__(
        self,
        callbacks: list[Any],
        task_name: str,
        task_id: int,
        max_subtasks: int | None,
        parent: Any,
        estimator: str,
    ):
        self._callbacks = callbacks
        self.task_name = task_name
        self.task_id = task_id
        self.max_subtasks = max_subtasks
        self.parent = parent
        self.estimator_name = estimator
        self._n_children = 0

    def subcontext(self, task_name: str = "", max_subtasks: int | None = 0) -> CallbackContext:
        """The next subtask."""
        child = CallbackContext(
            self._callbacks, task_name, self._n_children, max_subtasks, self, self.estimator_name
        )
        self._n_children += 1
        return child

    def call_on_fit_task_begin(self, *, estimator: Any, **values: Any) -> Self:
        """Tell every callback that the task begins."""
        self._call("on_fit_task_begin", estimator, values)
        return self

    def call_on_fit_task_end(self, *, estimator: Any, **values: Any) -> bool:
        """Tell every callback that the task ends; true if one asks for a stop."""
        return self._call("on_fit_task_end", estimator, values)

    def _call(self, hook: str, estimator: Any, values: dict[str, Any]) -> bool:
        answers = []
        for callback in self._callbacks:
            method = getattr(callback, hook)
            wanted = [
                name
                for name, parameter in inspect.signature(method).parameters.items()
                if parameter.kind is inspect.Parameter.KEYWORD_ONLY
            ]
            answers.append(method(estimator, self, **{name: values.get(name) for name in wanted}))
        return any(answers)


class CallbackSupportMixin:
    """Gives an estimator `set_callbacks`."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks of the next fits; none at all removes them."""
        for callback in callbacks:
            if isinstance(callback, type) or not all(hasattr(callback, hook) for hook in HOOKS):
                raise TypeError("callbacks must be instances following the FitCallback protocol.")
        if callbacks:
            self._skl_callbacks = list(callbacks)
        else:
            self.__dict__.pop("_skl_callbacks", None)
        return self

    def _init_callback_context(
        self, task_name: str = "fit", task_id: int = 0, max_subtasks: int | None = 0
    ) -> CallbackContext:
        callbacks = getattr(self, "_skl_callbacks", [])
        context = CallbackContext(callbacks, task_name, task_id, max_subtasks, None, type(self).__name__)
        self._callback_fit_ctx = context
        for callback in callbacks:
            callback.setup(self, context)
        return context


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Tear the callbacks down when the fit ends, however it ends."""

    @functools.wraps(method)
    def managed(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(estimator, *args, **kwargs)
        finally:
            context = estimator.__dict__.pop("_callback_fit_ctx", None)
            if context is not None:
                for callback in getattr(estimator, "_skl_callbacks", []):
                    callback.teardown(estimator, context)

    return managed
