"""A program as a file that any solver reads: LP or MPS, with one objective.

Variables are called ``x0``, ``x1``, ...; comments at the top say what each stands for. Products are written as
quadratic constraints (``[ x1 * x2 ]``, ``QCMATRIX``) and indicators as indicator constraints, as Gurobi, CPLEX and SCIP
read them. Numbers have all their digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from waypost.errors import FormatError
from waypost.formats.writing import write_text
from waypost.paper.encodings.program import Program, Terms

PER_LINE = 6  # terms; some readers take no more than 255 characters
# name, terms, products, sense, right side
_Line = tuple[str, list[tuple[int, float]], list[tuple[int, int, float]], str, float]


def export_program(program: Program, path: Path | str, *, title: str = "") -> None:
    """Write a program of one objective, in the format of the file's ending."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise FormatError(f"a program is written as .lp or .mps, not as {ending or 'a file without an ending'!r}")
    write_text(path, WRITERS[ending](program, title))


def to_lp(program: Program, title: str = "") -> str:
    r"""Program in the LP format.

    >>> from waypost.paper.encodings.program import Draft, Terms
    >>> draft = Draft()
    >>> x = draft.variable("apples", upper=2.5, integer=True)
    >>> draft.objective("max", [(x, 1.0)])
    >>> print(to_lp(draft.program()))
    \ x0: apples
    Maximize
     obj: 1.0 x0
    Subject To
    Bounds
     0.0 <= x0 <= 2.5
    Generals
     x0
    End
    <BLANKLINE>
    """
    objective = program.objectives[0]
    lines = [f"\\ {line}" for line in _comments(program, title)]
    lines += ["Minimize" if objective.sense == "min" else "Maximize", *_wrapped(" obj:", _sum(objective.terms))]
    lines.append("Subject To")
    for name, terms, products, sense, side in _rows(program):
        body = _sum(terms)
        if products:
            body += ["+ [", *(f"{_sign(w)} x{i} * x{j}" for i, j, w in products), "]"]
        lines += _wrapped(f" {name}:", [*body, f"{sense} {side!r}"])
    for k, row in enumerate(program.indicators):
        lines += _wrapped(f" i{k}: x{row.binary} = 1 ->", [*_sum(row.terms), f"<= {float(row.upper)!r}"])
    lines.append("Bounds")
    for j, (low, high) in enumerate(zip(program.lower.tolist(), program.upper.tolist(), strict=True)):
        free = low == -np.inf and high == np.inf
        lines.append(f" x{j} free" if free else f" {_bound(low)} <= x{j} <= {_bound(high)}")
    whole = [f"x{j}" for j in np.flatnonzero(program.integer).tolist()]
    lines += ["Generals", *_wrapped("", whole)] if whole else []
    return "\n".join([*lines, "End", ""])


def to_mps(program: Program, title: str = "") -> str:
    """Program in the free MPS format."""
    objective, rows = program.objectives[0], list(_rows(program))
    lines = [f"* {line}" for line in _comments(program, title)]
    lines += ["NAME waypost", "OBJSENSE", f"    {objective.sense.upper()}", "ROWS", " N obj"]
    kind = {"=": "E", "<=": "L", ">=": "G"}
    lines += [f" {kind[sense]} {name}" for name, _, _, sense, _ in rows]
    lines += [f" L i{k}" for k in range(len(program.indicators))]
    entries: list[list[tuple[str, float]]] = [[] for _ in program.lower]
    for j, a in objective.terms:
        entries[j].append(("obj", a))
    for name, terms, _, _, _ in rows:
        for j, a in terms:
            entries[j].append((name, a))
    for k, row in enumerate(program.indicators):
        for j, a in row.terms:
            entries[j].append((f"i{k}", a))
    lines.append("COLUMNS")
    for whole in (False, True):
        columns = np.flatnonzero(program.integer == whole).tolist()
        marked = whole and columns
        lines += [" M1 'MARKER' 'INTORG'"] if marked else []
        for j in columns:
            lines += [f" x{j} {name} {float(a)!r}" for name, a in entries[j] or [("obj", 0.0)]]
        lines += [" M2 'MARKER' 'INTEND'"] if marked else []
    lines.append("RHS")
    lines += [f" rhs {name} {side!r}" for name, _, _, _, side in rows if side]
    lines += [f" rhs i{k} {float(row.upper)!r}" for k, row in enumerate(program.indicators)]
    lines.append("BOUNDS")
    for j, (low, high) in enumerate(zip(program.lower.tolist(), program.upper.tolist(), strict=True)):
        lines.append(f" MI bnd x{j}" if low == -np.inf else f" LO bnd x{j} {low!r}")
        lines.append(f" PL bnd x{j}" if high == np.inf else f" UP bnd x{j} {high!r}")
    for name, _, products, _, _ in rows:
        if products:
            lines.append(f"QCMATRIX {name}")
            for i, j, w in products:  # the whole symmetric matrix
                lines += [f" x{i} x{j} {w / 2!r}", f" x{j} x{i} {w / 2!r}"] if i != j else [f" x{i} x{i} {w!r}"]
    if program.indicators:
        lines += ["INDICATORS", *(f" IF i{k} x{row.binary} 1" for k, row in enumerate(program.indicators))]
    return "\n".join([*lines, "ENDATA", ""])


WRITERS = {".lp": to_lp, ".mps": to_mps}


def _comments(program: Program, title: str) -> Iterator[str]:
    yield from title.splitlines()
    for j, name in enumerate(program.names):
        if name:
            yield f"x{j}: " + " ".join(name.split())


def _rows(program: Program) -> Iterator[_Line]:
    """Rows with one side each: one that is bounded on both becomes two."""
    matrix = program.rows
    for i in range(matrix.shape[0]):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        terms = list(zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True))
        yield from _sides(f"c{i}", terms, [], float(program.row_lower[i]), float(program.row_upper[i]))
    for k, row in enumerate(program.quadratic):
        yield from _sides(f"q{k}", list(row.terms), _merged(row.products), float(row.lower), float(row.upper))


def _merged(products: Iterable[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    total: dict[tuple[int, int], float] = {}
    for i, j, w in products:
        pair = (min(i, j), max(i, j))
        total[pair] = total.get(pair, 0.0) + w
    return [(i, j, w) for (i, j), w in total.items()]


def _sides(
    name: str, terms: list[tuple[int, float]], products: list[tuple[int, int, float]], low: float, high: float
) -> Iterator[_Line]:
    if low == high:
        yield name, terms, products, "=", low
        return
    if high < np.inf:
        yield f"{name}u", terms, products, "<=", high
    if low > -np.inf:
        yield f"{name}l", terms, products, ">=", low


def _sum(terms: Terms) -> list[str]:
    words = [f"{_sign(a)} x{j}" for j, a in terms] or ["0.0 x0"]
    return [words[0].removeprefix("+ "), *words[1:]]


def _sign(a: float) -> str:
    return f"{'-' if a < 0 else '+'} {abs(float(a))!r}"


def _bound(value: float) -> str:
    return "-inf" if value == -np.inf else "inf" if value == np.inf else repr(value)


def _wrapped(head: str, words: list[str]) -> Iterator[str]:
    for start in range(0, len(words), PER_LINE):
        yield (head if start == 0 else "  ") + " " + " ".join(words[start : start + PER_LINE])
