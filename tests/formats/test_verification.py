"""Storm agrees with what a witness claims; and sees it where a claim is wrong."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strategies
from waypost.cases import loan
from waypost.cli import cli
from waypost.errors import StrategyError, UndefinedImportanceError, WaypostError
from waypost.formats import read_mdp, write_mdp
from waypost.formats.storm import read_symbolic
from waypost.formats.strategies import read_strategy, write_strategy
from waypost.formats.verification import second_opinion
from waypost.importance import state_importance
from waypost.model import MDP, Strategy, induced_mdp
from waypost.solve import reachability

pytest.importorskip("stormpy")


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(strategies.mdps(), st.sampled_from(["lower", "upper"]), st.sampled_from(["all", "optimal"]), st.data())
def test_storm_finds_every_witness_to_attain_its_bound(mdp, side, scope, data):
    """Law: under the witness of a bound, Storm's conditional probability is that bound, as a fraction."""
    target, asked = (data.draw(st.sampled_from(mdp.states)) for _ in range(2))
    try:
        result = state_importance(mdp, target=target, scope=scope, states=asked, exact=True)
    except UndefinedImportanceError:
        return
    found = second_opinion(result.witness(asked, side), target=target, groups={"it": asked}, exact=True)
    assert found.importance["it"] == getattr(result[asked], side)


def test_a_value_between_the_bounds_is_found_by_storm():
    """Law: a strategy that tosses once, before the start, attains what lies between."""
    result = state_importance(loan(), target="Granted", scope="all")
    found = second_opinion(result.witness("Error", value=0.05), target="Granted", groups={"e": "Error"})
    assert found.importance["e"] == pytest.approx(0.05, abs=1e-9)


def test_without_the_target_there_is_no_importance():
    quitting = Strategy.from_dict(loan(), {"s0": "Consult", "Consultation": "Angry"})
    with pytest.raises(StrategyError, match="not reached"):
        second_opinion(quitting, target="Granted", groups={"e": "Error"})


@pytest.fixture
def witness(tmp_path):
    result = state_importance(loan(), target="Granted", scope="all")
    write_strategy(result.witness("Error", "upper"), tmp_path / "witness.json")
    return str(tmp_path / "witness.json")


