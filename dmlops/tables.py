"""Small tables as text and as HTML: for shells, and for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence

__all__ = ["as_html", "as_text"]


def as_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns two spaces apart: the first to the left, numbers to the right."""
    table = [header, *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    right = [k > 0 and any(map(_is_number, column)) for k, column in enumerate(zip(*rows, strict=True))] or [False] * len(header)
    lines = []
    for row in table:
        cells = zip(row, widths, right, strict=True)
        lines.append("  ".join(cell.rjust(width) if at_right else cell.ljust(width) for cell, width, at_right in cells).rstrip())
    return "\n".join(lines)


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
