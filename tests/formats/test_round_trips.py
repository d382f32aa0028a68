"""Writing and reading back is the identity: names, order, numbers to the last bit."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings

from formats.models import assert_same, mdps
from waypost.cases import loan
from waypost.errors import FormatError
from waypost.formats import dot, drn, explicit, jsonfile, prism, umb
from waypost.formats.graphs import from_networkx, to_networkx
from waypost.model import MDP


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@given(mdp=mdps())
def test_umb_keeps_everything(mdp, folder):
    umb.write(mdp, folder / "m.umb")
    assert_same(mdp, umb.read(folder / "m.umb"))


@given(mdp=mdps())
def test_prism_keeps_everything_but_counts(mdp):
    assert_same(mdp, prism.loads(prism.dumps(mdp), exact=mdp.exact is not None), counts=False)


@given(mdp=mdps())
def test_explicit_files_keep_everything_but_counts(mdp, folder):
    if not all(n not in ("init", "deadlock") and '"' not in n and n.splitlines() == [n] for n in mdp.labels):
        with suppress(FormatError):
            explicit.write(mdp, folder / "m.tra")
        return
    explicit.write(mdp, folder / "m.tra")
    assert_same(mdp, explicit.read(folder / "m.tra", exact=mdp.exact is not None), counts=False)


@given(mdp=mdps())
def test_drn_keeps_everything_but_empty_labels(mdp):
    mdp = mdp.with_labels({name: mask for name, mask in mdp.labels.items() if mask.any()})
    assert_same(mdp, drn.loads(drn.dumps(mdp), exact=mdp.exact is not None))


@pytest.mark.parametrize("label", ["!", "!0.5", "[x]", "//", "init", '"', "a b"])
def test_drn_takes_no_label_for_something_else(label):
    """Storm writes exit rates behind an exclamation mark, rewards in brackets, comments behind slashes."""
    mdp = MDP.from_dict({"a": {"go": "b"}, "b": {}}, initial="a", labels={label: ["b"]})
    assert drn.loads(drn.dumps(mdp)).labels[label].tolist() == [False, True]


@given(mdp=mdps())
def test_json_keeps_everything(mdp):
    assert_same(mdp, jsonfile.loads(jsonfile.dumps(mdp), exact=mdp.exact is not None))


@given(mdp=mdps())
def test_networkx_keeps_everything(mdp):
    pytest.importorskip("networkx")
    assert_same(mdp, from_networkx(to_networkx(mdp)))


@given(mdp=mdps())
@settings(max_examples=30)
def test_graphviz_reads_our_dot(mdp):
    pygraphviz = pytest.importorskip("pygraphviz")
    graph = pygraphviz.AGraph(string=dot.dumps(mdp))
    assert sum(node.startswith("s") for node in graph.nodes()) == mdp.n_states


def test_a_name_survives_graphviz():
    pygraphviz = pytest.importorskip("pygraphviz")
    graph = pygraphviz.AGraph(string=dot.dumps(loan()))
    assert {graph.get_node(node).attr["label"] for node in graph.nodes() if node.startswith("s")} == set(loan().states)
