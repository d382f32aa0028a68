"""How far a strategy found in floats may be from the best: a bound on the error, from the numbers themselves.

What a strategy is worth, ``w = a gain - b loss``, is at most ``w + eps e`` under *any* strategy if for every choice `c`

    e(x) - sum_y P(c, y) e(y)  >=  (n(c) + 6) (size(x) + size(c))  +  better(c) / eps

where ``size`` is what is at stake (``a gain + b loss``), ``better(c) = sum_y P(c, y) w(y) - w(x)`` as floats have it,
and ``n(c)`` how many successors it has: then ``w + eps e`` never rises along a run, whatever is chosen. The first term
is what rounding can hide. With ``u = eps / 2``: products and their sum, ``(n + 4) u size(c)``; the worth of the state,
``3 u size(x)``; probabilities rounded when they were read and when staying was left out, ``4 u size(c)``; their sum,
which is not quite 1, ``n u size(x)``; the difference, ``u`` of both. All this is less than ``(n + 6) eps`` of both.

Such an ``e`` is the *strain* of a state. It is first found for the strategy itself, in which it is what is at stake,
added up along the run, then raised where another choice asks for more. A choice that is clearly worse (`CLEAR`) asks
for nothing: the strain of its successors is a smaller share of what is at stake there (`HARMLESS`).

Nothing of this asks where ``w`` comes from. So what is equal but for rounding is made equal first, at the greatest of
the values: a choice whose successors are all worth what its state is changes nothing, exactly, and asks only for the
greatest strain among them. In an end component runs may wander for ever that way.
"""

from __future__ import annotations

from waypost.graph.compiled import kernel

EPS = 2.220446049250313e-16
HARMLESS = 5e-11  # the share of what is at stake by which a best strategy may be missed
CLEAR = 1e-10  # a choice that is worse by this share is worse
WITHOUT_RATIO = 8.0  # where no ratio is asked for, as many times that: nothing was judged a little above it
EQUAL = 1e-13  # and by which worths may differ for rounding
RAISES = 40  # passes in which strains may rise


@kernel
def raise_strain(block, rewards, earned, worth, strain, slack) -> bool:  # type: ignore[no-untyped-def]
    """Raise strains until no choice of a component asks for more; False if they still rise after some passes.

    `worth` is that of every terminal state, and of every component that was here before; `slack` as many times `CLEAR`
    is clear.
    """
    for x in block:
        worth[x] = rewards.gain_weight * earned.gain[x] - rewards.loss_weight * earned.loss[x]
    for k in range(RAISES):
        raised = False
        for i in range(len(block)):
            x = block[i] if k % 2 == 0 else block[len(block) - 1 - i]
            if earned.choice[x] >= -1 and _levelled(x, rewards, earned, worth):
                raised = True
        if not raised:
            break
    for k in range(RAISES):
        raised = False
        for i in range(len(block)):
            x = block[i] if k % 2 == 0 else block[len(block) - 1 - i]
            if earned.choice[x] >= -1 and _raised(x, rewards, earned, worth, strain, slack):
                raised = True
        if not raised:
            return True
    return False


@kernel
def _levelled(x, rewards, earned, worth):  # type: ignore[no-untyped-def]
    """Make a state worth what all successors of a choice are, where they differ for rounding only; whether it rose."""
    most = worth[x]
    same = EQUAL * (rewards.gain_weight * earned.gain[x] + rewards.loss_weight * earned.loss[x])
    for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
        if rewards.enabled[c]:
            high = most
            for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
                there = worth[rewards.indices[e]]
                if abs(there - worth[x]) > same:
                    high = most
                    break
                high = max(high, there)
            most = max(most, high)
    rose = most > worth[x]
    worth[x] = most
    return rose


@kernel
def _raised(x, rewards, earned, worth, strain, slack):  # type: ignore[no-untyped-def]
    """Raise the strain of a state to what its choices ask for, and a little more; whether that was needed."""
    stake = rewards.gain_weight * earned.gain[x] + rewards.loss_weight * earned.loss[x]
    asked = 0.0
    if rewards.may_stop[x] and worth[x] < 0.0:  # it might have stopped
        asked = 4.0 * stake - worth[x] / EPS
    spare = 0.0
    for c in range(rewards.first_choice[x], rewards.first_choice[x + 1]):
        if not rewards.enabled[c]:
            continue
        better = 0.0
        size = stake
        onward = 0.0
        most = 0.0
        level = True
        low = rewards.indptr[c]
        high = rewards.indptr[c + 1]
        for e in range(low, high):
            y = rewards.indices[e]
            p = rewards.data[e]
            if y != x:
                better += p * (worth[y] - worth[x])
                size += p * (rewards.gain_weight * earned.gain[y] + rewards.loss_weight * earned.loss[y])
                onward += p * strain[y]
                most = max(most, strain[y])
                level &= worth[y] == worth[x]
        if level:
            asked = max(asked, most)
            continue
        if c == earned.choice[x]:
            better = abs(better)
        elif better < -slack * CLEAR * size:
            continue
        rounding = (high - low + 6) * size
        asked = max(asked, onward + rounding + max(better, 0.0) / EPS)
        spare = max(spare, 0.25 * rounding)
    if asked <= strain[x]:
        return False
    strain[x] = asked + spare
    return True


@kernel
def own_strain(x, rewards, earned) -> float:  # type: ignore[no-untyped-def]
    """What one step of the strategy itself adds to the strain of a state, and half as much again."""
    c = earned.choice[x]
    if c < 0:
        return 0.0
    up = rewards.gain_weight * earned.gain[x]
    down = rewards.loss_weight * earned.loss[x]
    value = 0.0
    for e in range(rewards.indptr[c], rewards.indptr[c + 1]):
        y = rewards.indices[e]
        value += rewards.data[e] * (rewards.gain_weight * earned.gain[y] - rewards.loss_weight * earned.loss[y])
    steps = rewards.indptr[c + 1] - rewards.indptr[c] + 6
    return float(1.5 * (2.0 * steps * (up + down) + abs(value - (up - down)) / EPS))


@kernel
def harmless(block, rewards, earned, strain, slack) -> bool:  # type: ignore[no-untyped-def]
    """Whether the strain of every state is a small share of what is at stake."""
    for x in block:
        stake = rewards.gain_weight * earned.gain[x] + rewards.loss_weight * earned.loss[x]
        if EPS * strain[x] > slack * HARMLESS * stake:
            return False
    return True
