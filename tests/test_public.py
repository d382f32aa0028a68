"""The promise: these names, documented, and a command line that answers at once."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import subprocess
import sys

import pytest

import waypost
from waypost.cases import loan
from waypost.errors import ArgumentError, NameUnknownError, PathError, StrategyError

PROMISED = """
MDP Strategy WaypostError report
read_mdp write_mdp read_log read_strategy write_strategy case
state_importance absolute_importance group_importance path_importance pattern_importance choice_importance by_variable
explain explain_log explain_agent reachability success_after success_without without decisions
find_patterns find_log_patterns usual_ways bootstrap learn_mdp observed_strategy count_mdp explore rollouts
Bounds Kind Witnesses Question Explanation AgentExplanation StateImportance PathImportance PatternImportance Pattern
ChoiceImportance VariableImportance Decisions
"""
ASKING = [
    waypost.state_importance,
    waypost.absolute_importance,
    waypost.group_importance,
    waypost.path_importance,
    waypost.explain,
]
HEAVY = {"pandas", "matplotlib", "numba", "stormpy", "scipy", "numpy", "sklearn", "aalpy", "rich", "jinja2", "lxml"}


def test_the_public_names_are_exactly_these():
    """A new name here is a promise; taking one away breaks somebody's program."""
    assert set(waypost.__all__) == set(PROMISED.split())
    assert waypost.__all__ == sorted(waypost.__all__, key=lambda name: (not name.isupper(), name))
    assert set(waypost.__all__) <= set(dir(waypost))


@pytest.mark.parametrize("name", waypost.__all__)
def test_every_public_name_is_documented(name):
    documented = inspect.getdoc(getattr(waypost, name))
    assert documented
    assert not documented.startswith(f"{name}(")  # a dataclass without words of its own


@pytest.mark.parametrize("name", sorted(set(waypost.__all__) - {"report"}))
def test_no_public_name_is_also_a_module_where_it_lives(name):
    """Whoever imports such a module first would get it in the place of the function."""
    home = importlib.import_module(waypost._HOME.get(name, "waypost.importance"))
    assert name not in {module.name for module in pkgutil.iter_modules(getattr(home, "__path__", ()))}


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


def test_the_version_is_that_of_the_package():
    assert waypost.__version__ == importlib.metadata.version("waypost")


def test_the_same_thing_has_the_same_name_in_every_signature():
    """`scope`, `states`, `exact` and `progress` mean one thing each; nothing else is called by a word of its own."""
    known = {"mdp", "target", "scope", "states", "exact", "progress", "groups", "path", "witnesses", "whatifs"}
    known |= {"decisions", "choices", "absolute", "top"}
    for function in ASKING:
        assert set(inspect.signature(function).parameters) <= known
        assert "exact" in inspect.signature(function).parameters


SYNONYMS = {
    "model",
    "goal",
    "goals",
    "scopes",
    "policy",
    "scheduler",
    "rational",
    "callback",
    "found",
    "some",
    "verbose",
}


def test_no_signature_has_another_word_for_what_has_one():
    """A model is `mdp`, a goal `target`, a policy an `agent` or a `strategy`; a name says what is in it."""
    for function in filter(inspect.isfunction, (getattr(waypost, name) for name in waypost.__all__)):
        assert not set(inspect.signature(function).parameters) & SYNONYMS, function.__name__


FUNCTIONS = [getattr(waypost, name) for name in waypost.__all__]
DOCUMENTED = [*filter(inspect.isfunction, FUNCTIONS), waypost.StateImportance.witness, waypost.StateImportance.plot]


@pytest.mark.parametrize("function", DOCUMENTED, ids=lambda function: function.__qualname__)
def test_what_people_call_says_what_it_takes_gives_and_refuses(function):
    documented = inspect.getdoc(function)
    assert "Parameters\n----------" in documented
    assert "Returns\n-------" in documented or function.__name__.startswith("write_")
    entries = documented.partition("Parameters\n----------\n")[2].partition("\n\n")[0].splitlines()
    named = {name.lstrip("*") for entry in entries if entry[0] != " " for name in entry.split(", ")}
    assert named == {name for name in inspect.signature(function).parameters if name != "self"}
    if function is not waypost.StateImportance.plot:
        assert "Raises\n------" in documented
        assert "Examples\n--------\n>>>" in documented


