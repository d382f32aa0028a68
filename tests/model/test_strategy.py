"""Strategies by name: the forms that JSON may have, and what is said about the others."""

from __future__ import annotations

import numpy as np
import pytest

import waypost
from waypost.cases import loan
from waypost.errors import NameUnknownError, StrategyError
from waypost.model import MDP, Strategy, induced_chain, one_hot

FULL = {"s0": "Consult", "Consultation": "Apply", "Rework": "Submit", "Error": "Quit"}


def test_a_lone_action_has_probability_one_and_single_choices_may_be_left_out():
    mdp = loan()
    strategy = Strategy.from_dict(mdp, {**FULL, "s0": {"Apply": 0.25, "Consult": 0.75}})
    assert not strategy.deterministic
    assert strategy.memory == 1
    told = strategy.to_dict()
    assert told["s0"] == {"Apply": 0.25, "Consult": 0.75}
    assert told["Rework"] == {"Submit": 1.0}
    assert told["Application"] == {"Provider": 1.0}
    assert set(told) == set(mdp.states)


def test_states_that_a_strategy_never_visits_may_be_left_out():
    """Who consults never sees Error; who applies does."""
    mdp = loan()
    left_out = {name: action for name, action in FULL.items() if name != "Error"}
    assert Strategy.from_dict(mdp, left_out).deterministic
    with pytest.raises(StrategyError, match=r"visits state 'Error' and says nothing about its choices$"):
        Strategy.from_dict(mdp, {**left_out, "s0": "Apply"})


def test_many_missing_states_are_counted():
    with pytest.raises(StrategyError, match=r"visits state '\w+' and says nothing about its choices \(and 2 more"):
        Strategy.from_dict(loan(), {"s0": {"Apply": 0.5, "Consult": 0.5}})


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({**FULL, "s00": "Apply"}, NameUnknownError, "no state 's00' in this model; did you mean 's0'?"),
        ({**FULL, "s0": "Aply"}, NameUnknownError, "no action 'Aply' in state 's0'; did you mean 'Apply'?"),
        ({**FULL, "s0": {"Aply": 1}}, NameUnknownError, "no action 'Aply' in state 's0'; did you mean 'Apply'?"),
        ({**FULL, "s0": {"Apply": 0.5}}, StrategyError, "the strategy's probabilities in state 's0' sum to 0.5, not 1"),
        ({**FULL, "s0": {}}, StrategyError, "the strategy's probabilities in state 's0' sum to 0, not 1"),
        (
            {**FULL, "s0": {"Apply": -0.5, "Consult": 1.5}},
            StrategyError,
            "action 'Apply' in state 's0' is taken with probability -0.5",
        ),
        (
            {**FULL, "s0": {"Apply": float("nan")}},
            StrategyError,
            "action 'Apply' in state 's0' is taken with probability nan",
        ),
        ({**FULL, "s0": {"Apply": "1"}}, StrategyError, "action 'Apply' in state 's0' has a probability that is no"),
        ({**FULL, "s0": {"Apply": True}}, StrategyError, "action 'Apply' in state 's0' has a probability that is no"),
        ({**FULL, "s0": ["Apply"]}, StrategyError, "the strategy for state 's0' is not an action or a distribution"),
        ({**FULL, "s0": None}, StrategyError, "the strategy for state 's0' is not an action or a distribution"),
        (None, StrategyError, 'a strategy is written {"state": {"action": probability}}'),
        ([FULL], StrategyError, 'a strategy is written {"state": {"action": probability}}'),
        ({"switch": ["Eror"], "before": FULL, "after": FULL}, NameUnknownError, "no state 'Eror' in this model; did"),
        ({"switch": [[]], "before": FULL, "after": FULL}, NameUnknownError, "no state '[]' in this model"),
        ({"switch": [], "before": [], "after": FULL}, StrategyError, 'a strategy is written {"state": {"action"'),
        (
            {"start": 0, "modes": [FULL], "update": [{"Error": 5}]},
            StrategyError,
            "the strategy changes to memory",
        ),
        (
            {"start": 0, "modes": [FULL], "update": [{"Error": -1}]},
            StrategyError,
            "the strategy changes to memory",
        ),
        ({"start": 2, "modes": [FULL], "update": [{}]}, StrategyError, "the strategy starts in memory mode 2"),
        ({"start": 0, "modes": [FULL], "update": {}}, StrategyError, 'a strategy with memory has a list of "modes"'),
        ({"start": 0, "modes": [FULL], "update": [{}, {}]}, StrategyError, "a strategy with memory has a list of"),
        ({"start": 0, "modes": [], "update": []}, StrategyError, "a strategy with memory has a list of"),
        ({"start": 0, "modes": 1, "update": [{}]}, StrategyError, "a strategy with memory has a list of"),
        ({"start": 0, "modes": [FULL], "update": [3]}, StrategyError, 'an "update" of a strategy with memory is'),
        ({"start": 0, "modes": [FULL], "update": [{"Error": "x"}]}, StrategyError, 'an "update" of a strategy with'),
    ],
)
def test_what_is_no_strategy_is_told_by_name(given, kind, message):
    with pytest.raises(kind) as error:
        Strategy.from_dict(loan(), given)
    assert str(error.value).startswith(message)


