"""The race against Storm: what is timed is the same work, and what is printed is what was measured."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import waypost
from waypost.cases import loan
from waypost.cli.bench import command
from waypost.errors import NameUnknownError, WaypostError
from waypost.formats import drn
from waypost.graph import Graph, end_components, reachable, strong_components
from waypost.paper.bench import Cost, Plan, Row, growth, qcomp, run, scale, scale_ways, storm, suite, synthetic, tally
from waypost.paper.bench.lakes import lake
from waypost.paper.bench.models import find_model, sampled, share
from waypost.paper.bench.report import Benchmark, cells, markdown, ratio, save

needs_storm = pytest.mark.skipif(not storm.is_there(), reason="needs stormpy")


def row(**given) -> Row:
    default = {
        "name": "m", "work": "w", "states": 10, "transitions": 20_000, "asked": 10, "ours": Cost(0.5, 0.1, 100.0)
    }  # fmt: skip
    return Row(**{**default, **given})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a small model in the place of a published one."""
    mdp = loan()
    (tmp_path / "greps.prism").write_text(drn.dumps(mdp.with_labels({"positive": mdp.where("Granted")})))
    return tmp_path


class TestSynthetic:
    @pytest.mark.parametrize("shape", ["few", "many"])
    def test_it_has_every_kind_of_structure_and_no_dead_part(self, shape):
        """All states are reachable; there are cycles, end components and long ways without return."""
        mdp = synthetic(20_000, shape)
        graph = Graph.of(mdp)
        start = np.arange(mdp.n_states) == 0
        assert reachable(graph, start).all()
        sizes = np.diff(strong_components(graph).pointer)
        assert (sizes > 1).sum() > 100
        assert sizes.max() > 48
        assert (sizes == 1).sum() > mdp.n_states / 4
        component, _ = end_components(graph)
        assert (np.bincount(component[component >= 0]) > 1).any()

    def test_the_shapes_differ_in_how_many_states_offer_a_choice(self):
        few, many = (np.diff(synthetic(20_000, shape).first_choice) for shape in ("few", "many"))
        assert 0 < (few > 1).sum() < 200
        assert (many > 1).sum() > 8_000

    def test_the_seed_decides(self):
        a, b, c = synthetic(500, "many"), synthetic(500, "many"), synthetic(500, "many", seed=2)
        assert (a.transitions != b.transitions).nnz == 0
        assert a.transitions.shape != c.transitions.shape or (a.transitions != c.transitions).nnz > 0

    def test_nonsense_is_refused(self):
        with pytest.raises(WaypostError, match="few or many"):
            synthetic(100, "some")


class TestRows:
    def test_growth_is_fitted_to_large_models_only(self):
        """Small models measure overhead: they must not bend the line."""
        rows = [row(transitions=n, ours=Cost(1e-6 * n**1.2, 0, 1), series="x") for n in (20_000, 200_000, 2_000_000)]
        overhead = row(transitions=100, ours=Cost(5.0, 0, 1), series="x")
        (found,) = growth([overhead, *rows])
        assert found.exponent == pytest.approx(1.2)
        assert (found.points, found.smallest, found.largest) == (3, 20_000, 2_000_000)
        assert growth([overhead, *rows], smallest=0)[0].exponent < 0.5

    def test_growth_of_storm_leaves_out_what_it_did_not_answer(self):
        rows = [
            row(transitions=n, series="x", storm=Cost(n / 1e6, 0, 1), unanswered=int(n > 10**6))
            for n in (20_000, 200_000, 2_000_000)
        ]
        theirs = next(found for found in growth(rows) if found.tool == "Storm")
        assert (theirs.points, theirs.largest) == (2, 200_000)

    def test_a_ratio_says_which_way_it_goes(self):
        assert ratio(row(storm=Cost(800.0, 0, 1))) == "1,600 times faster"
        assert ratio(row(storm=Cost(0.25, 0, 1))) == "2 times slower"
        assert ratio(row(storm=Cost(800.0, 0, 1), unanswered=1)) == "at least 1,600 times faster"
        assert ratio(row(storm=Cost(0.05, 0, 1), one_query=True)) == "10 times one query"
        assert not ratio(row())

    def test_a_difference_beyond_tolerance_is_shouted(self):
        assert "TOO LARGE" in cells(row(storm=Cost(1, 0, 1), compared=2, difference=2e-5))[-1]
        assert cells(row(storm=Cost(1, 0, 1), compared=2, difference=9e-6))[-1] == "9.0e-06"

    def test_an_extrapolation_is_called_one(self):
        """A scaled time never looks like a measured one."""
        scaled = row(storm=Cost(1600.0, 0), spread=0.12, extrapolated=True, storm_did="loop over 2 of 9, extrapolated")
        page = markdown(Benchmark([scaled], [], ["x: skipped"], {"cores": "2"}, "waypost bench"))
        assert "1,600 ± 12 %" in page
        assert "loop over 2 of 9, extrapolated" in page
        assert "x: skipped" in page