CLASSES = [kind for kind in FUNCTIONS if inspect.isclass(kind) and not issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_what_people_hold_says_what_is_in_it(kind):
    """Law: every field is among the attributes that a class, or what it is made of, tells of; there is an example."""
    told = "\n".join(inspect.cleandoc(each.__doc__) for each in kind.__mro__ if each.__module__.startswith("waypost."))
    assert ">>> " in inspect.cleandoc(kind.__doc__)
    listed = re.findall(r"^Attributes\n-+\n(.*?)(?=\n\n|\Z)", told, re.DOTALL | re.MULTILINE)
    named = {name for part in listed for line in part.splitlines() if line[0] != " " for name in line.split(", ")}
    fields = [each.name for each in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else ()
    assert set(getattr(kind, "_fields", fields)) <= named


OTHER = waypost.Strategy.uniform(waypost.MDP.from_dict({"a": {"go": "b"}, "b": {}}, initial="a"))
ASKED = {"target": "Granted", "scope": "all"}
WRONG = [
    ("target", [5, None, [], [1], 2.5, [None], [["Granted"]], b"Granted", object()], ArgumentError),
    ("target", ["", "granted", ["Granted", "nobody"]], NameUnknownError),
    ("scope", ["best", None, 3, [], [None], ["all"], b"all"], ArgumentError),
    ("scope", [OTHER], StrategyError),
    ("states", [5, [], [1], [None], 2.5], ArgumentError),
    ("states", ["", "s", ["s0", "s"]], NameUnknownError),
    ("exact", ["yes", 1, None], ArgumentError),
    ("progress", [5, "yes"], ArgumentError),
    ("mdp", [None, "model.drn", {}, [1]], ArgumentError),
]


@pytest.mark.parametrize(("word", "wrong", "error"), WRONG)
def test_a_wrong_argument_is_refused_in_one_sentence(word, wrong, error):
    """The same mistake is the same error in every function; it is never one of Python's own."""
    for value in wrong:
        for function in ASKING:
            parameters = inspect.signature(function).parameters
            if word not in parameters or (function is waypost.explain and word == "scope" and value == ["all"]):
                continue
            given = {"path": ["s0"], "groups": {"x": "Error"}, **ASKED, "mdp": loan(), word: value}
            asked = {name: given[name] for name in parameters if name in given}
            with pytest.raises(error) as caught:
                function(asked.pop("mdp"), **asked)
            assert len(str(caught.value)) > 10
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("groups", "error"),
    [
        (5, ArgumentError),
        ([], ArgumentError),
        ("states", ArgumentError),
        ({"x": 5}, ArgumentError),
        ({"x": []}, ArgumentError),
        ({"x": "nobody"}, NameUnknownError),
    ],
)
def test_wrong_groups_are_refused(groups, error):
    for function in (waypost.group_importance, waypost.explain):
        with pytest.raises(error):
            function(loan(), groups=groups, **ASKED)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        (5, ArgumentError),
        ([], ArgumentError),
        ([0, 1, 2], ArgumentError),
        (None, ArgumentError),
        ("nobody", NameUnknownError),
        (["s0", "Apply"], PathError),
        (["s0", "Fly", "Application"], NameUnknownError),
        (["Application"], PathError),
        (["s0", "Apply", "Granted"], PathError),
    ],
)
def test_a_wrong_path_is_refused(path, error):
    with pytest.raises(error):
        waypost.path_importance(loan(), path=path, **ASKED)


@pytest.mark.parametrize("target", [5, None, [], [1], b"Granted"])
def test_a_wrong_target_is_refused_by_every_door(target):
    for door in (loan().where, lambda given: waypost.reachability(loan(), target=given, optimum="max")):
        with pytest.raises(ArgumentError):
            door(target)


def test_wrong_witnesses_are_refused():
    for count in (-1, "3", 2.0, None, True):
        with pytest.raises(ArgumentError):
            waypost.explain(loan(), target="Granted", witnesses=count)
    found = waypost.state_importance(loan(), **ASKED)
    path = waypost.path_importance(loan(), path=["s0"], **ASKED)
    for wrong in ({}, {"side": "middle"}, {"side": 3}, {"side": "upper", "value": 0.5}, {"side": None}):
        with pytest.raises(ArgumentError):
            found.witness("Error", **wrong)
        with pytest.raises(ArgumentError):
            path.witness(**wrong)
    for state in ("nobody", 5, None):
        with pytest.raises(NameUnknownError):
            found.witness(state, "upper")
    with pytest.raises(ArgumentError):
        found.plot("pie")
    with pytest.raises(ArgumentError):
        dataclasses.replace(found, question=None).witness("Error", "upper")


