"""Whether DirectML would take a description."""

from __future__ import annotations

from dmlops.directml.checks import Checks
from dmlops.directml.enums import level_name
from dmlops.directml.errors import DirectMLError, Problem
from dmlops.directml.rules import RULES
from dmlops.directml.tables import LEVELS, PAGES, first_level, support_at
from dmlops.directml.tensor import OPERATOR_DESC

__all__ = ["lowest_feature_level", "problems", "validate"]


def validate(desc: OPERATOR_DESC, feature_level: str | int | None = "6_4") -> None:
    """Check a description by the rules of a feature level.

    Parameters
    ----------
    desc : OPERATOR_DESC
        The description of an operator: ``SLICE1_OPERATOR_DESC(...)``.
    feature_level : str, int or None, optional
        ``"3_0"``, ``"DML_FEATURE_LEVEL_3_0"`` or ``0x3000``. None checks only what is needed to run: sizes that agree, windows
        inside the input, data types that NumPy has.

    Raises
    ------
    DirectMLError
        Rules are broken. `problems` has each, with the field, what it is, what is allowed and the document that says so. What
        DirectML would compute, as linear interpolation, is refused too.
    ValueError
        There is no such feature level.
    TypeError
        `desc` is no description of an operator.

    Examples
    --------
    >>> import dmlops.directml as dml
    >>> x, y = dml.TENSOR_DESC("INT64", [2, 3]), dml.TENSOR_DESC("INT64", [3, 2])
    >>> dml.validate(dml.TILE_OPERATOR_DESC(x, dml.TENSOR_DESC("INT64", [4, 3]), 2, [2, 1]), "4_1")
    >>> try:
    ...     dml.validate(dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y), None)
    ... except dml.DirectMLError as error:
    ...     print(error.problems[0].field, "is", error.problems[0].value)
    OutputTensor.Sizes is [3, 2]
    """
    level = None if feature_level is None else level_name(feature_level)
    found = problems(desc, level)
    if found:
        subject = f"DML_{type(desc).__name__}"
        raise DirectMLError(f"{subject} at feature level {level}" if level else subject, found)


def problems(desc: OPERATOR_DESC, level: str | None) -> list[Problem]:
    """List the rules that a description breaks."""
    if not isinstance(desc, OPERATOR_DESC) or desc.operator not in RULES:
        raise TypeError(f"desc is {type(desc).__name__}; allowed: a description of an operator, as SLICE1_OPERATOR_DESC")
    if level and support_at(desc.operator, level) is None:
        allowed = f"feature level {first_level(desc.operator)} or later"
        return [Problem("operator", f"not in feature level {level}", allowed, PAGES[desc.operator])]
    check = Checks(desc, level)
    if check.tensors():
        RULES[desc.operator](check, desc)
    return check.problems


def lowest_feature_level(desc: OPERATOR_DESC) -> str | None:
    """Return the first feature level at which DirectML takes a description, or None if none does.

    This is about DirectML alone: it also takes operators that compute, as an ``ELEMENT_WISE_IDENTITY`` with a `ScaleBias`.

    Parameters
    ----------
    desc : OPERATOR_DESC
        The description of an operator.

    Returns
    -------
    str or None
        ``"2_1"``, for example.

    Examples
    --------
    >>> import dmlops.directml as dml
    >>> x, y = dml.TENSOR_DESC("INT8", [1, 1, 4, 4]), dml.TENSOR_DESC("INT8", [1, 1, 4, 2])
    >>> dml.lowest_feature_level(dml.SLICE1_OPERATOR_DESC(x, y, 4, [0] * 4, [1, 1, 4, 4], [1, 1, -1, 2]))
    '2_1'
    >>> empty = dml.TENSOR_DESC("INT8", [1, 1, 4, 0])
    >>> dml.lowest_feature_level(dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(empty, empty)) is None
    True
    """
    return next((level for level in LEVELS if all(problem.computes for problem in problems(desc, level))), None)
