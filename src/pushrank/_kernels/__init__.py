"""The numba room: loops that the extra `fast` compiles. Nothing else in the package knows of numba.

A kernel takes contiguous float64 or int64 arrays and numbers, returns new arrays, never raises and never sees
a class. numba itself is imported by the first kernel that is called, never before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@cache
def available() -> bool:
    """Whether numba can be imported; the answer is kept."""
    try:
        import numba  # noqa: F401
    except ImportError:  # Also raised by a numba that does not go with the numpy beside it.
        return False
    return True


class Kernel(Generic[P, R]):
    """A plain function, and its compiled form from the first call on."""

    def __init__(self, plain: Callable[P, R]):
        self.plain = plain
        self._compiled: Callable[P, R] | None = None
        update_wrapper(self, plain)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._compiled is not None:
            return self._compiled(*args, **kwargs)
        try:
            compiled = _compile(self.plain, keep=True)
            result = compiled(*args, **kwargs)
        except Exception:
            # A kernel never raises, so this came from the cache: no folder can be written, the disk is full,
            # or a stored file is damaged. Compiling without a cache needs none of them.
            compiled = _compile(self.plain, keep=False)
            result = compiled(*args, **kwargs)
        self._compiled = compiled
        return result


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile a function on its first call."""
    return Kernel(function)


def _compile(plain: Callable[P, R], *, keep: bool) -> Callable[P, R]:
    import numba

    # No parallel=True: it doubles the time to compile, and its threads do not survive a fork. No fastmath:
    # it would let the compiler change the order of sums, and with it the bits of the answer.
    compiled: Any = numba.njit(cache=keep, nogil=True)(plain)
    return compiled  # type: ignore[no-any-return]  # numba comes untyped
