"""Small tables as text and as HTML: for shells, and for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence

__all__ = ["as_html", "as_text"]


def as_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns two spaces apart: the first to the left, numbers to the right."""
    columns = list(zip(header, *rows, strict=True))
    laid_out = []
    for k, column in enumerate(columns):
        width = max(map(len, column))
        right = k > 0 and any(map(_is_number, column))
        laid_out.append([cell.rjust(width) if right else cell.ljust(width) for cell in column])
    return "\n".join("  ".join(line).rstrip() for line in zip(*laid_out, strict=True))


def as_html(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table; the page styles it."""

    def row_of(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row_of("td", row) for row in rows)
    return f"<table><thead>{row_of('th', header)}</thead><tbody>{body}</tbody></table>"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
