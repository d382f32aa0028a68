"""Answers by state: a mapping from names, with what reports make of it one call away."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from waypost.arguments import Positive, checked
from waypost.errors import ArgumentError, NameUnknownError
from waypost.model import MDP

if TYPE_CHECKING:
    from waypost.importance.results import Explanation

T = TypeVar("T")


class ByState(Mapping[str, T]):
    """A mapping from the names of the states asked for, in the order asked for."""

    mdp: MDP
    asked: NDArray[np.int64]  # (n,) states in the order asked for

    @abstractmethod
    def at(self, position: int) -> T:
        """What is known of the state at a position of `asked`."""

    @abstractmethod
    def as_explanation(self) -> Explanation:
        """What reports are made from."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the states, in the order asked for."""
        return tuple(self.mdp.states[s] for s in self.asked)

    def __len__(self) -> int:
        return len(self.asked)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.mdp.index.get(name, -1) in self.asked

    def __getitem__(self, name: str) -> T:
        return self.at(self.position(name))

    def position(self, name: str) -> int:
        """Position of a state in `asked`."""
        found = np.flatnonzero(self.asked == self.mdp.state(name))
        if not len(found):
            raise NameUnknownError(f"state {name!r} is in the model but was not asked for")
        return int(found[0])

    def plot(self, picture: Literal["bars", "graph", "grid"] = "bars", **options: Any) -> Any:
        """Picture of the answer, as a matplotlib figure; needs ``waypost[plot]``.

        Parameters
        ----------
        picture
            "bars", the intervals of the most important states; "graph", the process coloured by importance; or
            "grid", for states with coordinates: the bounds of fields of several states are computed first.
        **options
            Those of `waypost.report.plot_bars`, `plot_graph` or `plot_grid`.

        Returns
        -------
        matplotlib.figure.Figure
            Notebooks show it.
        """
        if picture not in ("bars", "graph", "grid"):
            raise ArgumentError(f"a picture is 'bars', 'graph' or 'grid', not {picture!r}")
        explained = self.as_explanation()
        if picture == "grid":
            explained = _with_fields(explained, options.get("coordinates"))
        return report(f"plot_{picture}")(explained, **options)

    def to_html(self, **options: Any) -> str:
        """One page to explore offline, as text; `options` are those of `waypost.report.render_html`."""
        return str(report("render_html")(self.as_explanation(), **options))

    @checked
    def summary(self, top: Positive = 5) -> Any:
        """The answer in words, at most `top` lines per section; prints as text, and notebooks show it formatted."""
        return report("summarise")(self.as_explanation(), top)


def _with_fields(explanation: Explanation, coordinates: Any) -> Explanation:
    """Explanation that carries all that a grid shows."""
    from waypost.importance.groups import with_groups

    return with_groups(explanation, report("unknown_fields")(explanation, coordinates))


def report(name: str) -> Any:
    """What draws and writes, imported when it is asked for: answers know nothing of reports."""
    return getattr(importlib.import_module("waypost.report"), name)
