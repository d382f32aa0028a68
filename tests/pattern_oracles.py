"""Slow and obviously right: match by trying every way, enumerate strategies with an automaton's memory, count cases."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

import oracles
from waypost.model import MDP
from waypost.patterns import ANY_STEP, ANYTHING, Other, Pattern, step
from waypost.patterns.declare import PAIRED, absence, exactly, existence, init
from waypost.patterns.tree import Both, Either, Not, Repeat, Sequence, Step, Template


def ends(pattern: Pattern, word: tuple, i: int, fits, known: dict | None = None) -> set[int]:
    """Where a match of the pattern that begins before step i may end; `fits(test, letter)` decides on one step."""
    known = {} if known is None else known
    if (pattern, i) not in known:
        known[pattern, i] = tried(pattern, i, word, fits, lambda part, j: ends(part, word, j, fits, known))
    return known[pattern, i]


def tried(pattern: Pattern, i: int, word: tuple, fits, inner) -> set[int]:
    match pattern:
        case Step(None, None):
            return {i + 1} if i < len(word) else set()
        case Step():
            return {i + 1} if i < len(word) and fits(pattern, word[i]) else set()
        case Other(part):
            return {i + 1} if i < len(word) and i + 1 not in inner(part, i) else set()
        case Sequence(parts):
            here = {i}
            for part in parts:
                here = {k for j in here for k in inner(part, j)}
            return here
        case Either(parts):
            return set().union(*(inner(part, i) for part in parts))
        case Both(parts):
            return set.intersection(*(inner(part, i) for part in parts))
        case Template(part=part):
            return inner(part, i)
        case Not(part):
            return set(range(i, len(word) + 1)) - inner(part, i)
        case Repeat(part, least, most):
            found, here = set(), {i}
            for n in range((len(word) + least + 1 if most is None else most) + 1):
                if n >= least:
                    found |= here
                here = {k for j in here for k in inner(part, j)}
            return found
    raise TypeError(pattern)


def matches(pattern: Pattern, word: tuple, fits) -> bool:
    return len(word) in ends(pattern, word, 0, fits)


def patterns(names: list[str], actions: list[str] = ()) -> st.SearchStrategy[Pattern]:
    """Patterns over some names and actions, every construct and template of the language."""
    tests = [st.builds(step, st.sampled_from(names))]
    if actions:
        tests += [
            st.builds(step, st.none(), st.sampled_from(actions)),
            st.builds(step, st.sampled_from(names)),
        ]
    one = st.one_of(*tests)
    single = st.one_of(one, one, st.builds(Other, one), st.just(ANY_STEP), st.builds(lambda a, b: a | b, one, one))
    templates = st.one_of(
        st.builds(lambda f, a, b: PAIRED[f](a, b), st.sampled_from(sorted(PAIRED)), one, one),
        st.builds(lambda f, a, n: f(a, n), st.sampled_from([existence, absence, exactly]), one, st.integers(1, 3)),
        st.builds(init, one),
    )
    leaves = st.one_of(single, single, st.just(ANYTHING), templates)

    def grown(part):
        return st.one_of(
            st.builds(lambda a, b: a + b, part, part),
            st.builds(lambda a, b, c: a + b + c, part, part, part),
            st.builds(lambda a: ANYTHING + a + ANYTHING, part),
            st.builds(lambda a, b: a | b, part, part),
            st.builds(lambda a, b: a & b, part, part),
            st.builds(lambda a: ~a, part),
            st.builds(lambda a, n, m: a.times(n, None if m is None else max(n, 1) + m), part, st.integers(0, 2),
                      st.none() | st.integers(0, 2)),
        )  # fmt: skip

    return st.recursive(leaves, grown, max_leaves=5)


def product_chains(mdp, target, automaton, letters):
    """Choices of every reachable pair (state, state of the automaton), and the pairs that count as accepted."""
    table = oracles.rows(mdp)

    def read(q, letter):
        return q if letter < 0 else int(automaton.step[q, letter])

    def entered(q, y):
        return (y, q if letters.choice is not None else read(q, letters.state[y]))

    start = entered(automaton.start, mdp.initial)
    pairs, todo, options = {start: 0}, [start], []
    for s, q in todo:
        if target[s]:
            options.append([{pairs[s, q]: Fraction(1)}])
            continue
        mine = []
        for k, row in enumerate(table[s]):
            c = int(mdp.first_choice[s]) + k
            after = q if letters.choice is None else read(q, letters.choice[c])
            onward = {}
            for y, p in row.items():
                pair = entered(after, y)
                if pair not in pairs:
                    pairs[pair] = len(pairs)
                    todo.append(pair)
                onward[pairs[pair]] = onward.get(pairs[pair], Fraction(0)) + p
            mine.append(onward)
        options.append(mine)
    goal, accepted = {}, {}
    for (s, q), i in pairs.items():
        if target[s]:
            last = q if letters.choice is None else read(q, letters.state[s])
            goal[i] = Fraction(1)
            accepted[i] = Fraction(int(automaton.accepting[last]))
    return options, goal, accepted


def n_strategies(options) -> int:
    return int(np.prod([float(len(mine)) for mine in options]))


def importance(options, goal, accepted, scope) -> tuple[Fraction, Fraction]:
    """Least and greatest share of the runs to the target that are accepted, over all strategies of the product."""
    found = []
    for chain in product(*options):
        reached = oracles.expected(list(chain), goal)[0]
        if reached > 0:
            found.append((reached, oracles.expected(list(chain), accepted)[0]))
    if scope == "optimal":
        best = max(reached for reached, _ in found)
        found = [(reached, via) for reached, via in found if reached == best]
    ratios = [via / reached for reached, via in found]
    return min(ratios), max(ratios)


def tree_of(log: list[list[str]]):
    """Model whose runs are exactly the cases of a log: one state per beginning of a case, labelled by its activity."""
    beginnings: dict[tuple[str, ...], dict[tuple[str, ...], int]] = {("start",): {}}
    for case in log:
        word = ("start", *case)
        for k in range(1, len(word)):
            onward = beginnings.setdefault(word[:k], {})
            onward[word[: k + 1]] = onward.get(word[: k + 1], 0) + 1
            beginnings.setdefault(word[: k + 1], {})
    name = {word: f"{k}: {word[-1]}" for k, word in enumerate(beginnings)}
    labels: dict[str, list[str]] = {}
    for word in beginnings:
        labels.setdefault(word[-1], []).append(name[word])
    choices = {
        name[word]: {"on": {name[w]: Fraction(n, sum(onward.values())) for w, n in onward.items()}} if onward else {}
        for word, onward in beginnings.items()
    }
    return MDP.from_dict(choices, initial=name["start",], labels=labels)


def holds(template: str, a: str, b: str, case: list[str]) -> bool:
    """Whether a case fulfils a Declare template, in plain words."""
    at_a = [i for i, e in enumerate(case) if e == a]
    at_b = [i for i, e in enumerate(case) if e == b]
    has_a, has_b = bool(at_a), bool(at_b)

    def between(i: int, j: int) -> list[str]:
        return case[i + 1 : j]

    plain = {
        "choice": has_a or has_b,
        "exclusive_choice": has_a != has_b,
        "responded_existence": not has_a or has_b,
        "coexistence": has_a == has_b,
        "not_coexistence": not (has_a and has_b),
        "response": all(any(j > i for j in at_b) for i in at_a),
        "alternate_response": all(any(j > i and a not in between(i, j) for j in at_b) for i in at_a),
        "chain_response": all(i + 1 in at_b for i in at_a),
        "precedence": all(any(i < j for i in at_a) for j in at_b),
        "alternate_precedence": all(any(i < j and b not in between(i, j) for i in at_a) for j in at_b),
        "chain_precedence": all(j - 1 in at_a for j in at_b),
        "not_succession": not any(i < j for i in at_a for j in at_b),
        "not_chain_succession": not any(i + 1 in at_b for i in at_a),
    }
    if template in plain:
        return plain[template]
    kind = template.removesuffix("succession")  # "", "alternate_" or "chain_"
    return plain[f"{kind}response"] and plain[f"{kind}precedence"]
