"""Expressions mean what they mean to Storm: random ones, on every state of one model."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from waypost.formats import read_mdp
from waypost.formats.brackets import bracketed
from waypost.model.expressions import states_where

pytest.importorskip("stormpy", reason="Storm is the judge")

PROGRAM = """mdp
const int N = 3;
const double p = 0.25;
const bool yes = true;
formula near = x-y<=N;
formula twice = 2*x;
module walk
  x : [-3..4] init -3;
  y : [0..2] init 0;
  open : bool init false;
  never : [0..5] init N+1;  // a variable that nothing changes
  [a] x<4 -> (x'=x+1);
  [b] y<2 -> (y'=y+1)&(x'=-3);
  [c] true -> (open'=!open);
endmodule
label "high" = x>=2;
"""
LOOSE, ATOM = 0, 11
# Nothing is divided by zero, which PRISM forbids, and remainders are of what is not negative: Storm's mod(-6, 3) is 3.
Written = tuple[str, str]  # as PRISM lets us write it, and with every bracket


class Expressions:
    """Random expressions of the right types; brackets stand in the first text only where PRISM's precedence asks."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311

    def _within(self, written: Written, level: int, needed: int) -> Written:
        """The same as a part of something that binds with the strength `needed`."""
        text, full = written
        return (f"({text})" if level < needed else text), full

    def _joined(self, signs: str, left: Written, right: Written) -> Written:
        sign = self.draw.choice(signs.split())
        storms = {"<=>": "="}.get(sign, sign)  # Storm has no sign of its own for it
        return f"{left[0]} {sign} {right[0]}", f"(({left[1]}) {storms} ({right[1]}))"

    def condition(self, depth: int, needed: int = LOOSE) -> Written:
        """Something that is true or false."""
        if depth == 0 or self.draw.random() < 0.1:
            text = self.draw.choice(["open", "true", "false", "near", "yes", '"high"'])
            return text, "(x>=2)" if text == '"high"' else text
        inner, number = self.condition, self.number
        kinds: list[tuple[int, Callable[[], Written]]] = [
            (0, lambda: self._chosen(depth, inner)),
            (1, lambda: self._joined("=>", inner(depth - 1, 1), inner(depth - 1, 2))),
            (2, lambda: self._joined("<=>", inner(depth - 1, 2), inner(depth - 1, 3))),
            (3, lambda: self._joined("|", inner(depth - 1, 3), inner(depth - 1, 4))),
            (4, lambda: self._joined("&", inner(depth - 1, 4), inner(depth - 1, 5))),
            (5, lambda: self._before("!", inner(depth - 1, 5))),
            (6, lambda: self._joined("= !=", inner(depth - 1, 7), inner(depth - 1, 7))),
            (6, lambda: self._joined("= !=", number(depth - 1, 7), number(depth - 1, 7))),
            (7, lambda: self._joined("< <= > >=", number(depth - 1, 8), number(depth - 1, 8))),
            (7, lambda: self._joined("< <= > >=", number(depth - 1, 8), number(depth - 1, 8))),
        ]
        level, make = self.draw.choice(kinds)
        return self._within(make(), level, needed)

    def number(self, depth: int, needed: int = LOOSE, *, whole: bool = False) -> Written:
        """Some number, or a whole one."""
        if depth == 0 or self.draw.random() < 0.15:
            text = self.draw.choice(
                ["x", "y", "N", "1", "2", "never", "twice", *([] if whole else ["p", "0.5", "1.5"])]
            )
            return text, text

        def inner(needed: int, whole: bool = whole) -> Written:
            return self.number(depth - 1, needed, whole=whole)

        kinds: list[tuple[int, Callable[[], Written]]] = [
            (0, lambda: self._chosen(depth, lambda d, n: self.number(d, n, whole=whole))),
            (8, lambda: self._joined("+ -", inner(8), inner(9))),
            (8, lambda: self._joined("+ -", inner(8), inner(9))),
            (9, lambda: self._joined("*", inner(9), inner(10))),
            (9, lambda: self._joined("*" if whole else "/", inner(9), self._one_of("2 (y+1) N p never"))),
            (10, lambda: self._before("-", inner(10))),
            (ATOM, lambda: self._called(self.draw.choice(["min", "max"]), inner(0), inner(0))),
            (ATOM, lambda: self._called("mod", self._one_of("y x+3 never+y"), self._one_of("2 3 N"))),
            (ATOM, lambda: self._called("pow", self._one_of("y x twice"), self._one_of("0 2 y"))),
            (ATOM, lambda: self._called(self.draw.choice(["floor", "ceil"]), inner(0, False))),
        ]
        level, make = self.draw.choice(kinds)
        return self._within(make(), level, needed)

    def _chosen(self, depth: int, part: Callable[[int, int], Written]) -> Written:
        of, then, other = self.condition(depth - 1, 1), part(depth - 1, 0), part(depth - 1, 0)
        return f"{of[0]} ? {then[0]} : {other[0]}", f"(({of[1]}) ? ({then[1]}) : ({other[1]}))"

    def _one_of(self, texts: str) -> Written:
        text = self.draw.choice(texts.split())
        return text, text

    def _before(self, sign: str, inner: Written) -> Written:
        return f"{sign}{inner[0]}", f"({sign}({inner[1]}))"

    def _called(self, name: str, *given: Written) -> Written:
        return tuple(f"{name}({', '.join(each)})" for each in zip(*given, strict=True))  # type: ignore[return-value]


def compared(folder, seed: int, count: int) -> int:
    """How many random expressions hold somewhere, but not everywhere; each must hold where Storm says that it does."""
    made = Expressions(seed)
    written = [made.condition(made.draw.choice([2, 3, 4])) for _ in range(count)]
    labels = "\n".join(f'label "e{k}" = {full};' for k, (_, full) in enumerate(written))
    (folder / "walk.prism").write_text(f"{PROGRAM}{labels}\n")
    mdp = read_mdp(folder / "walk.prism")
    assert mdp.n_states == 48
    telling = 0
    for k, (text, full) in enumerate(written):
        expected = mdp.labels[f"e{k}"]
        for asked in (text, full):
            found = states_where(asked, mdp.variables, mdp.labels, mdp.n_states, mdp.definitions)
            assert (found == expected).all(), f"{asked}\nas Storm reads it {full}"
        telling += bool(expected.any() and not expected.all())
    return telling


@pytest.mark.parametrize("seed", range(3))
def test_random_expressions_hold_where_storm_says_they_do(tmp_path, seed):
    """Law: an expression holds in the states in which Storm evaluates it, fully bracketed, to true."""
    assert compared(tmp_path, seed, 150) > 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_expressions_hold_where_storm_says_they_do(tmp_path, seed):
    """Law: the same, for six thousand."""
    assert compared(tmp_path, seed, 150) > 30


def test_a_variable_that_never_changes_is_left_out_of_names_and_still_has_its_value(tmp_path):
    """Law: what the program declares can be asked about, and names say no more than tells states apart."""
    text = PROGRAM.replace("never : [0..5] init N+1;", "never : [0..5] init N+1; low : [2..7]; off : bool;")
    (tmp_path / "walk.prism").write_text(text.replace("endmodule", "endmodule\nmodule other = walk [x=x2, y=y2, "
        "open=open2, never=never2, low=low2, off=off2] endmodule", 1))  # fmt: skip
    mdp = read_mdp(tmp_path / "walk.prism")
    assert "never" not in mdp.states[0]
    assert (mdp.where("x=never") == mdp.where("x=4")).all()
    assert (mdp.where("x2=low2 & !off") == mdp.where("x2=2")).all()
    assert (read_mdp(tmp_path / "walk.prism", target="x=never-5").where("x=-1")).any()


def test_variables_of_a_jani_model_that_never_change_still_have_their_values(tmp_path):
    """Law: global ones, and those that an automaton has for itself."""
    bounded = {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}
    step = {"ref": "x", "value": {"op": "+", "left": "x", "right": 1}}
    edge = {
        "location": "here",
        "guard": {"exp": {"op": "<", "left": "x", "right": "most"}},
        "destinations": [{"location": "here", "assignments": [step]}],
    }
    automaton = {
        "name": "A",
        "variables": [{"name": "own", "type": bounded, "initial-value": 2}],
        "locations": [{"name": "here"}],
        "initial-locations": ["here"],
        "edges": [edge],
    }
    model = {
        "jani-version": 1,
        "name": "counting",
        "type": "mdp",
        "variables": [
            {"name": "most", "type": bounded, "initial-value": 4},
            {"name": "x", "type": bounded, "initial-value": 0},
        ],
        "automata": [automaton],
        "system": {"elements": [{"automaton": "A"}]},
    }
    (tmp_path / "counting.jani").write_text(json.dumps(model))
    mdp = read_mdp(tmp_path / "counting.jani")
    assert mdp.states[mdp.initial] == "x=0"
    assert (mdp.where("x=most") == mdp.where("x=4")).all()
    assert (mdp.where("x=own") == mdp.where("x=2")).all()


@pytest.mark.parametrize("seed", range(2))
def test_brackets_change_no_meaning(tmp_path, seed):
    """Law: an expression with every bracket holds where it holds without them, to us and to Storm."""
    made = Expressions(seed + 500)
    written = [made.condition(3)[0] for _ in range(80)]
    labels = "\n".join(
        f'label "e{k}" = {bracketed(text)};'.replace('"high"', "(x>=2)") for k, text in enumerate(written)
    )
    (tmp_path / "walk.prism").write_text(f"{PROGRAM}{labels}\n")
    mdp = read_mdp(tmp_path / "walk.prism")
    for k, text in enumerate(written):
        for asked in (text, bracketed(text)):
            found = states_where(asked, mdp.variables, mdp.labels, mdp.n_states, mdp.definitions)
            assert (found == mdp.labels[f"e{k}"]).all(), asked