def _loaded_by(*arguments):
    """Modules that a command line imports."""
    code = (
        "import sys\nfrom waypost.cli import main\ntry:\n    main(sys.argv[1:])\n"
        "finally:\n    print('loaded', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


OF_LOGS = {f"waypost.{room}" for room in ("logs", "learn", "cases", "patterns", "story")}


def _rooms(modules):
    """Packages, and the packages right in them."""
    return {".".join(name.split(".")[:2]) for name in modules}


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_imports_nothing_heavy(argument):
    """So that it answers at once."""
    loaded = {name.partition(".")[0] for name in _loaded_by(argument)}
    assert "click" in loaded
    assert not loaded & HEAVY


def test_a_question_about_a_model_imports_nothing_of_logs_nor_storm_itself(tmp_path):
    """So that it is answered soon: Storm is imported by its own process only."""
    pytest.importorskip("stormpy")
    file = tmp_path / "walk.prism"
    file.write_text("mdp module m x:[0..3]; [up] x<3 -> 0.5:(x'=x+1)+0.5:(x'=0); endmodule label \"top\"=x=3;")
    loaded = _loaded_by("explain", str(file), "--target", "top", "--csv", "-")
    assert {"waypost.importance", "waypost.formats.storm"} <= loaded
    assert not _rooms(loaded) & {"stormpy", "numpy.f2py", "numpy.testing", *OF_LOGS}


def test_a_table_of_a_model_in_a_file_imports_nothing_of_logs(tmp_path):
    """Nor patterns: what a table shares with pages is written without them."""
    file = tmp_path / "loan.json"
    waypost.write_mdp(loan(), file)
    loaded = _loaded_by("explain", str(file), "--target", "Granted")
    assert {"waypost.importance", "waypost.report.table", "rich.table"} <= loaded
    assert not _rooms(loaded) & {"pandas", *OF_LOGS}


def _asked_with(strategy):
    """Whatever takes a strategy, asked about a model with this one."""
    mdp = loan()
    granted = {"target": "Granted"}
    found = waypost.explain(mdp, **granted)
    return {
        "state_importance": lambda: waypost.state_importance(mdp, scope=strategy, **granted),
        "absolute_importance": lambda: waypost.absolute_importance(mdp, scope=strategy, **granted),
        "group_importance": lambda: waypost.group_importance(mdp, scope=strategy, groups={"a": "Error"}, **granted),
        "path_importance": lambda: waypost.path_importance(mdp, scope=strategy, path=["s0"], **granted),
        "pattern_importance": lambda: waypost.pattern_importance(mdp, scope=strategy, pattern="Error", **granted),
        "choice_importance": lambda: waypost.choice_importance(mdp, scope=strategy, **granted),
        "explain": lambda: waypost.explain(mdp, scope=strategy, **granted),
        "explain_agent": lambda: waypost.explain_agent(mdp, strategy, **granted),
        "decisions": lambda: waypost.decisions(mdp, strategy=strategy, **granted),
        "success_after": lambda: waypost.success_after(mdp, strategy=strategy, **granted),
        "success_without": lambda: waypost.success_without(mdp, strategy=strategy, **granted),
        "success_without groups": lambda: waypost.success_without(
            mdp, strategy=strategy, groups={"a": "Error"}, **granted
        ),
        "find_patterns": lambda: waypost.find_patterns(mdp, strategy=strategy, **granted),
        "usual_ways": lambda: waypost.usual_ways(mdp, strategy=strategy, **granted),
        "mixed": lambda: waypost.Strategy.mixed(waypost.Strategy.uniform(mdp), strategy, 0.5),
        "read_strategy": lambda: waypost.read_strategy(mdp, strategy),
        "plot_graph": lambda: waypost.report.plot_graph(found, strategy=strategy),
    }


@pytest.mark.parametrize("name", _asked_with(OTHER))
def test_a_strategy_of_another_model_is_refused_in_the_same_words_everywhere(name):
    """Law: the same mistake is the same error, and never one of Python's own; a strategy of an equal model is none."""
    with pytest.raises(StrategyError, match="the strategy belongs to another model: its states or actions differ"):
        _asked_with(OTHER)[name]()
    _asked_with(waypost.Strategy.uniform(loan()))[name]()
