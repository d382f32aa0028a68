"""What keeps the house simple to live in: short modules, one word for one thing, one shape for one kind of thing."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

import waypost
from waypost.formats import FORMATS

ROOT = Path(__file__).parents[1]
HOUSE = Path(waypost.__file__).parent
MODULES = sorted(HOUSE.rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LONGEST_MODULE, LONGEST_FUNCTION = 400, 70  # lines; of a function, without its docstring
MANY = {"formats": {"explicit"}}  # several files, which no single text holds


def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def called(module: Path) -> str:
    return module.relative_to(HOUSE).as_posix()


@pytest.mark.parametrize("module", MODULES, ids=called)
def test_a_module_fits_into_one_head(module):
    assert len(module.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("module", MODULES, ids=called)
def test_a_function_fits_onto_one_screen(module):
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.FunctionDef):
            said = node.body[0] if ast.get_docstring(node) else None
            told = 0 if said is None else (said.end_lineno or 0) - said.lineno + 1
            assert (node.end_lineno or 0) - node.lineno + 1 - told <= LONGEST_FUNCTION, node.name


def test_the_name_of_a_class_means_one_thing_in_the_whole_house():
    """Law: two classes never share a name, nor do a class and a kind of values, nor two kinds of values."""
    named = defaultdict(set)
    for module in MODULES:
        for node in parsed(module).body:
            if isinstance(node, ast.ClassDef):
                named[node.name].add(f"a class of {called(module)}")
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if re.fullmatch(r"[A-Z][a-z]\w*", name):
                    named[name].add(ast.unparse(node.value))
    assert {name: meanings for name, meanings in named.items() if len(meanings) > 1} == {}


def test_shipped_code_knows_nothing_beside_the_checkout():
    for module in MODULES:
        assert "../shared" not in module.read_text(encoding="utf-8")


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_formats_have_one_shape(known):
    """Law: `FORMAT` has what its module has, and who writes a file also gives its content."""
    home = importlib.import_module(known.write.__module__ if known.write else known.read.__module__)
    assert known is home.FORMAT
    for verb in ("read", "write"):
        assert getattr(known, verb) is getattr(home, verb, None)
    if home.__name__.rpartition(".")[2] not in MANY["formats"]:
        assert hasattr(home, "dumps") == (known.write is not None)
    assert known.loads in (None, getattr(home, "loads", None))


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / "constraints" / name).read_text().splitlines()
    return {line.partition("==")[0]: re.split(r"[ ;]", line.partition("==")[2])[0] for line in lines if "==" in line}


def floors(wanted: list[str]) -> dict[str, str]:
    found = (re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", each) for each in wanted)
    return {match[1].lower().replace("_", "-"): match[2] for match in found if match}


def test_the_versions_that_are_tested_are_those_that_are_promised():
    """The lowest version of each library is the one asked for, and every library has one that was tried last."""
    extras = PROJECT["optional-dependencies"]
    gathered = re.fullmatch(r"waypost\[([\w,]+)\]", extras["all"][0])[1].split(",")
    asked = floors([*PROJECT["dependencies"], *(each for extra in gathered for each in extras[extra])])
    lowest, newest = pins("minimum.txt"), pins("locked.txt")
    for library, floor in asked.items():
        least = [int(part) for part in floor.split(".")]
        assert [int(part) for part in re.findall(r"\d+", lowest[library])][: len(least)] == least, library
        assert library in newest
    assert set(floors(extras["dev"])) <= set(newest)


def test_every_step_of_the_first_walk_is_there():
    """The map leads from a command to the table in at most eight steps, and every place that it names exists."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    walk = re.search(r"### `waypost explain model\.drn.*?(?=\n### )", text, re.DOTALL)[0]
    steps = re.findall(r"^(\d+)\. ", walk, re.MULTILINE)
    assert [int(step) for step in steps] == list(range(1, len(steps) + 1))
    assert len(steps) <= 8
    for name in re.findall(r"`((?:[a-z_]+[./])+[\w.]+)`", text):
        assert _is_there(name), name


def _is_there(name: str) -> bool:
    """Whether a file, a module, or something in a module of the house is called so."""
    path = name.removesuffix(".py").replace("/", ".").strip(".").removeprefix("waypost.")
    if (ROOT / name).exists() or (HOUSE / name).exists():
        return True
    parts = path.split(".")
    for k in range(len(parts), 0, -1):
        home = HOUSE.joinpath(*parts[:k])
        if home.is_dir() or home.with_suffix(".py").exists():
            found = importlib.import_module(".".join(["waypost", *parts[:k]]))
            for part in parts[k:]:
                if not hasattr(found, part):
                    return False
                found = getattr(found, part)
            return True
    return False
