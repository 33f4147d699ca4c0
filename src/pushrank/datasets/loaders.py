"""The papers' data sets: four that ship, two that are read from a file or fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, resources
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pushrank._typing import Array
from pushrank.datasets.read import read_table
from pushrank.datasets.table import Table, require_columns
from pushrank.exceptions import InvalidData, InvalidParameter, MissingExtra

FOLDER_VARIABLE = "PUSHRANK_DATA"
"""The environment variable that names the folder of the data sets that do not ship."""

_UCI = "UCI Machine Learning Repository"


@dataclass(frozen=True)
class DatasetCard:
    """What is known of a data set before it is loaded.

    Attributes
    ----------
    name : str
        Its name; ``load_<name>`` loads it.
    task : str
        What a person who acts on the top of the list wants of it.
    n_items, n_features, n_positives : int
        Rows, features, and rows that are to be brought to the top.
    target_names : tuple of str
        What the targets 0 and 1 mean.
    licence, citation : str
        On what terms it is passed on, and whom to cite.
    ships : bool
        Whether it is part of the package; if not, its loader reads a local file or asks OpenML.
    note : str
        What to know before using it.
    """

    name: str
    task: str
    n_items: int
    n_features: int
    n_positives: int
    target_names: tuple[str, str]
    licence: str
    citation: str
    ships: bool
    note: str

    @property
    def description(self) -> str:
        """The card as a text of a few lines."""
        return (
            f"{self.name}: {self.task}\n\n"
            f"{self.n_items} rows, {self.n_features} features; target 1 ({self.target_names[1]}): "
            f"{self.n_positives} rows, "
            f"target 0 ({self.target_names[0]}): {self.n_items - self.n_positives} rows.\n"
            f"{self.note}\n\nCitation: {self.citation}\nLicence: {self.licence}\n"
        )


_CARDS = {
    card.name: card
    for card in (
        DatasetCard(
            "wdbc",
            "which breast masses to biopsy first",
            569,
            30,
            212,
            ("benign", "malignant"),
            "CC BY 4.0",
            "W. Wolberg, O. Mangasarian, N. Street, W. Street (1995). Breast Cancer Wisconsin (Diagnostic). "
            f"{_UCI}. https://doi.org/10.24432/C5DW2B",
            True,
            "Here malignant is 1: scikit-learn's load_breast_cancer has it the other way round.",
        ),
        DatasetCard(
            "tictactoe",
            "which end boards x has won: a rule to be found",
            958,
            9,
            626,
            ("x does not win", "x wins"),
            "CC BY 4.0",
            f"D. Aha (1991). Tic-Tac-Toe Endgame. {_UCI}. https://doi.org/10.24432/C5688J",
            True,
            "All end boards of games that x began; each square holds x, o or b (blank).",
        ),
        DatasetCard(
            "ionosphere",
            "which radar returns show structure in the ionosphere",
            351,
            34,
            225,
            ("bad", "good"),
            "CC BY 4.0",
            f"V. Sigillito, S. Wing, L. Hutton, K. Baker (1989). Ionosphere. {_UCI}. "
            "https://doi.org/10.24432/C5W01B",
            True,
            "Column f02 is zero in every row.",
        ),
        DatasetCard(
            "spambase",
            "which mails to put in the junk folder without a mistake",
            4601,
            57,
            1813,
            ("mail", "spam"),
            "CC BY 4.0",
            f"M. Hopkins, E. Reeber, G. Forman, J. Suermondt (1999). Spambase. {_UCI}. "
            "https://doi.org/10.24432/C53G6X",
            True,
            "391 rows repeat others; a split by row may put copies on both sides.",
        ),
        DatasetCard(
            "pima",
            "which women to test first for diabetes",
            768,
            8,
            268,
            ("no diabetes", "diabetes"),
            "none stated; does not ship",
            "J. Smith, J. Everhart, W. Dickson, W. Knowler, R. Johannes (1988). Using the ADAP learning "
            "algorithm to forecast the onset of diabetes mellitus. Symposium on Computer Applications "
            "in Medical Care.",
            False,
            "A zero in glucose, blood_pressure, skin_thickness, insulin or bmi means: not measured.",
        ),
        DatasetCard(
            "housing",
            "which Boston tracts touch the Charles River",
            506,
            13,
            35,
            ("elsewhere", "at the river"),
            "none stated; does not ship",
            "D. Harrison, D. Rubinfeld (1978). Hedonic housing prices and the demand for clean air. Journal "
            "of Environmental Economics and Management 5.",
            False,
            "Column b encodes the share of Black inhabitants: use the set only to reproduce the papers.",
        ),
    )
}

_PIMA = {
    "preg": "pregnancies",
    "plas": "glucose",
    "pres": "blood_pressure",
    "skin": "skin_thickness",
    "insu": "insulin",
    "mass": "bmi",
    "pedi": "pedigree",
    "age": "age",
}
_HOUSING = ("crim", "zn", "indus", "nox", "rm", "age", "dis", "rad", "tax", "ptratio", "b", "lstat", "medv")


def list_datasets() -> tuple[DatasetCard, ...]:
    """What is known of each data set, those that ship first.

    Examples
    --------
    >>> [card.name for card in list_datasets() if card.ships]
    ['wdbc', 'tictactoe', 'ionosphere', 'spambase']
    """
    return tuple(_CARDS.values())


def shipped_table(name: str) -> Table:
    """A data set that ships, as the table it is stored as, ``target`` last.

    Parameters
    ----------
    name : {"wdbc", "tictactoe", "ionosphere", "spambase"}
        The data set.

    Returns
    -------
    Table

    Raises
    ------
    InvalidParameter
        If no data set of this name ships.
    """
    card = _CARDS.get(name)
    if card is None or not card.ships:
        ships = ", ".join(card.name for card in _CARDS.values() if card.ships)
        raise InvalidParameter(f"No data set named {name!r} ships with pushrank; these do: {ships}.")
    with (resources.files("pushrank.datasets") / "data" / f"{name}.csv.gz").open("rb") as stream:
        return read_table(stream, target="target", format="csv")


def load_wdbc(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Wisconsin diagnostic breast cancer data: which masses to biopsy first.

    569 rows, 30 features, of which the papers use the first six; target 1 is malignant (212 rows), unlike in
    scikit-learn's ``load_breast_cancer``.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of a Bunch.
    as_frame : bool, default=False
        Whether data and target are pandas objects.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        With ``data``, ``target``, ``frame`` (None unless `as_frame`), ``feature_names``, ``target_names``,
        ``DESCR``, ``citation`` and ``licence``.

    Examples
    --------
    >>> X, y = load_wdbc(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((569, 30), 212)
    """
    return _numeric("wdbc", return_X_y, as_frame)


