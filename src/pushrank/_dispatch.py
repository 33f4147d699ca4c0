"""Portable functions: a body that always runs, and fast paths that run in its place where they can.

A fast path is registered together with inputs to test it on, so no path can stand untested:
`tests/contracts/test_fast_paths.py` compares every path with the body beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

_portables: list[Portable[..., Any]] = []
_fast = ContextVar("pushrank_fast_paths", default=os.environ.get("PUSHRANK_FAST_PATHS", "1") != "0")


@dataclass(frozen=True)
class FastPath(Generic[P, R]):
    """One fast path: what runs, when it may, and arguments on which it must equal the body."""

    run: Callable[P, R]
    when: Callable[..., bool]
    examples: Callable[[np.random.Generator], tuple[Any, ...]]


class Portable(Generic[P, R]):
    """A function that runs its first fast path whose condition holds, and its own body otherwise."""

    def __init__(self, slow: Callable[P, R]):
        self.slow = slow
        self.fast_paths: list[FastPath[P, R]] = []
        update_wrapper(self, slow)
        _portables.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if _fast.get():
            for path in self.fast_paths:
                if path.when(*args, **kwargs):
                    return path.run(*args, **kwargs)
        return self.slow(*args, **kwargs)

    def fast(
        self, *, when: Callable[..., bool], examples: Callable[[np.random.Generator], tuple[Any, ...]]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Register a fast path that runs where `when` holds; `examples` draws arguments that it takes."""

        def register(run: Callable[P, R]) -> Callable[P, R]:
            self.fast_paths.append(FastPath(run, when, examples))
            return run

        return register


def portable(function: Callable[P, R]) -> Portable[P, R]:
    """Make a function's body the slow twin of fast paths that are registered with its `fast`."""
    return Portable(function)


def every_portable() -> tuple[Portable[..., Any], ...]:
    """All portable functions of the modules imported so far."""
    return tuple(_portables)


@contextmanager
def without_fast_paths() -> Iterator[None]:
    """Run the bodies alone. The environment variable PUSHRANK_FAST_PATHS=0 does so from the start."""
    token = _fast.set(False)
    try:
        yield
    finally:
        _fast.reset(token)
