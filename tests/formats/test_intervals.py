"""Models with intervals for probabilities are refused, for a reason that brute force shows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from waypost.errors import ModelError
from waypost.formats import read_mdp
from waypost.importance import state_importance
from waypost.model import MDP

PRISM = """mdp
module m
  x : [0..3] init 0;
  [go] x=0 -> [0.1,0.8] : (x'=1) + [0.1,0.8] : (x'=2) + [0,0.8] : (x'=3);
  [back] x=1 -> (x'=0);
endmodule
"""
DRN = """@type: MDP
@value_type: double-interval
@nr_states
2
@nr_choices
2
@model
state 0 init
\taction 0
\t\t0 : [0.1, 0.3]
\t\t1 : [0.7, 0.9]
state 1
\taction 0
\t\t1 : [1, 1]
"""


@pytest.mark.parametrize(("name", "text"), [("m.prism", PRISM), ("m.drn", DRN)])
def test_intervals_are_refused_in_one_sentence(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(ModelError, match="intervals for probabilities"):
        read_mdp(tmp_path / name)


def chain(*odds):
    """Model of the note: in x, each pair (to s, to t) is a choice; the rest is lost."""
    ways = {f"{b}, {a}": {"s": b, "t": a, "dead": 1 - a - b} for b, a in odds}
    return MDP.from_dict({"x": ways, "s": {"back": "x"}, "t": {}, "dead": {}}, initial="x")


def test_choosing_within_intervals_attains_what_no_member_does():
    """Law: intervals as choices give 8/9, and every member of a fine grid gives its own probability, at most 4/5."""
    tenths = [Fraction(k, 20) for k in range(2, 17)]
    members = [(b, a) for b, a in product(tenths, tenths) if a + b <= 1]
    for b, a in members:
        assert state_importance(chain((b, a)), target="t", scope="all", states="s", exact=True)["s"] == (b, b)
    corners = [(b, a) for b, a in members if b in (tenths[0], tenths[-1]) or a in (tenths[0], tenths[-1]) or a + b == 1]
    freely = state_importance(chain(*corners), target="t", scope="all", states="s", exact=True)["s"]
    assert freely.upper == Fraction(8, 9)
