"""Whatever is wrong with the input: one sentence on stderr, exit code 2, no traceback, nothing half-written."""

from __future__ import annotations

import importlib
import json
import os

import click
import pytest

from waypost import cli
from waypost.cases import loan
from waypost.formats import drn, jsonfile

OK = {
    "format": "waypost-mdp",
    "initial": "s",
    "states": {
        "s": {"a": {"t": 0.5, "u": 0.5}, "b": "m"},
        "m": {"back": "s", "on": "t"},
        "t": {},
        "u": {},
        "far": {"go": "t"},
    },
    "labels": {"goal": ["t"], "island": ["far"]},
}
OPEN = 'mdp\nconst int N;\nmodule m\n x:[0..N] init 0;\n [go] x<N -> (x\'=x+1);\nendmodule\nlabel "done" = x=N;\n'


def model(distribution: str) -> bytes:
    return (
        f'{{"format": "waypost-mdp", "initial": "s", "states": {{"s": {{"a": {distribution}}}, "t": {{}}}}}}'.encode()
    )


FILES = {
    "ok.json": json.dumps(OK).encode(),
    "sum.json": model('{"s": 0.5, "t": 0.4}'),
    "negative.json": model('{"s": -0.5, "t": 1.5}'),
    "nan.json": model('{"s": NaN, "t": 0.5}'),
    "nantext.json": model('{"s": "nan", "t": 0.5}'),
    "huge.json": model('{"t": 1e400}'),
    "successor.json": model('{"u": 1}'),
    "nostates.json": b'{"format": "waypost-mdp", "initial": "s", "states": {}}',
    "other.json": b'{"some": "thing"}',
    "cut.json": jsonfile.dumps(loan()).encode()[:300],
    "deep.json": b'{"a":' * 100_000,
    "cut.drn": drn.dumps(loan()).encode()[:300],
    "nan.drn": b"@type: MDP\n@model\nstate 0 init\n\taction a\n\t\t0 : 0.5\n\t\t1 : nan\nstate 1\n",
    "noinit.drn": b"@type: MDP\n@model\nstate 0\n\taction a\n\t\t0 : 1\n",
    "empty.json": b"",
    "blank.drn": b" \n\n",
    "binary.drn": bytes(range(256)) * 20,
    "latin.json": '{"format": "é"}'.encode("latin-1"),
    "nul.prism": b"mdp\0\0\0",
    "list.json": b"[1, 2",
    "strategy-state.json": b'{"S": "a"}',
    "strategy-action.json": b'{"s": "aa", "m": "on"}',
    "strategy-sum.json": b'{"s": {"a": 0.5}, "m": "on"}',
    "strategy-missing.json": b"{}",
    "strategy-never.json": b'{"s": "b", "m": "back"}',
    "strategy-memory.json": b'{"start": 0, "modes": [], "update": 3}',
    "strategy-list.json": b"[1]",
}
CASES = [
    ("explain sum.json -t t", "action 'a' in state 's' has probabilities summing to 0.9, not 1"),
    ("explain negative.json -t t", "action 'a' in state 's' has probability -0.5 of going to 's'"),
    ("explain nan.json -t t", "action 'a' in state 's' has probability nan of going to 's'"),
    ("explain nan.json -t t --exact", "action 'a' in state 's' has probability nan of going to 's'"),
    ("explain nantext.json -t t", "action 'a' in state 's': expected a probability, found 'nan'"),
    ("explain huge.json -t t", "action 'a' in state 's' has probability inf of going to 't'"),
    ("explain successor.json -t t", "action 'a' in state 's' leads to 'u', which is not a state"),
    ("explain nan.drn -t 1", "action 'a' in state '0' has probability nan of going to '1'"),
    ("explain ok.json -t gaol", "no label or state 'gaol' in this model; did you mean 'goal'?"),
    ("explain ok.json -t goal -s farr", "no label or state 'farr' in this model; did you mean 'far'?"),
    ("explain ok.json -t island", "no strategy reaches 'island' from 's', so importance is undefined"),
    ("explain ok.json", "say what to reach: --target LABEL"),
    ("explain ok.json -t goal --strategy strategy-state.json", "no state 'S' in this model"),
    ("explain ok.json -t goal --strategy strategy-action.json", "no action 'aa' in state 's'; did you mean 'a'?"),
    ("explain ok.json -t goal --strategy strategy-sum.json", "the strategy's probabilities in state 's' sum to 0.5"),
    ("explain ok.json -t goal --strategy strategy-missing.json", "the strategy visits state 's' and says nothing"),
    ("explain ok.json -t goal --strategy strategy-never.json", "this strategy never reaches 'goal' from 's'"),
    ("explain ok.json -t goal --strategy strategy-memory.json", "a strategy with memory has a list of"),
    ("explain ok.json -t goal --strategy strategy-list.json", "strategy-list.json"),
    ("explain ok.json -t goal --strategy missing.json", "missing.json"),
    ("explain ok.json -t goal --strategy binary.drn", "binary.drn"),
    ("explain nostates.json -t t", "the model has no states"),
    ("explain other.json -t t", "this JSON is not a model"),
    ("explain cut.json -t t", "this is not JSON"),
    ("explain deep.json -t t", "this is not JSON"),
    ("explain cut.drn -t t", "cut off"),
    ("explain noinit.drn -t 0", "the model has 0 initial states"),
    ("explain empty.json -t t", "empty.json is empty"),
    ("explain blank.drn -t t", "blank.drn is empty"),
    ("explain binary.drn -t t", "binary.drn is no model file we know"),
    ("explain latin.json -t t", "latin.json is no model file we know"),
    ("explain folder -t t", "folder"),
    ("explain missing.json -t t", "missing.json"),
    ("check missing.json", "missing.json"),
    ("check sum.json", "action 'a' in state 's' has probabilities summing to 0.9, not 1"),
    ("explain ok.json -t goal --const N=3", "ok.json has no constants to set"),
    ("explain open.prism -t done --const N", "a constant is given as NAME=VALUE, not 'N'"),
    ("explain open.prism -t done --const N=3,N=4", "--const gives N two values, 3 and 4; give it one"),
    ("explain ok.json -t goal --group g=m --group g=u", "--group gives g two values, m and u; give it one"),
    ("log l.csv --column case=a --column case=b", "--column gives case two values, a and b; give it one"),
    ("path ok.json -t goal --path s,a,t", "the path runs through 't', which belongs to the target 'goal'"),
    ("path ok.json -t goal --path s,b,m,back,s", "the path visits 's' twice; importance is defined for simple paths"),
    ("path ok.json -t goal --path s,a", "a path alternates states and actions"),
    ("path ok.json -t goal --path m", "a path starts in the initial state 's', not in 'm'"),
    ("path ok.json -t goal --path s,c,m", "no action 'c' in state 's'"),
    ("path ok.json -t goal --path s,a,m", "action 'a' in state 's' does not lead to 'm'; it leads to: t, u"),
    ("path ok.json -t goal --path s,b,n", "no state 'n' in this model"),
    ("path ok.json -t u --path s,b,m,on,far", "does not lead to 'far'"),
    ("path ok.json -t goal --path s --strategy strategy-never.json", "this strategy never reaches 'goal' from 's'"),
    ("explain ok.json -t goal --json nowhere/x.json", "cannot write 'nowhere/x.json'"),
    ("explain ok.json -t goal --csv folder", "cannot write 'folder'"),
    ("explain ok.json -t goal -o x.doc", "cannot write 'x.doc': the ending must be one of"),
]
STORM_CASES = [
    ("explain open.prism -t done", "open.prism leaves N open; give --const N=..."),
    ("explain open.prism -t done --const M=3", "open.prism has no open constant 'M'; open constants: N"),
    ("explain open.prism -t done --const N=x", "open.prism"),
    ("explain open.prism -t done --const N=1.5", "open.prism"),
    ("explain cut.prism -t done", "cut.prism"),
    ("explain nul.prism -t done", "nul.prism"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files of all kinds, in which the command runs."""
    for name, content in {**FILES, "open.prism": OPEN.encode(), "cut.prism": OPEN.encode()[:60]}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(arguments: list[str], capsys) -> str:
    """Run a command that must fail, and give back what it says, without the name of the program."""
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    printed = capsys.readouterr()
    assert left.value.code == 2
    assert printed.out == ""
    assert printed.err.startswith("waypost: ")
    assert printed.err.count("\n") == 1
    assert len(printed.err) < 700
    assert printed.err.endswith("\n")
    assert "Traceback" not in printed.err
    return printed.err.removeprefix("waypost: ")


@pytest.mark.parametrize(("arguments", "message"), CASES, ids=[case[0] for case in CASES])
def test_bad_input_gets_one_clear_sentence(folder, capsys, arguments, message):
    before = sorted(folder.iterdir())
    assert message in refused(arguments.split(), capsys)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("arguments", "message"), STORM_CASES, ids=[case[0] for case in STORM_CASES])
@pytest.mark.usefixtures("folder")
def test_bad_prism_gets_one_clear_sentence(capsys, arguments, message):
    pytest.importorskip("stormpy")
    assert message in refused(arguments.split(), capsys)


@pytest.mark.parametrize("option", ["--json", "--csv", "--html", "-o"])
def test_a_failure_leaves_the_old_file_as_it_was(folder, capsys, option):
    """Nothing is half-written, and nothing is left lying about."""
    ending = {"--csv": "csv", "--html": "html"}.get(option, "json")
    old = folder / f"old.{ending}"
    old.write_text("keep me")
    before = sorted(folder.iterdir())
    refused(["explain", "ok.json", "-t", "gaol", option, old.name], capsys)
    refused(["explain", "cut.json", "-t", "goal", option, old.name], capsys)
    assert old.read_text() == "keep me"
    assert sorted(folder.iterdir()) == before


def test_a_name_in_a_message_cannot_break_the_line(folder, capsys):
    """Line breaks and terminal codes in names are spelt out."""
    states = {"s\nwaypost: all fine\x1b[31m": {"a\r\nb": {"t": 0.5}}, "t": {}}
    (folder / "evil.json").write_text(
        json.dumps({"format": "waypost-mdp", "initial": "s\nwaypost: all fine\x1b[31m", "states": states})
    )
    said = refused(["explain", "evil.json", "-t", "t"], capsys)
    assert "\x1b" not in said
    refused(["explain", "ok.json", "-t", "go\nal"], capsys)
    refused(["explain", "ok.json", "-t", "goal", "-s", "\x1b[2J\n"], capsys)


def test_a_list_of_known_names_cannot_break_the_line(folder, capsys):
    """Suggestions come from the file too."""
    states = {"s": {"a": "s"}, "new\nline": {}, "\x1b[2J": {}}
    (folder / "evil.json").write_text(json.dumps({"format": "waypost-mdp", "initial": "s", "states": states}))
    assert "\x1b" not in refused(["explain", "evil.json", "-t", "nothing like it"], capsys)


@pytest.mark.parametrize(
    "arguments", [["bogus"], ["explain", "--bogus"], ["explain", "--scope", "none"], ["path", "-t", "x"]]
)
def test_wrong_usage_exits_with_2_and_says_where_help_is(capsys, arguments):
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    assert left.value.code == 2
    assert "--help" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_told(folder, capsys):
    (folder / "folder").chmod(0o500)
    assert "Permission denied" in refused(["explain", "-t", "Granted", "--json", "folder/x.json"], capsys)


@pytest.mark.slow
def test_a_million_states_in_one_line_are_read(folder, capsys):
    """40 MB without a line break: read, checked and answered."""
    n = 1_000_000
    with (folder / "million.json").open("w") as file:
        file.write('{"format":"waypost-mdp","initial":"s0","states":{')
        file.writelines(f'"s{i}":{{"a":{{"s{i + 1}":0.5,"s0":0.5}}}},' for i in range(n - 1))
        file.write(f'"s{n - 1}":{{}}}},"labels":{{"goal":["s{n - 1}"]}}}}')
    with pytest.raises(SystemExit) as left:
        cli.main(["check", "million.json"])
    assert left.value.code == 0
    assert "1000000 states, 1000000 choices, 1999999 transitions" in capsys.readouterr().out
    raw = (folder / "million.json").read_bytes()
    (folder / "million.json").write_bytes(raw[:-100])
    assert "this is not JSON" in refused(["check", "million.json"], capsys)


SINGLE = [
    (name, option)
    for name in cli.COMMANDS
    for option in importlib.import_module(cli.COMMANDS[name][0]).command.params
    if isinstance(option, click.Option) and not option.is_flag and not option.multiple
]


@pytest.mark.parametrize(("name", "option"), SINGLE, ids=[f"{name}{option.opts[0]}" for name, option in SINGLE])
def test_an_option_of_one_value_is_not_taken_twice(name, option, capsys):
    """Law: nothing that was said is dropped without a word, whichever command and option it is."""
    value = getattr(option.type, "choices", ["1"])[0]
    with pytest.raises(SystemExit) as ended:
        cli.main([name, option.opts[0], value, option.opts[-1], value])
    assert ended.value.code == 2
    assert "takes one value and was given 2 times" in capsys.readouterr().err


def test_two_strategies_are_sent_to_the_command_that_compares_them(capsys):
    with pytest.raises(SystemExit):
        cli.main(["explain", "--strategy", "a.json", "--strategy", "b.json"])
    assert "waypost compare MODEL --strategy A --strategy B tells how two differ" in capsys.readouterr().err


def test_a_flag_may_be_said_twice(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["explain", "-q", "-q", "--top", "1"])
    assert ended.value.code == 0
    assert "Application+" in capsys.readouterr().out
