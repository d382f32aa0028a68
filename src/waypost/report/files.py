"""An explanation in a file: the ending says which kind.

::

    .json   versioned, for programs        .csv .xlsx .parquet   one row per state
    .md     words and a table              .txt                  words
    .html   the page                       .svg .png .pdf        a picture

A file is written beside its place and moved there when it is complete, so that a failure leaves nothing half-written.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from waypost.arguments import Positive, checked
from waypost.errors import FormatError, require
from waypost.formats.writing import write_bytes
from waypost.importance.results import Explanation
from waypost.report.coordinates import unknown_fields
from waypost.report.palette import Theme
from waypost.report.planning import PAGES, PICTURES, Picture, shown_picture
from waypost.report.records import columns, rows, texts
from waypost.report.wording import number

EXCEL_ROWS = 1_048_575  # below the heading


@checked
def write_report(
    explanation: Explanation | Sequence[Explanation], path: str | Path, *, ending: str | None = None, **how: Any
) -> None:
    """Write an explanation to a file, in the format that its ending names, or that `ending` names.

    Everything else is as `render_report` has it.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> write_report(explain(loan(), target="Granted"), "loan.doc")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    waypost.errors.FormatError: cannot write 'loan.doc': the ending must be one of .csv .htm ...
    """
    content = render_report(explanation, ending or ending_of(path), **how)
    # what is no character in a name is spelt out
    write_bytes(path, content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)


@checked
def render_report(
    explanation: Explanation | Sequence[Explanation],
    ending: str,
    *,
    top: Positive | None = None,
    cases: Mapping[str, Sequence[str]] | None = None,
    picture: Picture = "auto",
    theme: Theme = "light",
) -> str | bytes:
    """Explanation as what a file with this ending holds.

    Parameters
    ----------
    explanation
        One explanation; several, of several targets of one model, fit into a page only.
    ending
        Such as ``.csv``; see `waypost.report.files`.
    top
        How much is said or drawn; every format has its own default.
    cases
        Names of example cases for states of a model that was learned from a log, for a page.
    picture
        What pictures show: "graph", "bars", "grid", or the grid where states have coordinates and the graph elsewhere.
    theme
        Colours of pictures.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> render_report(explain(loan(), target="Granted"), ".csv", top=1).splitlines()[1]
    's0,,start,1.0,1.0,1.0,1.0'
    """
    if ending in PAGES:
        from waypost.report.html import render_html

        return render_html(explanation, top=top or 5, cases=cases)
    if not isinstance(explanation, Explanation):
        raise FormatError(f"several targets fit into an .html file only, not into a {ending} file")
    if ending in PICTURES:
        return _drawn(explanation, ending[1:], picture, top, theme)
    return _WRITERS[ending_of(f"file{ending}")](explanation, top)


def ending_of(path: str | Path, known: Collection[str] = ()) -> str:
    """Ending of a file, checked to be one that a report is written in (or one of those `known`).

    >>> ending_of("loan.SVG", PICTURES)
    '.svg'
    """
    ending, known = Path(path).suffix.lower(), known or {*_WRITERS, *PAGES, *PICTURES}
    if ending not in known:
        raise FormatError(f"cannot write {str(path)!r}: the ending must be one of {' '.join(sorted(known))}")
    return ending


def neutral(text: str) -> str:
    """Text that a spreadsheet shows and does not run: a formula-like start is kept behind an apostrophe.

    >>> neutral("=HYPERLINK(A1)"), neutral("Application+"), neutral("-3")
    ("'=HYPERLINK(A1)", 'Application+', "'-3")
    """
    return f"'{text}" if re.match(r"\s*[=+\-@|%\t\r\n＝＋－＠]", text) else text


@checked
def to_csv(explanation: Explanation, top: Positive | None = None) -> str:
    """Explanation as CSV: full precision, fractions in exact mode, formula-like names neutralised."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns(explanation))
    for row in rows(explanation, top):
        writer.writerow([neutral(v) if isinstance(v, str) else _plain(v) for v in row.values()])
    return out.getvalue()


