"""What must hold of every model, whatever the numbers are."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import waypost
from strategies import mdps
from waypost.cases import ex1, loan
from waypost.formats import drn, jsonfile
from waypost.model import FINAL, MDP, Strategy

SOME = settings(max_examples=40)
SCOPES = ("all", "optimal")
HOSTILE = [
    "a b",
    " leading",
    "trailing ",
    'quo"te',
    "it's",
    "new\nline",
    "tab\there",
    "back\\slash",
    "🦊 état",
    "<script>alert(1)</script>",
    "[x]",
    "//[x]",
    "{}",
    "=1+1",
    "init",
    "state 0 init",
    "\u2028",
    "0",
    "x=1, y=2",
    "action go",
    "@model",
    "__proto__",
    "a,b",
    "\u202edlrow",
]
names = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8))


def choices_of(mdp: MDP) -> dict[str, dict[str, dict[str, Fraction]]]:
    """The model as `MDP.from_dict` takes it; final states have no action."""
    exact, t = mdp.rationals(), mdp.transitions
    told: dict[str, dict[str, dict[str, Fraction]]] = {name: {} for name in mdp.states}
    for c, action in enumerate(mdp.actions):
        row = {mdp.states[t.indices[e]]: exact[e] for e in range(t.indptr[c], t.indptr[c + 1])}
        owner = mdp.states[mdp.choice_state[c]]
        if action != FINAL:
            told[owner][action] = row
    return told


def build(choices, like: MDP, **labels) -> MDP:
    """A model with the labels and the initial state of another."""
    kept = {name: [like.states[s] for s in np.flatnonzero(mask)] for name, mask in like.labels.items()}
    return MDP.from_dict(choices, initial=like.states[like.initial], labels={**kept, **labels})


def importance(mdp: MDP, scope, exact: bool = True) -> dict[str, waypost.Bounds]:
    return dict(waypost.state_importance(mdp, target="goal", scope=scope, exact=exact).to_dict())


def scores(mdp: MDP, exact: bool = True) -> dict[str, dict[str, waypost.Bounds]]:
    """Both scopes and the absolute bounds, by state."""
    found = {scope: importance(mdp, scope, exact) for scope in SCOPES}
    return {**found, "absolute": dict(waypost.absolute_importance(mdp, target="goal", exact=exact).to_dict())}


def only(found, states):
    return {part: {name: bounds[name] for name in states} for part, bounds in found.items()}


@st.composite
def defined(draw, **sizes):
    """A model in which some strategy reaches the goal."""
    mdp = draw(mdps(**sizes))
    assume(waypost.reachability(mdp, target="goal", optimum="max")[mdp.initial] > 0)
    return mdp


@SOME
@given(defined(), st.data())
def test_renaming_and_reordering_states_permutes_the_scores(mdp, data):
    """Names and order carry no meaning: scores move with the states, exactly."""
    new = data.draw(st.lists(names, min_size=mdp.n_states, max_size=mdp.n_states, unique=True))
    order = data.draw(st.permutations(mdp.states))
    called = dict(zip(mdp.states, new, strict=True))
    choices = choices_of(mdp)
    moved = MDP.from_dict(
        {called[s]: {a: {called[y]: p for y, p in row.items()} for a, row in choices[s].items()} for s in order},
        initial=called[mdp.states[mdp.initial]],
        labels={"goal": [called[mdp.states[s]] for s in np.flatnonzero(mdp.where("goal"))]},
    )
    before, after = scores(mdp), scores(moved)
    for part, bounds in before.items():
        assert {called[name]: b for name, b in bounds.items()} == after[part]


@SOME
@given(defined(), st.data())
def test_an_unreachable_state_changes_nothing(mdp, data):
    """A state that nobody enters scores 0 and leaves the others alone, whether or not it is a goal."""
    rows = data.draw(st.lists(st.sampled_from([*mdp.states, "nobody"]), min_size=1, max_size=3, unique=True))
    choices = {**choices_of(mdp), "nobody": {"go": {y: Fraction(1, len(rows)) for y in rows}}}
    goals = [mdp.states[s] for s in np.flatnonzero(mdp.where("goal"))]
    more = build(choices, mdp, goal=goals + ["nobody"] * data.draw(st.booleans()))
    found = scores(more)
    assert only(found, mdp.states) == scores(mdp)
    assert all(bounds["nobody"] == waypost.Bounds(0, 0) for bounds in found.values())


@SOME
@given(defined(), st.data())
def test_a_duplicated_action_changes_nothing(mdp, data):
    choices = choices_of(mdp)
    state = data.draw(st.sampled_from([name for name in mdp.states if choices[name]] or list(mdp.states)))
    if choices[state]:
        action = data.draw(st.sampled_from(sorted(choices[state])))
        choices[state]["again"] = dict(choices[state][action])
    assert scores(build(choices, mdp)) == scores(mdp)


@SOME
@given(defined(), st.data())
def test_mixing_two_actions_into_a_third_changes_nothing(mdp, data):
    """A strategy may mix already: an action in between adds no optimum."""
    choices = choices_of(mdp)
    several = [name for name in mdp.states if len(choices[name]) > 1]
    assume(several)
    state = data.draw(st.sampled_from(several))
    a, b = data.draw(st.permutations(sorted(choices[state])))[:2]
    share = data.draw(st.sampled_from([Fraction(1, 2), Fraction(1, 3)]))
    mixed = {y: share * p for y, p in choices[state][a].items()}
    for y, p in choices[state][b].items():
        mixed[y] = mixed.get(y, 0) + (1 - share) * p
    choices[state]["mixed"] = mixed
    assert scores(build(choices, mdp)) == scores(mdp)


@SOME
@given(defined(), st.data())
def test_a_stop_on_the_way_changes_nothing_and_matters_as_its_action_does(mdp, data):
    """An action through a new state leaves the scores alone; alone in its state, the new state scores the same."""
    choices = choices_of(mdp)
    goal = mdp.where("goal")
    state = data.draw(st.sampled_from([n for n in mdp.states if choices[n] and not goal[mdp.index[n]]] or ["q0"]))
    assume(choices[state] and not goal[mdp.index[state]])
    action = data.draw(st.sampled_from(sorted(choices[state])))
    choices["stop"] = {"on": choices[state][action]}
    choices[state][action] = {"stop": Fraction(1)}
    found = scores(build(choices, mdp))
    assert only(found, mdp.states) == scores(mdp)
    if len(choices[state]) == 1:
        assert all(bounds["stop"] == bounds[state] for bounds in found.values())


@SOME
@given(defined(), st.data())
def test_splitting_a_state_splits_its_mass_and_nothing_else(mdp, data):
    """Two copies of a state, entered in any proportion: together they matter as the one did, others as before."""
    copied = data.draw(st.sampled_from([s for s in mdp.states if s != mdp.states[mdp.initial]]))
    share = data.draw(st.sampled_from([Fraction(1, 2), Fraction(1, 4), Fraction(1)]))
    choices = choices_of(mdp)
    choices["copy"] = {a: dict(row) for a, row in choices[copied].items()}
    for actions in choices.values():
        for row in actions.values():
            if copied in row:
                mass = row.pop(copied)
                row["copy"] = share * mass
                if share < 1:
                    row[copied] = (1 - share) * mass
    goals = [mdp.states[s] for s in np.flatnonzero(mdp.where("goal"))]
    split = build(choices, mdp, goal=goals + ["copy"] * (copied in goals))
    others = [s for s in mdp.states if s != copied]
    before = scores(mdp)
    assert only(scores(split), others) == only(before, others)
    for scope in SCOPES:
        both = waypost.group_importance(
            split, target="goal", scope=scope, groups={"both": [copied, "copy"]}, exact=True
        )
        assert both["both"] == before[scope][copied]


@SOME
@given(defined(max_states=7))
@pytest.mark.parametrize("exact", [False, True])
def test_bounds_are_ordered_and_the_best_strategies_lie_among_all(exact, mdp):
    """0 <= lower <= upper <= 1, and scope optimal inside scope all, in floats and in fractions."""
    found = scores(mdp, exact)
    slack = 0 if exact else 1e-12
    for bounds in found.values():
        assert all(0 <= b.lower <= b.upper <= 1 for b in bounds.values())
    for name in mdp.states:
        wide, narrow = found["all"][name], found["optimal"][name]
        assert wide.lower <= narrow.lower + slack
        assert narrow.upper <= wide.upper + slack


@SOME
@given(defined())
def test_the_start_and_a_single_target_have_importance_one(mdp):
    """imp(s0) = imp(t) = 1 in every scope; in floats exactly so."""
    goals = np.flatnonzero(mdp.where("goal"))
    for scope in (*SCOPES, Strategy.uniform(mdp)):
        found = importance(mdp, scope, exact=False)
        assert found[mdp.states[mdp.initial]] == waypost.Bounds(1, 1)
        if len(goals) == 1:
            assert found[mdp.states[goals[0]]] == waypost.Bounds(1, 1)


@SOME
@given(defined(), st.randoms(use_true_random=False))
def test_every_strategy_lies_between_the_bounds(mdp, random):
    """P1 of a random strategy is within P2; its absolute importance is importance times reachability."""
    weights = np.array([random.choice([0, 1, 1, 3]) for _ in range(mdp.n_choices)], float)
    total = np.bincount(mdp.choice_state, weights=weights, minlength=mdp.n_states)[mdp.choice_state]
    strategy = Strategy.memoryless(
        mdp, np.where(total > 0, weights / np.maximum(total, 1), 1 / np.diff(mdp.first_choice)[mdp.choice_state])
    )
    try:
        found = importance(mdp, strategy, exact=True)
    except waypost.WaypostError:
        assume(condition=False)
    wide = importance(mdp, "all", exact=True)
    absolute = waypost.absolute_importance(mdp, target="goal", scope=strategy, exact=True)
    reached = absolute[mdp.states[mdp.initial]].upper
    for name in mdp.states:
        assert wide[name].lower <= found[name].lower == found[name].upper <= wide[name].upper
        assert absolute[name].lower == absolute[name].upper == found[name].upper * reached


@SOME
@given(defined())
def test_the_target_is_entered_somewhere(mdp):
    """The goal states share out 1: exactly under one strategy, so 1 lies between the sums of the bounds."""
    goals = [mdp.states[s] for s in np.flatnonzero(mdp.where("goal"))]
    for scope in SCOPES:
        found = importance(mdp, scope)
        assert sum(found[name].lower for name in goals) <= 1 <= sum(found[name].upper for name in goals)
        for name in goals:
            witness = waypost.state_importance(mdp, target="goal", scope=scope, exact=True).witness(name, "upper")
            under = importance(mdp, witness)
            assert sum(under[goal].upper for goal in goals) == 1


@SOME
@given(defined())
def test_absolute_importance_never_exceeds_importance_or_reachability(mdp):
    """Without normalisation: at most the importance, at most p*, at least what the best strategies give."""
    found = scores(mdp)
    best = waypost.reachability(mdp, target="goal", optimum="max", exact=True)[mdp.initial]
    for name in mdp.states:
        absolute = found["absolute"][name]
        assert found["optimal"][name].upper * best <= absolute.upper <= min(best, found["all"][name].upper)
        assert absolute.lower <= found["optimal"][name].lower * best
    scaled = waypost.absolute_importance(mdp, target="goal", scope="optimal", exact=True)
    assert all(scaled[name].upper == found["optimal"][name].upper * best for name in mdp.states)


@SOME
@given(defined(), st.data(), st.sampled_from(SCOPES))
def test_groups_grow_with_their_members(mdp, data, scope):
    """A singleton is its state; a larger group matters at least as much, and at most as its members together."""
    small = data.draw(st.lists(st.sampled_from(mdp.states), min_size=1, max_size=2, unique=True))
    large = sorted({*small, *data.draw(st.lists(st.sampled_from(mdp.states), max_size=2))})
    groups = {"small": small, "large": large, "everything": list(mdp.states), "goal": "goal"}
    singles = {f"only {name}": name for name in mdp.states}
    found = waypost.group_importance(mdp, target="goal", scope=scope, groups={**groups, **singles}, exact=True)
    single = importance(mdp, scope)
    assert {name: found[f"only {name}"] for name in mdp.states} == single
    assert found["everything"] == found["goal"] == waypost.Bounds(1, 1)
    for side in ("lower", "upper"):
        members = [getattr(single[name], side) for name in small]
        assert max(members) <= getattr(found["small"], side) <= getattr(found["large"], side)
    assert found["small"].upper <= sum(single[name].upper for name in small)


@settings(max_examples=30)
@given(defined(max_states=7), st.sampled_from(SCOPES))
def test_a_witness_of_a_float_bound_attains_it(mdp, scope):
    """P1 of the witness is the bound to 1e-9, and 0 or 1 exactly where the bound is."""
    found = waypost.state_importance(mdp, target="goal", scope=scope)
    for name in mdp.states:
        for side in ("lower", "upper"):
            bound = getattr(found[name], side)
            attained = importance(mdp, found.witness(name, side), exact=False)[name]
            assert attained.lower == attained.upper == pytest.approx(bound, abs=1e-9)
            assert (attained.upper in (0, 1)) == (bound in (0, 1))


@SOME
@given(defined())
def test_asking_for_some_states_or_one_gives_the_same_numbers(mdp):
    """Which states are asked for, and in which order, changes nothing."""
    for exact in (False, True):
        every = importance(mdp, "all", exact)
        backwards = waypost.state_importance(mdp, target="goal", scope="all", states=mdp.states[::-1], exact=exact)
        assert backwards.names == mdp.states[::-1]
        for name in mdp.states:
            alone = waypost.state_importance(mdp, target="goal", scope="all", states=name, exact=exact)[name]
            for side in ("lower", "upper"):
                right = getattr(every[name], side)
                assert getattr(alone, side) == (right if exact else pytest.approx(right, abs=1e-12))
                assert getattr(backwards[name], side) == (right if exact else pytest.approx(right, abs=1e-12))


@SOME
@given(defined(), st.data())
def test_a_longer_path_matters_less_and_less_than_where_it_ends(mdp, data):
    """Runs that begin with a path begin with its beginning, and pass its end."""
    goal = mdp.where("goal")
    assume(not goal[mdp.initial])
    state, path = mdp.initial, [mdp.states[mdp.initial]]
    upper = Fraction(1)
    assert waypost.path_importance(mdp, path=path, target="goal", scope="all", exact=True).lower == 1
    single = importance(mdp, "all")
    for _ in range(3):
        choice = data.draw(st.integers(int(mdp.first_choice[state]), int(mdp.first_choice[state + 1]) - 1))
        row = mdp.transitions.indices[mdp.transitions.indptr[choice] : mdp.transitions.indptr[choice + 1]]
        onward = [int(y) for y in row if mdp.states[y] not in path[::2] and not goal[y]]
        if not onward:
            break
        state = data.draw(st.sampled_from(onward))
        path += [mdp.actions[choice], mdp.states[state]]
        try:
            found = waypost.path_importance(mdp, path=path, target="goal", scope="all", exact=True)
        except waypost.WaypostError:
            break  # who follows this path misses the goal
        assert 0 <= found.lower <= found.upper <= upper
        assert found.upper <= single[path[-1]].upper
        best = waypost.path_importance(mdp, path=path, target="goal", scope="optimal", exact=True)
        assert found.lower <= best.lower == best.upper <= found.upper
        upper = found.upper


@pytest.mark.parametrize(("write", "read"), [(drn.dumps, drn.loads), (jsonfile.dumps, jsonfile.loads)])
@settings(max_examples=60)
@given(mdps(), st.data())
@example(loan(), None)
@example(ex1(), None)
def test_writing_then_reading_is_the_identity(write, read, mdp, data):
    """Names nobody should use, their order, actions, labels, and every probability, in floats and in fractions."""
    if data is not None:
        mdp = _hostile(mdp, data)
    again = read(write(mdp), exact=True)
    assert (again.states, again.actions, again.initial) == (mdp.states, mdp.actions, mdp.initial)
    assert {k: v.tolist() for k, v in again.labels.items()} == {k: v.tolist() for k, v in mdp.labels.items()}
    assert again.first_choice.tolist() == mdp.first_choice.tolist()
    assert (again.transitions != mdp.transitions).nnz == 0
    assert again.rationals().tolist() == mdp.rationals().tolist()
    rounded = replace(mdp, exact=None)
    assert (read(write(rounded)).transitions != rounded.transitions).nnz == 0


def _hostile(mdp: MDP, data) -> MDP:
    """The same model with hostile names of states, actions and labels."""
    n = mdp.n_states
    called = dict(zip(mdp.states, data.draw(st.lists(names, min_size=n, max_size=n, unique=True)), strict=True))
    acts = dict(zip(["a0", "a1", "a2"], data.draw(st.lists(names, min_size=3, max_size=3, unique=True)), strict=True))
    label = data.draw(names)
    choices = choices_of(mdp)
    return MDP.from_dict(
        {called[s]: {acts[a]: {called[y]: p for y, p in r.items()} for a, r in choices[s].items()} for s in choices},
        initial=called[mdp.states[mdp.initial]],
        labels={label: [called[mdp.states[s]] for s in np.flatnonzero(mdp.where("goal"))]},
    )


@SOME
@given(defined(), st.data())
def test_a_strategy_survives_json(mdp, data):
    """Memoryless, with a bit of memory, along a path: written, read, and the same chain results."""
    mdp = _hostile(mdp, data)
    (goal,) = mdp.labels
    found = waypost.state_importance(mdp, target=goal, scope="all")
    last = mdp.states[-1]
    strategies = [Strategy.uniform(mdp), Strategy.deterministic_of(mdp, mdp.first_choice[:-1])]
    strategies += [found.witness(last, side) for side in ("upper", "lower")]
    if not mdp.where(goal)[mdp.initial]:
        path = [mdp.states[mdp.initial]]
        strategies.append(waypost.path_importance(mdp, path=path, target=goal, scope="all").witness("upper"))
    for strategy in strategies:
        again = Strategy.from_dict(mdp, json.loads(json.dumps(strategy.to_dict())))
        assert again.to_dict() == strategy.to_dict()
        assert (again.memory, again.start) == (strategy.memory, strategy.start)
        assert (again.update == strategy.update).all()
        for one, other in zip(again.modes, strategy.modes, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-15)