class TestModels:
    def test_a_sample_is_seeded_and_has_no_duplicates(self):
        assert sampled(1000, 10).tolist() == sampled(1000, 10).tolist()
        assert len(set(sampled(1000, 10).tolist())) == 10
        assert sampled(3, 10).tolist() == [0, 1, 2]

    def test_sharing_keeps_the_importance_of_every_state(self, tmp_path):
        """Making the target absorbing changes no importance: only its first visit counts."""
        mdp = loan()
        shared = share(mdp, "Granted", tmp_path / "m.drn", range(mdp.n_states))
        again = waypost.read_mdp(shared.path)
        before = waypost.state_importance(mdp, target="Granted", scope="all")
        after = waypost.state_importance(again, target="target", scope="all")
        assert again.states == mdp.states
        assert after.lower.tolist() == pytest.approx(before.lower.tolist())
        assert after.upper.tolist() == pytest.approx(before.upper.tolist())

    def test_a_model_is_found_anywhere_in_the_folder(self, data, tmp_path):
        assert find_model("GrepS", data) == data / "greps.prism"
        assert find_model("BPIC12", data) is None
        assert find_model("GrepS", tmp_path / "nowhere") is None


@needs_storm
class TestStorm:
    def test_both_tools_find_the_same_bounds(self, data):
        """The row of a case study compares both bounds of every state."""
        result = run(Plan(data, only=("greps",), quick=True))
        (found,) = result.rows
        assert found.compared == 2 * loan().n_states
        assert found.agrees
        assert found.ratio == pytest.approx(found.storm.seconds / found.ours.seconds)
        assert not found.extrapolated
        assert result.holds

    def test_a_sample_is_scaled_to_all_states(self, data):
        mdp_file = data / "spotify1000.drn"
        (data / "greps.prism").rename(mdp_file)
        (found,) = run(Plan(data, only=("spotify1000",), quick=True, samples=2)).rows
        assert found.extrapolated
        assert found.storm_did == "loop over 2 of 10 states, extrapolated"
        assert found.compared == 4

    def test_a_query_that_does_not_come_back_is_given_up(self, shared_data, tmp_path):
        """The time limit holds, counts as the time, and the other queries are answered."""
        mdp = waypost.read_mdp(shared_data / "models/random/storm-does-not-answer.drn")
        shared = share(mdp, "t", tmp_path / "m.drn", [2, 3, 4])
        queries = [storm.conditional(f"q{s}", "max") for s in shared.asked]
        found = storm.ask(shared.path, queries, limit=3)
        assert found.unanswered == {1}
        assert found.seconds[1] == [3]
        ours = waypost.state_importance(mdp, target="t", scope="all").upper
        assert found.values[1] is None
        assert [found.values[0], found.values[2]] == pytest.approx([ours[2], ours[4]], abs=1e-5)

    def test_what_was_asked_before_a_query_that_does_not_come_back_still_counts(self, shared_data, tmp_path):
        """Law: whenever it is enough, both bounds of the first states have been asked, and each has a time."""
        mdp = waypost.read_mdp(shared_data / "models/random/storm-does-not-answer.drn")
        shared = share(mdp, "t", tmp_path / "m.drn", [2, 3, 4])
        queries = [storm.conditional(f"q{s}", bound) for s in shared.asked for bound in ("min", "max")]
        found = storm.ask(shared.path, queries, limit=3, rounds=2, enough=2)
        assert found.unanswered == {3}
        assert found.asked == 4
        assert len(found.per_state) == 2
        assert found.per_state[1] >= 3

    def test_a_file_that_storm_cannot_read_is_an_error_not_a_hang(self, tmp_path):
        (tmp_path / "m.drn").write_text("no model")
        with pytest.raises(WaypostError, match="broke down"):
            storm.ask(tmp_path / "m.drn", [storm.REACH], limit=5)


