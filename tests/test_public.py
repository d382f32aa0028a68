"""The promise: these names, documented, and a command line that answers at once."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import waypost

CONTRACT = {
    "MDP",
    "Strategy",
    "WaypostError",
    "absolute_importance",
    "path_importance",
    "reachability",
    "read_mdp",
    "state_importance",
}
HEAVY = {"pandas", "matplotlib", "numba", "stormpy", "scipy", "numpy", "sklearn", "aalpy", "rich", "jinja2", "lxml"}


def test_the_public_names_are_exactly_these():
    """A new name here is a promise; taking one away breaks somebody's program."""
    assert set(waypost.__all__) == {
        *CONTRACT,
        "Bounds",
        "ChoiceImportance",
        "Decisions",
        "Explanation",
        "PathImportance",
        "StateImportance",
        "Pattern",
        "PatternImportance",
        "bootstrap",
        "case",
        "choice_importance",
        "count_mdp",
        "decisions",
        "explain",
        "explore",
        "find_patterns",
        "group_importance",
        "learn_mdp",
        "observed_strategy",
        "pattern_importance",
        "read_log",
        "read_strategy",
        "rollouts",
        "success_after",
        "success_without",
        "usual_ways",
        "without",
        "write_mdp",
        "write_strategy",
    }
    assert waypost.__all__ == sorted(waypost.__all__, key=lambda name: (not name.isupper(), name))
    assert set(waypost.__all__) <= set(dir(waypost))


@pytest.mark.parametrize("name", waypost.__all__)
def test_every_public_name_is_documented(name):
    documented = inspect.getdoc(getattr(waypost, name))
    assert documented
    assert not documented.startswith(f"{name}(")  # a dataclass without words of its own


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError):
        waypost.state_relevance  # noqa: B018


def test_what_changes_the_meaning_must_be_said():
    """Target, scope and optimum are keywords without a default."""
    for function, words in {
        waypost.state_importance: ["target", "scope"],
        waypost.path_importance: ["path", "target", "scope"],
        waypost.absolute_importance: ["target"],
        waypost.group_importance: ["target", "scope", "groups"],
        waypost.pattern_importance: ["pattern", "target", "scope"],
        waypost.choice_importance: ["target", "scope"],
        waypost.reachability: ["target", "optimum"],
    }.items():
        parameters = inspect.signature(function).parameters
        for word in words:
            assert parameters[word].kind is inspect.Parameter.KEYWORD_ONLY
            assert parameters[word].default is inspect.Parameter.empty


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_imports_nothing_heavy(argument):
    """So that it answers at once."""
    code = (
        "import sys\nfrom waypost.cli import main\ntry:\n    main([sys.argv[1]])\n"
        "finally:\n    print('loaded', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, argument], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "click" in loaded
    assert not loaded & HEAVY
