"""Machine code and plain Python tell the same about large graphs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from waypost.graph import (
    Graph,
    compiled,
    dominators,
    end_components,
    prob1a,
    prob1e,
    reachable,
    stay,
    strong_components,
)


def random_graph(seed: int, n: int = 3000) -> Graph:
    """Up to three choices per state, mostly to near states, so that components of all sizes appear."""
    rng = np.random.default_rng(seed)
    owned = rng.integers(1, 4, n)
    widths = rng.integers(1, 4, owned.sum())
    owner = np.repeat(np.repeat(np.arange(n), owned), widths)
    near = owner + rng.integers(-4, 6, len(owner))
    successors = np.where(rng.random(len(owner)) < 0.01, rng.integers(0, n, len(owner)), near).clip(0, n - 1)
    first = np.concatenate([[0], np.cumsum(owned)])
    return Graph(first, np.concatenate([[0], np.cumsum(widths)]), successors.astype(np.int64))


QUESTIONS = {
    "reachable": lambda g, mask: [reachable(g, mask)],
    "stay": lambda g, mask: stay(g, ~mask),
    "prob1e": prob1e,
    "prob1a": lambda g, mask: [prob1a(g, mask)],
    "components": lambda g, _: [strong_components(g).component, strong_components(g).members],
    "end components": lambda g, mask: end_components(g, inside=~mask),
    "dominators": lambda g, mask: [dominators(g, 0, mask)],
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_both_twins_answer_alike(question, monkeypatch):
    for seed in range(3):
        graph = random_graph(seed)
        mask = np.random.default_rng(seed + 100).random(graph.n_states) < 0.01
        answers = []
        for worth in (np.inf, -1):
            monkeypatch.setattr(compiled, "WORTH_COMPILING", worth)
            answers.append([np.asarray(part).tolist() for part in QUESTIONS[question](graph, mask)])
        assert answers[0] == answers[1]


def test_a_long_chain_does_not_exhaust_the_stack():
    """Every walk is a loop, not a recursion."""
    n = 200_000
    graph = Graph(np.arange(n + 1), np.arange(n + 1), np.minimum(np.arange(1, n + 1), n - 1))
    last = np.arange(n) == n - 1
    assert len(strong_components(graph)) == n
    assert dominators(graph, 0, last).all()
    assert prob1e(graph, last)[0].all()


def test_a_long_chain_that_starts_again_is_taken_apart_at_once():
    """Every state may fall back to the first; only the last leaves, and then nobody can stay. Not a pass per state."""
    n = 20_000
    successors = np.column_stack([np.zeros(n, np.int64), np.minimum(np.arange(1, n + 1), n - 1)])
    successors[-1] = n - 1
    graph = Graph(np.arange(n + 1), 2 * np.arange(n + 1), successors.ravel())
    number, inner = end_components(graph)
    assert np.flatnonzero(number >= 0).tolist() == np.flatnonzero(inner).tolist() == [n - 1]


@compiled.kernel
def doubled(numbers):
    """Twice every number."""
    result = numbers.copy()
    for i in range(len(numbers)):
        result[i] = 2 * numbers[i]
    return result


def test_a_kernel_that_was_compiled_stays_so():
    """Small work runs as it is; once somebody compiled, nobody goes back."""
    assert doubled.sized(1) is doubled.plain
    with compiled.eagerly():
        assert doubled.sized(1) is doubled.compiled
    assert doubled.sized(1) is doubled.compiled
    assert doubled.sized(0) is doubled.plain  # rationals
    assert doubled.compiled(np.arange(3)).tolist() == [0, 2, 4]


def test_machine_code_is_made_again_when_what_it_calls_has_changed(tmp_path):
    """Compiled code holds the kernels it calls; one that is written elsewhere and changed must not live on in it."""
    (tmp_path / "caller.py").write_text(
        "from waypost.graph.compiled import kernel\nfrom called import number\n"
        "@kernel\ndef doubled(x):\n    return 2 * number(x)\nprint(doubled.compiled(1))\n"
    )
    said = []
    for number in (1, 1, 20):
        (tmp_path / "called.py").write_text(
            f"from waypost.graph.compiled import kernel\n@kernel\ndef number(x):\n    return x + {number}\n"
        )
        command = [sys.executable, "-B", "caller.py"]
        said.append(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip())
    assert said == ["4", "4", "42"]
    assert list(tmp_path.rglob("*.nbi"))  # it was kept


def test_a_machine_that_keeps_nothing_compiles_all_the_same(monkeypatch):
    """Without a place for its cache numba refuses; we do without."""
    asked = []

    def refusing(self, **options):
        asked.append(options)
        if options["cache"]:
            raise RuntimeError("no locator available")
        return self.plain

    monkeypatch.setattr(compiled.Kernel, "_compiled", refusing)
    assert compiled.kernel(len).compiled("abc") == 3
    assert asked == [{"cache": True}, {"cache": False}]