class TestLakes:
    @pytest.mark.parametrize("slippery", [True, False])
    def test_every_field_but_holes_and_goal_has_four_choices_and_the_goal_is_reached(self, slippery):
        mdp = lake(12, slippery=slippery)
        choices = np.diff(mdp.first_choice)
        assert set(choices.tolist()) == {1, 4}
        assert choices[mdp.initial] == 4
        assert choices[mdp.where("goal")].tolist() == [1]
        assert reachable(Graph.of(mdp), np.arange(mdp.n_states) == 0)[mdp.where("goal")].all()
        assert np.diff(mdp.transitions.indptr).max() == (3 if slippery else 1)

    def test_every_state_is_asked_in_every_way(self, tmp_path, monkeypatch):
        """Three rows per lake; rows of one series differ in size and in where the holes are."""
        monkeypatch.setattr(suite, "LAKES", (4, 5))
        result = run(Plan(tmp_path, only=("lakes",), use_storm=False))
        assert result.failed == []
        assert len(result.rows) == 3 * 2 * (suite.MAPS + 1)
        assert len({row.name for row in result.rows}) == 2 * (suite.MAPS + 1)
        assert {row.series for row in result.rows} == {
            f"{ice}, {way}" for ice in ("slippery", "firm") for way in ("all", "optimal", "absolute")
        }
        assert {row.asked for row in result.rows} == {16, 25}


class TestCommands:
    @needs_storm
    def test_a_command_and_a_process_of_storms_find_the_same(self, shared_data):
        """Both bounds of a set, from the text of a model."""
        (found,) = run(Plan(shared_data, only=("commands",), quick=True)).rows
        assert found.agrees
        assert found.compared == 2
        assert found.storm is not None

    def test_without_the_models_it_is_skipped(self, tmp_path):
        assert all("skipped" in line for line in run(Plan(tmp_path, only=("commands",))).skipped)
        assert run(Plan(tmp_path, only=("commands",))).rows == []


class TestQcomp:
    @needs_storm
    def test_every_instance_is_a_row_with_its_wins_and_losses(self, shared_data, monkeypatch):
        """Both optima of one target are one instance; where Storm's loop would take too long, both do the sample."""
        monkeypatch.setattr(qcomp, "LARGEST", 100)
        result = run(Plan(shared_data, only=("qcomp",), samples=20))
        assert [row.name.split(" ")[0] for row in result.rows] == ["ij.3", "cdrive.2", "triangle-tireworld.9"]
        assert all(row.agrees and row.asked == row.states and not row.refused for row in result.rows)
        assert [row.extrapolated for row in result.rows] == [False, True, True]
        (found,) = tally(result.rows)
        assert found.faster + found.slower == 3
        assert found.least == min(row.ratio for row in result.rows)
        monkeypatch.setattr(qcomp, "TOO_LONG", 0.0)
        rows = run(Plan(shared_data, only=("qcomp",), samples=20)).rows
        assert [row.asked for row in rows] == [7, 20, 20]
        assert all(row.agrees for row in rows)

    @needs_storm
    def test_what_we_do_not_answer_in_time_is_a_loss(self, shared_data, monkeypatch):
        """Law: the time limit counts as the time, and the row says so."""
        monkeypatch.setattr(qcomp, "LARGEST", 10)
        monkeypatch.setattr(qcomp, "SMALL", 0)
        monkeypatch.setattr(qcomp, "PATIENCE", 0.001)
        (found,) = run(Plan(shared_data, only=("qcomp",))).rows
        assert found.given_up
        assert ratio(found) == "no answer in time"
        assert cells(found)[4].startswith("≥")
        assert (tally([found])[0].given_up, tally([found])[0].slower) == (1, 1)

    def test_without_the_models_it_is_skipped(self, tmp_path):
        assert "qcomp: skipped" in run(Plan(tmp_path, only=("qcomp",))).skipped[0]

    @needs_storm
    def test_storm_is_asked_no_further_pair_after_enough(self, tmp_path):
        shared = share(loan(), "Granted", tmp_path / "m.drn", [1, 2, 3])
        queries = [storm.conditional(f"q{s}", bound) for s in shared.asked for bound in ("min", "max")]
        found = storm.ask(shared.path, queries, limit=10, enough=0.0)
        assert found.asked == 2
        assert len(found.per_state) == 1


class TestExact:
    @needs_storm
    def test_both_tools_find_the_same_fractions(self, tmp_path):
        result = run(Plan(tmp_path, only=("exact",), quick=True))
        assert result.holds
        beside = [row for row in result.rows if row.storm is not None]
        assert [row.compared for row in beside] == [1, 2, 1, 2]
        assert all(row.difference == 0 for row in beside)


