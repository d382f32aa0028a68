"""What an optimisation problem is, whoever solves it: variables, rows, products, indicators, objectives in order.

A `Program` is plain data, built once by a `Draft` and handed to a solver. Rows are linear, ``lower <= a x <= upper``;
products add bilinear terms ``w x_i x_j`` to a row; an indicator row holds only while its binary variable is 1.
Objectives are hierarchical (paper, Sect. 3.2): each is optimised among the optima of those before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

INFINITY = float("inf")
HELD = 1e-7  # how much of an objective may be lost to a less important one

Sense = Literal["min", "max"]
Terms = Iterable[tuple[int, float]]  # (variable, coefficient)
Products = Iterable[tuple[int, int, float]]  # (variable, variable, coefficient)
BlockEntries = tuple[ArrayLike, ArrayLike, ArrayLike]  # rows, variables, coefficients, side by side


@dataclass(frozen=True)
class QuadraticRow:
    """``lower <= sum w x_i x_j + sum a x <= upper``."""

    products: tuple[tuple[int, int, float], ...]
    terms: tuple[tuple[int, float], ...]
    lower: float
    upper: float


@dataclass(frozen=True)
class IndicatorRow:
    """``x_binary = 1`` implies ``sum a x <= upper``."""

    binary: int
    terms: tuple[tuple[int, float], ...]
    upper: float


@dataclass(frozen=True)
class Objective:
    """A linear form to be minimised or maximised."""

    sense: Sense
    terms: tuple[tuple[int, float], ...]

    def value(self, x: NDArray[np.float64]) -> float:
        """Value of the form at a point."""
        return float(sum(a * x[j] for j, a in self.terms))


@dataclass(frozen=True, eq=False)
class Program:
    """An optimisation problem in `n` variables.

    >>> draft = Draft()
    >>> x, y = draft.variables(2, upper=1.0)
    >>> draft.row([(x, 1.0), (y, 1.0)], upper=1.5)
    >>> draft.objective("max", [(x, 2.0), (y, 1.0)])
    >>> draft.program()
    Program(variables=2, integer=0, rows=1, quadratic=0, indicators=0, objectives=1)
    """

    lower: NDArray[np.float64]  # (n,)
    upper: NDArray[np.float64]  # (n,)
    integer: NDArray[np.bool_]  # (n,)
    rows: csr_array  # (m, n)
    row_lower: NDArray[np.float64]  # (m,)
    row_upper: NDArray[np.float64]  # (m,)
    quadratic: tuple[QuadraticRow, ...]
    indicators: tuple[IndicatorRow, ...]
    objectives: tuple[Objective, ...]  # the most important first
    names: tuple[str, ...] = ()  # (n,) what each variable stands for

    def __repr__(self) -> str:
        return (
            f"Program(variables={len(self.lower)}, integer={int(self.integer.sum())}, rows={self.rows.shape[0]}, "
            f"quadratic={len(self.quadratic)}, indicators={len(self.indicators)}, objectives={len(self.objectives)})"
        )

    def for_stage(self, stage: int, reached: float | None, slack: float) -> Program:
        """Return the program of one objective alone, the one before it held at the value it `reached`."""
        objectives = (self.objectives[stage],)
        if reached is None:
            return replace(self, objectives=objectives)
        before = self.objectives[stage - 1]
        worst = slack * max(1.0, abs(reached))
        low, high = (-INFINITY, reached + worst) if before.sense == "min" else (reached - worst, INFINITY)
        held = QuadraticRow((), before.terms, low, high)
        return replace(self, objectives=objectives, quadratic=(*self.quadratic, held))

    def broken_by(self, x: NDArray[np.float64]) -> float:
        """Return the largest violation of any bound, row or product at a point (indicators where theirs is on)."""
        worst = [0.0, *(self.lower - x), *(x - self.upper)]
        activity = self.rows @ x
        worst += [*(self.row_lower - activity), *(activity - self.row_upper)]
        for row in self.quadratic:
            value = sum(w * x[i] * x[j] for i, j, w in row.products) + sum(a * x[j] for j, a in row.terms)
            worst += [row.lower - value, value - row.upper]
        for indicator in self.indicators:
            if x[indicator.binary] > 0.5:
                worst.append(sum(a * x[j] for j, a in indicator.terms) - indicator.upper)
        return float(max(worst))


@dataclass(frozen=True)
class Readout:
    """How the last objective of an encoding is read as an importance: divided, and perhaps taken from 1."""

    divisor: float = 1.0
    complement: bool = False

    def importance(self, objective: float) -> float:
        """Importance that an objective value stands for."""
        share = objective / self.divisor
        return 1.0 - share if self.complement else share


@dataclass
class Draft:
    """A program on its way: variables and rows are added one after the other."""

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    integer: list[bool] = field(default_factory=list)
    entries: list[BlockEntries] = field(default_factory=list)  # of the rows, block by block
    row_lower: list[float] = field(default_factory=list)
    row_upper: list[float] = field(default_factory=list)
    products: list[QuadraticRow] = field(default_factory=list)
    indicators: list[IndicatorRow] = field(default_factory=list)
    objectives: list[Objective] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def variables(
        self,
        names: int | Iterable[str],
        *,
        lower: float = 0.0,
        upper: float = INFINITY,
        integer: bool = False,
    ) -> tuple[int, ...]:
        """Add variables with the same bounds, by what they stand for or only so many; returns their positions."""
        start = len(self.lower)
        called = [""] * names if isinstance(names, int) else list(names)
        count = len(called)
        self.names += called
        self.lower += [lower] * count
        self.upper += [upper] * count
        self.integer += [integer] * count
        return tuple(range(start, start + count))

    def variable(self, name: str = "", *, lower: float = 0.0, upper: float = INFINITY, integer: bool = False) -> int:
        """Add one variable; returns its position."""
        return self.variables([name], lower=lower, upper=upper, integer=integer)[0]

    def row(self, terms: Terms, *, lower: float = -INFINITY, upper: float = INFINITY) -> None:
        """Add ``lower <= sum a x <= upper``; a variable may occur several times."""
        column, coefficient = [], []
        for j, a in terms:
            column.append(j)
            coefficient.append(a)
        self.block(([0] * len(column), column, coefficient), lower=[lower], upper=[upper])

    def block(self, entries: BlockEntries, *, lower: Iterable[float], upper: Iterable[float]) -> None:
        """Add rows together, by their entries: the row, counted from 0 in this block, the variable, the coefficient.

        >>> draft = Draft()
        >>> x, y = draft.variables(2)
        >>> draft.block(([0, 0, 1], [x, y, y], [1.0, -1.0, 2.0]), lower=[0.0, 1.0], upper=[0.0, 4.0])
        >>> draft.program().rows.toarray().tolist()
        [[1.0, -1.0], [0.0, 2.0]]
        """
        row, column, coefficient = entries
        self.entries.append((np.asarray(row, np.int64) + len(self.row_lower), column, coefficient))
        self.row_lower.extend(lower)
        self.row_upper.extend(upper)

    def quadratic(self, products: Products, terms: Terms, *, lower: float = -INFINITY, upper: float = INFINITY) -> None:
        """Add a row with products; one without any becomes linear."""
        products, terms = tuple(products), tuple(terms)
        if products:
            self.products.append(QuadraticRow(products, _collected(terms), lower, upper))
        else:
            self.row(terms, lower=lower, upper=upper)

    def indicator(self, binary: int, terms: Terms, *, upper: float) -> None:
        """Add a row that holds while the binary variable is 1."""
        self.indicators.append(IndicatorRow(binary, _collected(terms), upper))

    def objective(self, sense: Sense, terms: Terms) -> None:
        """Add an objective, less important than those before it."""
        self.objectives.append(Objective(sense, _collected(terms)))

    def program(self) -> Program:
        """Freeze what was drafted."""
        shape = (len(self.row_lower), len(self.lower))
        row, column = (np.concatenate([[], *(e[k] for e in self.entries)]).astype(np.int64) for k in (0, 1))
        coefficient = np.concatenate([[], *(e[2] for e in self.entries)])
        rows = csr_array((coefficient, (row, column)), shape=shape, dtype=float)
        rows.sum_duplicates()
        return Program(
            np.array(self.lower),
            np.array(self.upper),
            np.array(self.integer, bool),
            rows,
            np.array(self.row_lower),
            np.array(self.row_upper),
            tuple(self.products),
            tuple(self.indicators),
            tuple(self.objectives),
            tuple(self.names),
        )


def _collected(terms: Terms) -> tuple[tuple[int, float], ...]:
    total: dict[int, float] = {}
    for j, a in terms:
        total[j] = total.get(j, 0.0) + a
    return tuple(total.items())
