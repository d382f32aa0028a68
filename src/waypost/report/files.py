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
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from waypost.errors import FormatError, require
from waypost.formats.writing import write_bytes
from waypost.importance.results import Explanation
from waypost.report.html import render_html
from waypost.report.jsonfile import to_json
from waypost.report.rows import Row, columns, rows
from waypost.report.text import Groups, as_markdown, as_text, escape_markdown, summarise
from waypost.report.wording import number

Writer = Callable[[Any, int | None, Groups | None], str | bytes]

EXCEL_ROWS = 1_048_575  # below the heading
PICTURES = {".svg", ".png", ".pdf"}


def write_report(
    explanation: Explanation | Sequence[Explanation],
    path: str | Path,
    *,
    top: int | None = None,
    groups: Groups | None = None,
) -> None:
    """Write an explanation to a file, in the format that its ending names.

    Several explanations (several targets of one model) fit into an ``.html`` file only.

    >>> from waypost.cases import loan
    >>> from waypost.importance import explain
    >>> write_report(explain(loan(), target="Granted"), "loan.doc")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    waypost.errors.FormatError: cannot write 'loan.doc': the ending must be one of .csv .htm ...
    """
    path = Path(path)
    make = _WRITERS.get(path.suffix.lower())
    if make is None:
        raise FormatError(f"cannot write {str(path)!r}: the ending must be one of {' '.join(sorted(_WRITERS))}")
    if make is not _html and not isinstance(explanation, Explanation):
        raise FormatError(f"several targets fit into an .html file only, not into {str(path)!r}")
    save(path, make(explanation, top, groups))


def picture_kind(path: str | Path) -> str:
    """Kind of picture that a file's ending names.

    >>> picture_kind("loan.svg")
    'svg'
    """
    ending = Path(path).suffix.lower()
    if ending not in PICTURES:
        raise FormatError(f"cannot draw {str(path)!r}: the ending must be one of {' '.join(sorted(PICTURES))}")
    return ending[1:]


def save(path: str | Path, content: str | bytes) -> None:
    """Write a file whole or not at all; what is no character in a name is spelt out."""
    write_bytes(path, content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)


def neutral(text: str) -> str:
    """Text that a spreadsheet shows and does not run: a formula-like start is kept behind an apostrophe.

    >>> neutral("=HYPERLINK(A1)"), neutral("Application+"), neutral("-3")
    ("'=HYPERLINK(A1)", 'Application+', "'-3")
    """
    return f"'{text}" if re.match(r"\s*[=+\-@|%\t\r\n＝＋－＠]", text) else text


def to_csv(explanation: Explanation, top: int | None = None) -> str:
    """Explanation as CSV: full precision, fractions in exact mode, formula-like names neutralised."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns(explanation))
    for row in rows(explanation, top):
        writer.writerow([neutral(v) if isinstance(v, str) else _digits(v) for v in row.values()])
    return out.getvalue()


def to_markdown(explanation: Explanation, top: int | None = None, groups: Groups | None = None) -> str:
    """Explanation as Markdown: the words, then the table."""
    head = columns(explanation)
    lines = [as_markdown(summarise(explanation, top or 5, groups)), "## Table", ""]
    lines += ["| " + " | ".join(escape_markdown(name) for name in head) + " |", "|" + " --- |" * 3]
    lines[-1] += " ---: |" * (len(head) - 3)
    for row in rows(explanation, top):
        cells = [escape_markdown(v) if isinstance(v, str) else escape_markdown(number(v)) for v in row.values()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def to_excel(explanation: Explanation, top: int | None = None) -> bytes:
    """Explanation as an Excel workbook with one sheet; names are text, never formulas."""
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
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def to_parquet(explanation: Explanation, top: int | None = None) -> bytes:
    """Explanation as a Parquet table; exact numbers become text such as ``98/953``."""
    arrow = require("pyarrow", "table", "writing Parquet files")
    parquet = require("pyarrow.parquet", "table", "writing Parquet files")
    found = rows(explanation, top)
    table = arrow.table({name: [_parquet_value(row, name) for row in found] for name in columns(explanation)})
    table = table.replace_schema_metadata({"target": explanation.target, "made by": "waypost"})
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


def _digits(value: Any) -> str:
    return str(value) if isinstance(value, Fraction) else repr(float(value))


def _parquet_value(row: Row, name: str) -> Any:
    value = row[name]
    return str(value) if isinstance(value, Fraction) else value


_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _excel_cell(openpyxl: Any, sheet: Any, value: Any) -> Any:
    if not isinstance(value, str):
        return str(value) if isinstance(value, Fraction) and value.denominator != 1 else float(value)
    cell = openpyxl.cell.WriteOnlyCell(sheet, value=_NOT_IN_XML.sub("\ufffd", value)[:32000])
    cell.data_type = "s"  # a string even where it starts like a formula
    return cell


def _html(explanation: Any, top: int | None, groups: Groups | None) -> str:
    return render_html(explanation, top=top or 5, groups=[groups] if groups else ())


def _picture(kind: str) -> Writer:
    def make(explanation: Any, top: int | None, _: Groups | None) -> bytes:
        from waypost.report.plot import plot_graph, to_bytes

        return to_bytes(plot_graph(explanation, top=top or 40), kind)

    return make


_WRITERS: dict[str, Writer] = {
    ".json": lambda explanation, _top, _groups: to_json(explanation),
    ".csv": lambda explanation, top, _groups: to_csv(explanation, top),
    ".md": to_markdown,
    ".txt": lambda explanation, top, groups: as_text(summarise(explanation, top or 5, groups)),
    ".xlsx": lambda explanation, top, _groups: to_excel(explanation, top),
    ".parquet": lambda explanation, top, _groups: to_parquet(explanation, top),
    ".html": _html,
    ".htm": _html,
    **{f".{kind}": _picture(kind) for kind in ("svg", "png", "pdf")},
}
