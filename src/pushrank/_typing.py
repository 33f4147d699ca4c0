"""The two array types that the doors speak of."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = Any
"""An array of numbers, one per item, winner, loser, contest or weak ranker."""

Vector: TypeAlias = npt.NDArray[np.float64]
"""Parameters: small, float64, on the host."""
