"""A path named by its activities, as states and actions of the model that was learned."""

from __future__ import annotations

from collections.abc import Sequence

from waypost.errors import PathError
from waypost.learn.mdp import steps_from
from waypost.model import MDP


def activity_path(mdp: MDP, activities: Sequence[str]) -> list[str]:
    """States and actions of the path that begins with these activities, in a model learned from a log.

    Whose turn it is between two activities is filled in. A path that is given by states and actions stays as it is.

    >>> from waypost.learn import learn_mdp
    >>> from waypost.logs import EventLog
    >>> mdp = learn_mdp(EventLog.from_sequences([["ask", "pay"]] * 30))
    >>> activity_path(mdp, ["ask", "pay"])[-3:]
    ['q3: process after ask', 'pay', 'q4: pay']
    """
    names = list(activities)
    if names and names[0] == mdp.states[mdp.initial]:
        return names
    state, path = mdp.initial, [mdp.states[mdp.initial]]
    for name in names:
        way = _way(mdp, state, name)
        if way is None:
            raise PathError(
                f"no case goes on with {name!r} after {', '.join(map(repr, path[-1:]))}{_onward(mdp, state)}"
            )
        for action, successor in way:
            path += [action, mdp.states[successor]]
        state = way[-1][1]
    return path


def _way(mdp: MDP, state: int, name: str) -> list[tuple[str, int]] | None:
    """Steps to the next state of an activity: one, or two where somebody's turn is between."""
    onward = steps_from(mdp, state)
    for (action, output), (successor, _) in onward.items():
        if output == name:
            return [(action, successor)]
    for (action, _), (turn, _) in onward.items():
        for (then, output), (successor, _) in steps_from(mdp, turn).items():
            if output == name:
                return [(action, turn), (then, successor)]
    return None


def _onward(mdp: MDP, state: int) -> str:
    """Which activities do come next, the most frequent first."""
    found: dict[str, int] = {}
    for (_, output), (successor, seen) in steps_from(mdp, state).items():
        later = steps_from(mdp, successor)
        if " after " in output and later:
            for (_, name), (_, count) in later.items():
                found[name] = found.get(name, 0) + count
        else:
            found[output] = found.get(output, 0) + seen
    names = sorted(found, key=lambda name: -found[name])[:5]
    return f"; next come {', '.join(map(repr, names))}" if names else "; there the case ends"