def test_states_may_be_called_like_the_parts_of_a_strategy_with_memory():
    """Whoever names states switch, before and after still reads back what was written."""
    for names in (("switch", "before", "after"), ("start", "modes", "update")):
        mdp = MDP.from_dict({name: {"a": names[0], "b": names[1]} for name in names}, initial=names[0])
        strategy = Strategy.uniform(mdp)
        assert Strategy.from_dict(mdp, strategy.to_dict()).to_dict() == strategy.to_dict()


def test_a_bit_of_memory_is_set_on_entering_a_state():
    """Before the switch one strategy, from that state on the other; a switch in the initial state is at once."""
    mdp = MDP.from_dict({"s": {"a": "m", "b": "t"}, "m": {"back": "s"}, "t": {}}, initial="s")
    given = {"switch": ["m"], "before": {"s": "a"}, "after": {"s": "b"}}
    strategy = Strategy.from_dict(mdp, given)
    assert (strategy.memory, strategy.start) == (2, 0)
    found = waypost.state_importance(mdp, target="t", scope=strategy, exact=True)
    assert found["m"].lower == 1  # memoryless, a never arrives and b never sees m
    assert Strategy.from_dict(mdp, strategy.to_dict()).to_dict() == strategy.to_dict()
    assert Strategy.from_dict(mdp, {**given, "switch": ["s"]}).start == 1


def test_modes_change_as_the_update_says():
    """Go round twice, then leave."""
    mdp = MDP.from_dict({"s": {"a": "m", "b": "t"}, "m": {"back": "s"}, "t": {}}, initial="s")
    twice = {
        "start": 0,
        "modes": [{"s": "a"}, {"s": "a"}, {"s": "b"}],
        "update": [{"m": 1}, {"m": 2}, {}],
    }
    strategy = Strategy.from_dict(mdp, twice)
    assert strategy.memory == 3
    assert waypost.absolute_importance(mdp, target="t", scope=strategy, exact=True)["m"].lower == 1
    assert Strategy.from_dict(mdp, strategy.to_dict()).to_dict() == strategy.to_dict()
    never = Strategy.from_dict(mdp, {**twice, "update": [{"m": 1}, {}, {}]})
    with pytest.raises(waypost.WaypostError, match="this strategy never reaches 't' from 's'"):
        waypost.state_importance(mdp, target="t", scope=never)


def test_a_strategy_of_another_model_is_refused():
    mdp = loan()
    other = MDP.from_dict({"s": {"a": "t"}, "t": {}}, initial="s")
    with pytest.raises(StrategyError, match="belongs to another model"):
        waypost.state_importance(mdp, target="Granted", scope=Strategy.uniform(other))
    again = Strategy.uniform(loan())  # equal names are as good as the same object
    assert waypost.state_importance(mdp, target="Granted", scope=again)["s0"].lower == 1


def test_the_induced_chain_mixes_the_rows():
    """delta^sigma(s, s') = sum_a sigma(s, a) delta(s, a, s'); every row sums to 1."""
    mdp = loan()
    chain = induced_chain(mdp, Strategy.uniform(mdp).modes[0]).toarray()
    assert chain.sum(axis=1) == pytest.approx(np.ones(mdp.n_states))
    assert chain[0, [mdp.state("Application"), mdp.state("Error"), mdp.state("Consultation")]] == pytest.approx(
        [0.475, 0.025, 0.5]
    )
    first = induced_chain(mdp, one_hot(mdp, mdp.first_choice[:-1]))
    assert (first.toarray() == mdp.transitions.toarray()[mdp.first_choice[:-1]]).all()


def test_the_number_of_probabilities_must_fit():
    with pytest.raises(StrategyError, match=r"a strategy of this model has 14 probabilities, not \(3,\)"):
        Strategy.memoryless(loan(), [1, 0, 1])
