"""Two labelled models side by side: are they the same but for the names of their states?"""

from __future__ import annotations

from waypost.model import MDP


def walk(one: MDP, other: MDP, *, hidden: frozenset[str] = frozenset()) -> tuple[dict[int, int], float]:
    """Pair the states of two models from their initial states on; return the pairs and the largest difference.

    Two states are a pair when they carry the same labels (`hidden` ones apart) and the same actions, and each action
    leads to the same labels; learned models are deterministic in that, so the walk has no choice. Final self-loops are
    passed over. An AssertionError says where the models differ.
    """
    pairs = {one.initial: other.initial}
    waiting = [one.initial]
    furthest = 0.0
    while waiting:
        left = waiting.pop()
        right = pairs[left]
        assert _labels(one, left, hidden) == _labels(other, right, hidden), (one.states[left], other.states[right])
        ours, theirs = _steps(one, left, hidden), _steps(other, right, hidden)
        assert set(ours) == set(theirs), (one.states[left], set(ours) ^ set(theirs))
        for step, (successor, probability) in ours.items():
            partner, their_probability = theirs[step]
            furthest = max(furthest, abs(probability - their_probability))
            if successor not in pairs:
                pairs[successor] = partner
                waiting.append(successor)
            assert pairs[successor] == partner, (one.states[successor], other.states[partner])
    assert len(set(pairs.values())) == len(pairs)
    return pairs, furthest


def _labels(mdp: MDP, state: int, hidden: frozenset[str]) -> frozenset[str]:
    return frozenset(mdp.labels_of(state)) - hidden


def _steps(mdp: MDP, state: int, hidden: frozenset[str]) -> dict[tuple[str, frozenset[str]], tuple[int, float]]:
    steps = {}
    for choice in range(mdp.first_choice[state], mdp.first_choice[state + 1]):
        low, high = mdp.transitions.indptr[choice], mdp.transitions.indptr[choice + 1]
        for k in range(low, high):
            successor = int(mdp.transitions.indices[k])
            if successor == state and high - low == 1:
                continue  # final
            steps[mdp.actions[choice], _labels(mdp, successor, hidden)] = (successor, float(mdp.transitions.data[k]))
    return steps