class TestRun:
    def test_what_is_missing_is_skipped_with_a_word(self, tmp_path):
        result = run(Plan(tmp_path, only=("BPIC12", "spotify10000-optimal"), use_storm=False))
        assert result.rows == []
        assert [line.partition(":")[0] for line in result.skipped] == ["BPIC12", "spotify10000"]
        assert all("--data" in line for line in result.skipped)
        assert result.holds

    def test_an_unknown_name_is_told(self, tmp_path):
        with pytest.raises(NameUnknownError, match="there are: GrepS"):
            run(Plan(tmp_path, only=("greeps",)))

    def test_a_breakdown_does_not_take_the_others_with_it(self, data, monkeypatch):
        """What broke is listed, what ran is kept, and the run does not hold."""
        (data / "bpic12.prism").write_text("nothing")
        result = run(Plan(data, only=("GrepS", "BPIC12"), quick=True, use_storm=False))
        assert [found.name for found in result.rows] == ["GrepS"]
        assert len(result.failed) == 1
        assert not result.holds
        monkeypatch.setattr(suite, "_runner", lambda _: lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert run(Plan(data, only=("GrepS",))).interrupted

    def test_memory_is_the_childs_own(self, data):
        """A fat parent does not make its children look fat."""
        ballast = np.ones(75_000_000)  # 600 MB
        (found,) = run(Plan(data, only=("GrepS",), quick=True, use_storm=False)).rows
        assert ballast.sum() > 0
        assert 20 < found.ours.megabytes < 500

    def test_disagreement_does_not_hold(self):
        good = row(storm=Cost(1, 0, 1), compared=1, difference=0.0)
        assert suite.Result([good]).holds
        assert not suite.Result([good, replace(good, difference=1e-3)]).holds


class TestCommand:
    def test_it_writes_what_it_prints(self, data, tmp_path):
        """The files hold the rows of this run."""
        out = tmp_path / "out"
        done = CliRunner().invoke(
            command, ["--only", "greps", "--quick", "--no-storm", "--data", str(data), "-o", str(out)]
        )
        assert done.exit_code == 0, done.output
        found = json.loads((out / "results.json").read_text())
        assert [one["name"] for one in found["rows"]] == ["GrepS"]
        assert "Storm: left out" in found["skipped"]
        page = (out / "results.md").read_text()
        assert f"{found['rows'][0]['ours']['seconds']:#.3g}" in page
        assert found["machine"]["cores"] in page
        assert (out / "times.svg").read_bytes().startswith(b"<?xml")
        assert "GrepS" in done.output

    def test_it_lists_its_benchmarks(self):
        assert CliRunner().invoke(command, ["--list"]).output.split() == suite.names()

    def test_pictures_show_both_tools(self, tmp_path):
        rows = [row(storm=Cost(800.0, 0, 1), extrapolated=True)] + [
            row(transitions=n, series="s", storm=Cost(n / 1e4, 0, 1)) for n in (20_000, 40_000)
        ]
        save(tmp_path, Benchmark(rows, growth(rows), [], {}, "waypost bench"))
        picture = (tmp_path / "times.svg").read_text()
        assert "Storm, extrapolated" in picture
        assert "1,600 times faster" in picture
        assert "exponent" in picture


class TestScale:
    """Large logs and models: what is printed is what was measured, and it goes where the page has a place for it."""

    def test_a_row_is_a_process_of_its_own(self):
        told = "\n".join(scale.learning(20, None))
        assert re.search(r"\| learning \| 20 \| [\d.]+ \| [\d.]+ \| 0\.\d\d \| [\d,]+ states, [\d,]+ labels \|", told)

    def test_the_made_up_log_is_the_same_in_both_files(self, tmp_path):
        """Law: CSV and Parquet tell the same variants, after cleaning and before."""
        pytest.importorskip("duckdb")
        events = scale_ways.write_process(200, tmp_path / "log")
        for way in (scale_ways.explained, scale_ways.described):
            found = {way(str(tmp_path / f"log{ending}")) for ending in scale.ENDINGS}
            assert len(found) == 1
        assert found.pop().startswith(f"{events:,} events")

    @needs_storm
    def test_both_read_the_same_model(self, tmp_path):
        scale_ways.write_models(1000, tmp_path / "model")
        for ending in (".drn", ".umb", ".prism"):
            path = str((tmp_path / "model").with_suffix(ending))
            assert len({read(path) for read in scale_ways.READING.values() if ending == ".prism" or read
                        is not scale_ways.build_by_storm}) == 1  # fmt: skip

    def test_the_page_has_a_place_for_every_section(self):
        page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
        for section in scale.SECTIONS:
            assert "| here |" in scale.placed(page, section, "| here |")
        with pytest.raises(SystemExit, match="no place for weather"):
            scale.placed(page, "weather", "")