def load_ionosphere(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the ionosphere data: which radar returns show structure.

    351 rows, 34 features (``f02``, zero throughout, is among them; the paper leaves it out); target 1 is good
    (225 rows).

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_wdbc`.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_wdbc`.
    """
    return _numeric("ionosphere", return_X_y, as_frame)


def load_spambase(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the spambase data: which mails to put in the junk folder without a mistake.

    4,601 rows, 57 features; target 1 is spam (1,813 rows).

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_wdbc`.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_wdbc`.
    """
    return _numeric("spambase", return_X_y, as_frame)


def load_tictactoe(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    encoding: Literal["onehot", "ordinal", "words"] = "onehot",
) -> Any:
    """Load the tic-tac-toe end boards: which of them x has won.

    958 rows, nine squares; target 1 means that x has won (626 rows).

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_wdbc`.
    encoding : {"onehot", "ordinal", "words"}, default="onehot"
        How a square is written. ``"onehot"``: three columns of 0 and 1, such as ``top_left=x``, 27 in all, so
        that any estimator takes them. ``"ordinal"``: one number as in the P-Norm Push papers, o 0, x 1 and
        blank 2; a linear score of these can say little, since x lies between the others. ``"words"``: the
        letters x, o and b, in an object array.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_wdbc`.

    Examples
    --------
    >>> load_tictactoe().data.shape
    (958, 27)
    >>> load_tictactoe(encoding="words").data[0, :3]
    array(['x', 'x', 'x'], dtype=object)
    """
    table = shipped_table("tictactoe")
    letters = table.words()
    names = list(table.features)
    if encoding == "words":
        return _bunch("tictactoe", letters, table.y, names, return_X_y, as_frame)
    if encoding == "ordinal":
        codes = np.where(letters == "o", 0.0, np.where(letters == "x", 1.0, 2.0))
        return _bunch("tictactoe", codes, table.y, names, return_X_y, as_frame)
    if encoding != "onehot":
        raise InvalidParameter(f"encoding must be 'onehot', 'ordinal' or 'words'; got {encoding!r}.")
    indicators = (letters[:, :, np.newaxis] == np.array(["b", "o", "x"], dtype=object)).astype(np.float64)
    columns = [f"{name}={letter}" for name in names for letter in "box"]
    return _bunch("tictactoe", indicators.reshape(len(letters), -1), table.y, columns, return_X_y, as_frame)


def load_pima(
    *, path: str | os.PathLike[str] | None = None, return_X_y: bool = False, as_frame: bool = False
) -> Any:
    """Load the Pima diabetes data: which women to test first. The data do not ship, for want of a licence.

    768 rows, 8 features; target 1 is diabetes (268 rows).

    Parameters
    ----------
    path : str or path-like, default=None
        A file with the columns pregnancies, glucose, blood_pressure, skin_thickness, insulin, bmi, pedigree,
        age and target. Without it, ``pima.csv.gz`` or ``pima.csv`` in the folder that the environment
        variable ``PUSHRANK_DATA`` names; else the set ``diabetes``, version 1, is fetched from OpenML, which
        scikit-learn keeps in its data folder.
    return_X_y, as_frame : bool, default=False
        As in `load_wdbc`.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_wdbc`.

    Raises
    ------
    InvalidData
        If the data are not to be had, or are not the known ones by their rows and classes.
    """
    return _kept_elsewhere("pima", tuple(_PIMA.values()), path, return_X_y, as_frame)


def load_housing(
    *, path: str | os.PathLike[str] | None = None, return_X_y: bool = False, as_frame: bool = False
) -> Any:
    """Load the Boston housing data: which tracts touch the Charles River. The data do not ship.

    506 rows, 13 features, the price ``medv`` among them; target 1 (``chas`` of the source) touches the river
    (35 rows). Column ``b`` encodes the share of Black inhabitants: use the set only to reproduce the papers.

    Parameters
    ----------
    path : str or path-like, default=None
        A file with the columns crim, zn, indus, nox, rm, age, dis, rad, tax, ptratio, b, lstat, medv and
        target. Without it, ``housing.csv.gz`` or ``housing.csv`` in the folder that the environment variable
        ``PUSHRANK_DATA`` names; else the set ``boston``, version 1, is fetched from OpenML.
    return_X_y, as_frame : bool, default=False
        As in `load_wdbc`.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_wdbc`.

    Raises
    ------
    InvalidData
        If the data are not to be had, or are not the known ones by their rows and classes.
    """
    return _kept_elsewhere("housing", _HOUSING, path, return_X_y, as_frame)


def _numeric(name: str, return_X_y: bool, as_frame: bool) -> Any:
    table = shipped_table(name)
    return _bunch(name, table.matrix(), table.y, list(table.features), return_X_y, as_frame)


def _kept_elsewhere(
    name: str, features: Sequence[str], path: str | os.PathLike[str] | None, return_X_y: bool, as_frame: bool
) -> Any:
    local = Path(path) if path is not None else _in_folder(name)
    if local is None:
        columns = _from_openml(name)
        source = f"{name} as fetched from OpenML"
    else:
        table = read_table(local)
        columns, source = table.columns, table.source
        require_columns(columns, [*features, "target"], source)
        if any(table.holds_words(column) for column in (*features, "target")):
            raise InvalidData(f"{source} is not the {name} data: a column holds words; check the file.")
    y = columns["target"]
    card = _CARDS[name]
    if len(y) != card.n_items or np.count_nonzero(y == 1) != card.n_positives or not np.isin(y, (0, 1)).all():
        raise InvalidData(
            f"{source} is not the {name} data: {len(y)} rows, {np.count_nonzero(y == 1)} of them with target "
            f"1, where {card.n_items} and {card.n_positives} are known; check the file."
        )
    X = np.column_stack([columns[feature] for feature in features])
    return _bunch(name, X, y, list(features), return_X_y, as_frame)


def _in_folder(name: str) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    candidates = [Path(folder) / f"{name}.csv.gz", Path(folder) / f"{name}.csv"]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _from_openml(name: str) -> Mapping[str, Array]:
    from http.client import HTTPException

    from sklearn.datasets import fetch_openml

    online = {"pima": "diabetes", "housing": "boston"}[name]
    try:
        # as_frame=False and liac-arff do without pandas; few retries keep a machine off the net from
        # waiting.
        fetched = fetch_openml(online, version=1, as_frame=False, parser="liac-arff", n_retries=1)
        values = _decoded(fetched)
        if name == "pima":
            target = np.asarray(fetched.target) == "tested_positive"
            return {new: values[old] for old, new in _PIMA.items()} | {"target": target.astype(np.float64)}
        values["medv"] = np.asarray(fetched.target, dtype=np.float64)
        return {feature: values[feature] for feature in _HOUSING} | {"target": values["chas"]}
    except (OSError, HTTPException, ValueError, KeyError, AttributeError) as error:
        raise InvalidData(
            f"The {name} data do not ship with pushrank, and OpenML did not give them "
            f"({type(error).__name__}); pass path=, or set {FOLDER_VARIABLE} to the folder "
            f"that holds {name}.csv."
        ) from error


def _decoded(fetched: Any) -> dict[str, Array]:
    """The features as fetched, names in small letters; categories come as codes, and leave as values."""
    values: dict[str, Array] = {}
    categories = fetched.get("categories") or {}
    for j, feature in enumerate(fetched.feature_names):
        column = np.asarray(fetched.data[:, j], dtype=np.float64)
        if feature in categories:
            column = np.asarray(categories[feature], dtype=np.float64)[column.astype(np.intp)]
        values[feature.lower()] = column
    return values


def _bunch(name: str, X: Array, y: Array, feature_names: list[str], return_X_y: bool, as_frame: bool) -> Any:
    from sklearn.utils import Bunch

    # Row-major is what estimators copy to otherwise.
    data: Any = np.ascontiguousarray(X)
    target: Any = y.astype(np.int64)
    frame: Any = None
    if as_frame:
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise MissingExtra("as_frame=True needs pandas: pip install pandas.") from error
        frame = pandas.DataFrame(data, columns=feature_names)
        frame["target"] = target
        data, target = frame[feature_names], frame["target"]
    if return_X_y:
        return data, target
    card = _CARDS[name]
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=feature_names,
        target_names=np.array(card.target_names),
        DESCR=card.description,
        citation=card.citation,
        licence=card.licence,
    )