def ran(*words):
    done = CliRunner().invoke(cli, [*map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_verify_tells_equal_claims_from_wrong_ones(witness):
    words = ("verify", "loan", witness, "--target", "Granted", "--state", "Error")
    done = ran(*words, "--side", "upper", "--exact")
    assert done.exit_code == 0
    assert done.output.count("98/953") == 3
    assert ran(*words, "--side", "upper").exit_code == 0
    assert ran(*words).exit_code == 0
    wrong = ran(*words, "--side", "lower")
    assert wrong.exit_code == 1
    assert "NO" in wrong.output
    with pytest.raises(WaypostError, match="--state"):
        ran("verify", "loan", witness, "--target", "Granted", "--side", "upper")


def test_a_bound_over_best_strategies_is_not_attained_by_one_that_is_none(tmp_path):
    """Law: the same importance under a strategy out of scope is no witness."""
    poor = {"s0": {"Consult": 1}, "Consultation": {"Apply": 0.5, "Angry": 0.5}, "Error": "Quit", "Rework": "Quit"}
    (tmp_path / "poor.json").write_text(json.dumps(poor))
    words = ("verify", "loan", tmp_path / "poor.json", "--target", "Granted", "--state", "Consultation")
    assert ran(*words, "--side", "upper", "--scope", "all").exit_code == 0
    done = ran(*words, "--side", "upper", "--scope", "optimal")
    assert done.exit_code == 1
    assert "no best strategy" in done.output
    assert "0.98 is possible" in done.output


def test_rare_events_are_not_equal_because_all_of_them_are_small(tmp_path):
    """Law: importance 1e-12 and 3e-10 differ, whatever an absolute tolerance would say; fractions settle the rest."""
    steps = {
        "a": {"seldom": {"b": 1e-12, "won": 1 - 1e-12}, "less seldom": {"b": 3e-10, "won": 1 - 3e-10}},
        "b": {"go": "won"},
        "won": {},
    }
    write_mdp(MDP.from_dict(steps, initial="a", labels={"won": ["won"]}), tmp_path / "rare.drn")
    (tmp_path / "often.json").write_text(json.dumps({"a": "less seldom"}))
    words = ("verify", tmp_path / "rare.drn", tmp_path / "often.json", "--target", "won", "--state", "b")
    assert ran(*words, "--side", "lower").exit_code == 1
    assert ran(*words, "--side", "lower", "--exact").exit_code == 1
    assert ran(*words, "--side", "upper", "--exact").exit_code == 0


@pytest.mark.parametrize("ending", ["drn", "prism"])
def test_the_chain_of_a_witness_is_a_model_of_its_own(witness, tmp_path, ending):
    """Law: in the chain a witness leaves, the importance of the state is the bound."""
    ran("convert", "loan", tmp_path / f"chain.{ending}", "--strategy", witness, "--exact")
    text = (tmp_path / f"chain.{ending}").read_text()
    assert ("@type: DTMC" if ending == "drn" else "\ndtmc\n") in text
    chain = read_mdp(tmp_path / f"chain.{ending}", exact=True)
    names = [name for name in chain.states if name.startswith("Error,")]
    found = state_importance(
        chain, target=[n for n in chain.states if n.startswith("Granted,")], scope="all", exact=True
    )
    assert sum(found[name].upper for name in names) == sum(found[name].lower for name in names)
    assert str(sum(found[name].upper for name in names)) == "98/953"


def test_a_strategy_with_memory_goes_out_as_storms_scheduler_on_the_product(witness, tmp_path):
    ran("convert", "loan", tmp_path / "product.drn", "--strategy", witness, "--scheduler", tmp_path / "s.json")
    product = read_mdp(tmp_path / "product.drn")
    entries = json.loads((tmp_path / "s.json").read_text())
    assert len(entries) == product.n_states
    again = read_strategy(product, tmp_path / "s.json")
    errors = [name for name in product.states if name.startswith("Error,")]
    goals = [name for name in product.states if name.startswith("Granted,")]
    found = second_opinion(again, target=goals, groups={"it": errors}, exact=True)
    assert str(found.importance["it"]) == "98/953"
    with pytest.raises(WaypostError, match="--strategy"):
        ran("convert", "loan", tmp_path / "p.drn", "--scheduler", tmp_path / "s.json")


def test_a_witness_of_a_program_belongs_to_what_was_built_up_to_the_target(tmp_path):
    """Law: explain, verify and convert speak of the same states, although more lies behind the target."""
    (tmp_path / "walk.prism").write_text("""mdp
module walk
  x : [0..9] init 0;
  late : bool init false;
  [step] x<9 -> 0.9 : (x'=x+1)&(late'=x>3) + 0.1 : (x'=0);
  [jump] x<8 -> 0.5 : (x'=x+2)&(late'=x>3) + 0.5 : (x'=0);
endmodule
""")
    words = ("--target", "x=3")
    made = tmp_path / "w.json"
    ran("explain", tmp_path / "walk.prism", *words, "--witness", "x=1", "--side", "upper", "-o", made)
    done = ran("verify", tmp_path / "walk.prism", made, *words, "--state", "x=1", "--side", "upper")
    assert done.exit_code == 0
    ran("convert", tmp_path / "walk.prism", tmp_path / "chain.drn", *words, "--strategy", made)
    assert read_mdp(tmp_path / "chain.drn").n_states < 10


def test_storm_reads_the_chain_in_its_own_way(witness, tmp_path):
    """The PRISM file is built by Storm, the DRN file read by us: one model."""
    chain = induced_mdp(read_strategy(loan(), witness))
    for ending in ("prism", "drn"):
        write_mdp(chain, tmp_path / f"c.{ending}")
    built = read_symbolic(tmp_path / "c.prism")
    assert built.n_states == chain.n_states
    goal = [f"state={s}" for s, name in enumerate(chain.states) if name.startswith("Granted,")]
    other = [name for name in chain.states if name.startswith("Granted,")]
    values = [reachability(m, target=t, optimum="max")[m.initial] for m, t in ((built, goal), (chain, other))]
    assert values[0] == pytest.approx(values[1])
