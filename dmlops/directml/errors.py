"""The exception of dmlops.directml: every rule that a description breaks, in one error."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

__all__ = ["DirectMLError", "Problem"]


@dataclasses.dataclass(frozen=True)
class Problem:
    """A rule that is broken.

    Attributes
    ----------
    field : str
        Which field breaks it: ``"InputTensor.Sizes[2]"``.
    value : str
        What the field is.
    allowed : str
        What it may be.
    document : str
        The address of the document that says so.
    computes : bool
        True where DirectML takes the value, but the operator then computes, which dmlops does not.
    """

    field: str
    value: str
    allowed: str
    document: str = ""
    computes: bool = False

    def __str__(self) -> str:
        return f"{self.field} is {self.value}; allowed: {self.allowed}{f' ({self.document})' if self.document else ''}"


class DirectMLError(ValueError):
    """A description that DirectML would refuse, or bindings that do not fit it.

    Attributes
    ----------
    subject : str
        What is wrong: the name of a description, and the feature level whose rules it breaks.
    problems : tuple of Problem
        Each rule that is broken.
    """

    __module__ = "dmlops.directml"

    def __init__(self, subject: str, problems: Iterable[Problem] = ()) -> None:
        self.subject = subject
        self.problems = tuple(problems)
        super().__init__(subject, self.problems)

    def __str__(self) -> str:
        if len(self.problems) < 2:
            return ": ".join([self.subject, *map(str, self.problems)])
        return "\n  ".join([f"{self.subject}: {len(self.problems)} problems", *self._texts()])

    @property
    def line(self) -> str:
        """The whole message in one line."""
        return f"{self.subject}: {'; '.join(self._texts())}" if self.problems else self.subject

    def _texts(self) -> list[str]:
        """The problems as text. Those after the twentieth are only counted."""
        texts = [str(problem) for problem in self.problems[:20]]
        return texts + ([f"and {len(self.problems) - 20} more"] if len(self.problems) > 20 else [])

    def within(self, place: str) -> DirectMLError:
        """Return the same error, its fields told from a place further out: ``dispatchables.crop.desc``."""
        problems = (dataclasses.replace(problem, field=f"{place}.{problem.field}") for problem in self.problems)
        return DirectMLError(self.subject, problems)
