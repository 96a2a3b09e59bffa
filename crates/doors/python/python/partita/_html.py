"""Pages as text: files of them, and small ones for notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from html import escape
from typing import Any


def table(title: str, rows: Iterable[tuple[str, Any]], more: str = "") -> str:
    """A table of names and values under a title."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<div><strong>{escape(title)}</strong><table>{cells}</table>{more}</div>"


def bars(sizes: list[int], heading: tuple[str, str] = ("cluster", "objects"), first: int = 0) -> str:
    """Sizes as bars under a heading, numbered from ``first``."""
    most = max(sizes, default=1) or 1
    rows = "".join(
        f"<tr><td>{label}</td><td>{size}</td>"
        f"<td><div style='background:#4878a8;height:.7em;width:{round(120 * size / most)}px'></div></td></tr>"
        for label, size in enumerate(sizes, start=first)
    )
    return f"<table><tr><th>{heading[0]}</th><th>{heading[1]}</th><th></th></tr>{rows}</table>"


def save_text(text: str, path: str | os.PathLike[str] | None) -> str:
    """The text, which is also written to a file where there is a path."""
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return text
