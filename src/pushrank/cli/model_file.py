"""Models in files: written whole or not at all, and read without trusting what is in them."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from pushrank import losses, prices, tops
from pushrank._version import __version__
from pushrank.cli.messages import reason, writing
from pushrank.cli.preparation import Preparation
from pushrank.estimators import PushRanker
from pushrank.exceptions import InvalidParameter, ModelFileError

_CARD = "pushrank.json"
"""The entry of the archive that says what it is, so that nothing else need be opened to know."""

_OURS = (
    "pushrank.estimators.push.PushRanker",
    "pushrank.estimators._base.Optimality",
    "pushrank.spaces.linear.LinearScorer",
)


@dataclass(eq=False)
class Model:
    """What `pushrank fit` saves.

    `unused` are the columns that the training table had and the ranker does not read; `budget` is a count or
    a share as the person gave it.
    """

    ranker: PushRanker
    preparation: Preparation
    target: str
    positive: str
    budget: float | None
    id: str | None
    weights: str | None
    unused: list[str]
    n_rows: int


def save(model: Model, path: str) -> None:
    """Write a model file; what stood there before stays until the new one is complete."""
    import skops.io

    from pushrank.datasets.write import write_whole

    state = {**vars(model), "preparation": model.preparation.state()}
    stream = io.BytesIO(skops.io.dumps(state, compression=zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_CARD, json.dumps({"pushrank": __version__, "target": model.target}))
    with writing(path):
        write_whole(Path(path), stream.getvalue())


def load(path: str) -> Model:
    """Read a model file; only types of numpy, scikit-learn and pushrank itself are ever built."""
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        content = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise InvalidParameter(f"There is no file {path}; `pushrank fit` makes model files.") from error
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {reason(error)}.") from error
    _require_readable(path, content)
    try:
        state = skops.io.loads(content, trusted=_trusted())
        if not isinstance(state["ranker"], PushRanker):
            raise TypeError("the ranker is none")
        model = Model(**{**state, "preparation": Preparation(**state["preparation"])})
    except UntrustedTypesFoundException as error:
        strange = ", ".join(sorted(re.findall(r"'([^']+)'", str(error)))) or str(error)
        raise ModelFileError(
            f"{path} holds what no model of pushrank has ({strange}) and was not opened: fit the model anew."
        ) from error
    except Exception as error:
        # A damaged archive can fail in every way that building an object can.
        raise ModelFileError(
            f"{path} is damaged ({type(error).__name__}); copy it again, or fit the model anew."
        ) from error
    return model


def _require_readable(path: str, content: bytes) -> None:
    """Refuse what is no model, and models of a newer major version, before anything is built."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if _CARD not in archive.namelist():
                raise ModelFileError(
                    f"{path} is an archive but not a model; `pushrank fit` makes model files."
                )
            version = str(json.loads(archive.read(_CARD))["pushrank"])
            saved, ours = int(version.split(".")[0]), int(__version__.split(".")[0])
    except ModelFileError:
        raise
    except zipfile.BadZipFile as error:
        if content[:4] == b"PK\x03\x04":
            raise ModelFileError(
                f"{path} is damaged or cut short; copy it again, or fit the model anew."
            ) from error
        raise ModelFileError(f"{path} is not a model; `pushrank fit` makes model files.") from error
    except Exception as error:
        raise ModelFileError(f"{path} is damaged: its version cannot be read; fit the model anew.") from error
    if saved > ours:
        raise ModelFileError(
            f"{path} was saved by pushrank {version}; this is {__version__}: upgrade with "
            "pip install -U pushrank."
        )


def _trusted() -> list[str]:
    parts = [
        f"{part.__module__}.{part.__qualname__}"
        for room in (losses, prices, tops)
        for part in (getattr(room, name) for name in room.__all__)
        if isinstance(part, type)
    ]
    return [*_OURS, *parts]