@checked
def to_markdown(explanation: Explanation, top: Positive | None = None) -> str:
    """Explanation as Markdown: the words, then the table."""
    from waypost.report.text import as_markdown, escape_markdown, summarise

    head = columns(explanation)
    lines = [as_markdown(summarise(explanation, top or 5)), "## Table", ""]
    lines += ["| " + " | ".join(map(escape_markdown, head)) + " |"]
    words = texts(explanation)
    lines += ["|" + " --- |" * words + " ---: |" * (len(head) - words)]
    for row in rows(explanation, top):
        cells = (escape_markdown(_written(v)) for v in row.values())
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


@checked
def to_words(explanation: Explanation, top: Positive | None = None) -> str:
    """Explanation as plain text."""
    from waypost.report.text import as_text, summarise

    return as_text(summarise(explanation, top or 5))


@checked
def to_excel(explanation: Explanation, top: Positive | None = None) -> bytes:
    """Explanation as an Excel workbook; names are text, never formulas.

    Decisions, ways and segments have sheets of their own, where the explanation has them.
    """
    from waypost.report.insight import tables

    openpyxl = require("openpyxl", "table", "writing Excel files")
    found = rows(explanation, top)
    if len(found) > EXCEL_ROWS:
        raise FormatError(f"an Excel sheet holds {EXCEL_ROWS:,} states, not {len(found):,}; write .csv or .parquet")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("importance")
    sheet.freeze_panes = "B2"
    sheet.append(columns(explanation))
    for row in found:
        sheet.append([_excel_cell(openpyxl, sheet, value) for value in row.values()])
    for name, lines in tables(explanation).items():
        further = book.create_sheet(name)
        further.freeze_panes = "B2"
        further.append(list(lines[0]))
        for line in lines[:EXCEL_ROWS]:
            further.append([_excel_cell(openpyxl, further, value) for value in line.values()])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@checked
def to_parquet(explanation: Explanation, top: Positive | None = None) -> bytes:
    """Explanation as a Parquet table; exact numbers become text such as ``98/953``."""
    arrow = require("pyarrow", "table", "writing Parquet files")
    parquet = require("pyarrow.parquet", "table", "writing Parquet files")
    found = rows(explanation, top)
    table = arrow.table({name: [_plain(row[name]) for row in found] for name in columns(explanation)})
    table = table.replace_schema_metadata({"target": explanation.target, "made by": "waypost"})
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


def _json(explanation: Explanation, _: int | None) -> str:
    from waypost.report.jsonfile import to_json

    return to_json(explanation)


def _written(value: Any) -> str:
    """Write a value for people: numbers short, counts whole, what is missing as nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else number(value)


def _plain(value: Any) -> Any:
    """Exact numbers as text, everything else as it is."""
    return str(value) if isinstance(value, Fraction) else value


_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _excel_cell(openpyxl: Any, sheet: Any, value: Any) -> Any:
    if value is None or isinstance(value, int):
        return value
    if not isinstance(value, str):
        return str(value) if isinstance(value, Fraction) and value.denominator != 1 else float(value)
    cell = openpyxl.cell.WriteOnlyCell(sheet, value=_NOT_IN_XML.sub("\ufffd", value)[:32000])
    cell.data_type = "s"  # a string even where it starts like a formula
    return cell


def _drawn(explanation: Explanation, kind: str, picture: Picture, top: int | None, theme: Theme) -> bytes:
    from waypost.report.grid import plot_grid
    from waypost.report.plot import plot_bars, plot_graph, to_bytes

    shown = shown_picture(explanation.mdp, picture)
    if picture == "auto" and shown == "grid" and unknown_fields(explanation):
        shown = "graph"  # nobody asked for what a grid shows
    if shown == "bars":
        return to_bytes(plot_bars(explanation, top=top or 20, theme=theme), kind)
    if shown == "grid":
        return to_bytes(plot_grid(explanation, theme=theme), kind)
    return to_bytes(plot_graph(explanation, top=top or 40, theme=theme), kind)


_WRITERS: dict[str, Callable[[Explanation, int | None], str | bytes]] = {
    ".json": _json,
    ".csv": to_csv,
    ".md": to_markdown,
    ".txt": to_words,
    ".xlsx": to_excel,
    ".parquet": to_parquet,
}
