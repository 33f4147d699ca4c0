"""Everything that pushrank raises or warns of.

PushRankError
├── InvalidData (ValueError)          what was given to be learnt from or ranked is not usable
├── InvalidParameter (ValueError)     an argument is out of its range, or two do not go together
├── ScoreOverflow (OverflowError)     a risk is beyond what a float64 can hold
├── MissingExtra (ImportError)        an optional library is not installed
└── ModelFileError (ValueError)       a file is not a model that this version can read
PushRankWarning (UserWarning)
├── ConstantScoreWarning              every row received the same score, or may as well have
├── SeparableWarning                  the risk has no minimum: it falls for ever along a direction
└── IgnoredContestsWarning            some contests have no pair and weigh nothing
"""

from collections.abc import Iterable


class PushRankError(Exception):
    """The root of all errors of this package."""


class InvalidData(PushRankError, ValueError):
    """The data cannot be used as they are."""


class InvalidParameter(PushRankError, ValueError):
    """An argument is out of its range, or does not go with another."""


class ScoreOverflow(PushRankError, OverflowError):
    """A risk at these scores is beyond what a float64 can hold."""


class MissingExtra(PushRankError, ImportError):
    """A library that only one capability needs is not installed."""


class ModelFileError(PushRankError, ValueError):
    """A file is not a model that this version can read."""


class PushRankWarning(UserWarning):
    """The root of all warnings of this package."""


class ConstantScoreWarning(PushRankWarning):
    """The fitted scorer gives every row the same score, or is no better than one that does."""


class SeparableWarning(PushRankWarning):
    """The risk has no minimum, since the data can be separated and the penalty does not hold it back."""


class IgnoredContestsWarning(PushRankWarning):
    """Some contests have winners only or losers only, and weigh nothing."""


def closest(word: str, known: Iterable[str]) -> str:
    """What to put behind an unknown word: the closest known one as a question, or nothing."""
    # Only a mistake pays for the import: difflib takes a tenth of what the whole package does.
    from difflib import get_close_matches

    matches = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {matches[0]!r}?)" if matches else ""
