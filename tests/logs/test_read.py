"""Reading a log gives the log, or one sentence that says what is wrong."""

from __future__ import annotations

import gzip
import subprocess
import sys
from datetime import timedelta, timezone

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from waypost.errors import LogError
from waypost.logs import EventLog, looks_like_log, open_log, read_log, write_log
from waypost.logs.log import CASE, OFFSET, TIME
from waypost.logs.table import detect_delimiter

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def xes(*traces: str, head: str = HEAD, space: str = "") -> str:
    return f"{head}<log{space}>\n" + "\n".join(f"<trace>\n{t}\n</trace>" for t in traces) + "\n</log>"


def event(name: str, time: str | None = None) -> str:
    stamp = f'<date key="time:timestamp" value="{time}"/>' if time else ""
    return f'<event><string key="concept:name" value="{name}"/>{stamp}</event>'


def written(tmp_path, name: str, content: str | bytes):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_every_odd_xes_file_gives_a_log_or_a_clear_error(shared_data):
    files = sorted((shared_data / "logs/edge_cases_xes").glob("*.xes"))
    read = {}
    for file in files:
        try:
            read[file.stem] = read_log(file)
        except LogError as error:
            assert file.name in str(error)  # noqa: PT017
    assert len(files) == 71
    assert sorted(read) == [
        *("elementIncorrect", "eventCorrectAttributes", "eventIdenticalAttributes", "eventIncorrectType"),
        *("eventTooManyAttributes", "logOutOfPlace", "traceOutOfPlace"),
    ]
    assert {len(log) for log in read.values()} == {2}
    assert all("2 events outside any case were left out" in log.notes for log in read.values())


def test_the_large_log_is_read_in_a_gigabyte(shared_data):
    """262,200 events, in a process of its own."""
    path = shared_data / "logs/bpic2012/BPI_Challenge_2012.xes.gz"
    code = (
        "import sys; from waypost.logs import read_log; from waypost.paper.bench.storm_child import peak_megabytes;"
        "log = read_log(sys.argv[1]); print(log.n_cases, len(log), peak_megabytes())"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    cases, events, megabytes = map(float, done.stdout.split())
    assert (cases, events) == (13_087, 262_200)
    assert megabytes <= 1_000


@pytest.mark.parametrize(
    ("file", "cases", "events"),
    [
        ("pm4py_demo/running-example.xes", 6, 42),
        ("pm4py_demo/running-example.csv", 6, 42),
        ("pm4py_demo/receipt.xes.gz", 1434, 8577),
        ("pm4py_demo/receipt.csv", 1434, 8577),
        ("pm4py_demo/reviewing.xes.gz", 100, 3730),
        ("synthetic/lending_log_high.xes.gz", 10_000, 58_822),
        ("synthetic/a12f0n00.xes.gz", 1000, 6186),  # a thousand cases, all of the same name
        ("bpic2017/bpic17_sample_outcome.csv", 1878, 23_941),
    ],
)
def test_real_logs_have_the_cases_and_events_they_should(shared_data, file, cases, events):
    log = read_log(shared_data / f"logs/{file}")
    assert (log.n_cases, len(log)) == (cases, events)


def test_the_same_log_as_xes_and_as_csv_is_the_same_log(shared_data):
    for name in ("receipt", "running-example"):
        folder = shared_data / "logs/pm4py_demo"
        one = read_log(next(p for p in folder.glob(f"{name}.xes*")))
        other = read_log(folder / f"{name}.csv")
        by_case = [dict(zip(log.events[CASE].unique(), log.sequences(), strict=True)) for log in (one, other)]
        assert by_case[0] == by_case[1]
        assert set(one.events[TIME]) == set(other.events[TIME])


def test_a_namespace_and_a_gzip_file_of_any_name_are_read(tmp_path):
    text = xes(event("a") + event("b"), space=' xmlns="http://www.xes-standard.org/"')
    for name, content in (("plain.xes", text.encode()), ("zipped.xes", gzip.compress(text.encode()))):
        assert read_log(written(tmp_path, name, content)).sequences() == [("a", "b")]


def test_cases_with_the_same_name_stay_apart_and_those_without_get_one(tmp_path):
    named = '<string key="concept:name" value="same"/>'
    log = read_log(written(tmp_path, "log.xes", xes(named + event("a"), named + event("b"), event("c"))))
    assert log.events[CASE].tolist() == ["same", "same (2)", "case 3"]
    assert "1 cases are called like one before them, and stay apart as '... (2)' and so on" in log.notes


def test_a_name_that_another_case_would_get_stays_its_own(tmp_path):
    """The second `x` is not the case that is called `x (2)`."""
    cases = [(name, event(name)) for name in ("x", "x", "x (2)", "x")]
    log = read_log(written(tmp_path, "log.xes", traces(*cases)))
    assert log.events[CASE].tolist() == ["x", "x (3)", "x (2)", "x (4)"]
    assert log.n_cases == 4


def traces(*cases):
    """XES with traces of this name and content; None where a trace has no name."""
    names = [
        "" if name is None else f'<string key="concept:name" value="{name}"/>' for name in (name for name, _ in cases)
    ]
    return xes(*(name + content for name, (_, content) in zip(names, cases, strict=True)))


def test_the_files_of_a_folder_are_one_log(tmp_path):
    """Also packed, and in folders within; what is hidden or no log is passed over. Cases without names are apart."""
    (tmp_path / "2024").mkdir()
    (tmp_path / "a.xes").write_text(traces(("one", event("ask")), ("two", event("ask")), (None, event("ask"))))
    (tmp_path / "2024" / "b.xes.gz").write_bytes(gzip.compress(traces((None, event("ask"))).encode()))
    (tmp_path / ".c.xes").write_text("no log")
    (tmp_path / "README.txt").write_text("no log")
    log = read_log(tmp_path)
    assert sorted(log.events[CASE]) == ["case 1", "case 4", "one", "two"]
    assert log.notes[0] == "read 2 files as one log"
    assert looks_like_log(tmp_path)


def test_a_case_may_be_in_several_xes_files_of_a_folder(tmp_path):
    """As in exports of one month after another: it is told how many are, and what to do where they are no cases."""
    early, late = (event("ask", "2024-01-31T09:10:00Z"), event("pay", "2024-02-01T09:10:00Z"))
    (tmp_path / "b-january.xes").write_text(traces(("x7", early), ("x8", early)))
    (tmp_path / "a-february.xes").write_text(traces(("x7", late)))
    log = read_log(tmp_path)
    assert dict(zip(log.events[CASE].unique(), log.sequences(), strict=True)) == {"x7": ("ask", "pay"), "x8": ("ask",)}
    assert log.notes[1] == (
        "1 case has events in several files, put together by its name ('x7'); where files number their cases each on "
        "its own, read one file at a time"
    )


def test_an_event_that_several_files_tell_of_happened_once(tmp_path):
    """Exports overlap, or a folder has a log twice; what one file tells twice happened twice."""
    both = event("ask", "2024-01-31T09:10:00Z") + 2 * event("call", "2024-01-31T10:10:00Z")
    (tmp_path / "all.xes").write_text(traces(("x7", both + event("pay", "2024-02-01T09:10:00+01:00"))))
    (tmp_path / "some.xes").write_text(traces(("x7", both + event("pay", "2024-02-01T08:10:00Z"))))
    log = read_log(tmp_path)
    assert log.sequences() == [("ask", "call", "call", "pay")]
    assert log.notes[2] == "4 events are in several files, with the same case, activity and time: each counts once"


@pytest.mark.parametrize("time", ["", "2024-01-31"])
def test_events_of_several_files_all_count_where_no_time_of_day_tells_them_apart(tmp_path, time):
    """But it is told, with what to do."""
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(f"case,activity,time\n1,call,{time}\n" + ("" if time else "2,call,\n"))
    log = read_log(tmp_path)
    assert log.activities() == {"call": 2 if time else 4}
    assert any(
        "no time of day tells whether they are the same: all count; where one file repeats" in n for n in log.notes
    )


def test_both_files_of_the_loan_log_of_2012_are_that_log(shared_data):
    """One has some of the events of the other."""
    folder = shared_data / "logs/bpic2012"
    log, alone = read_log(folder), read_log(folder / "BPI_Challenge_2012.xes.gz")
    assert log.sequences() == alone.sequences()
    assert any(note.startswith("60,849 events are in several files") for note in log.notes)


def test_a_case_may_be_in_several_csv_files_of_a_folder(tmp_path):
    (tmp_path / "a.csv").write_text("case,activity\n1,ask\n2,ask\n")
    (tmp_path / "b.csv").write_text("case,activity\n1,pay\n")
    assert read_log(tmp_path).sequences() == [("ask", "pay"), ("ask",)]
    (tmp_path / "b.csv").write_text("case,activity,who\n1,pay,me\n")
    with pytest.raises(LogError, match=r"a\.csv and b\.csv are in one folder and differ in the column 'who'"):
        read_log(tmp_path)
    (tmp_path / "b.csv").rename(tmp_path / "b.xes")
    with pytest.raises(LogError, match=r"logs of several kinds, CSV \(a\.csv\) and XES \(b\.xes\); name one"):
        read_log(tmp_path)


@pytest.mark.parametrize("gap", ["", None, float("nan")])
def test_a_column_of_times_that_is_empty_tells_no_times(tmp_path, gap):
    """In a file as in a table, where it is a column of numbers that are all missing."""
    frame = pd.DataFrame({"case": [1, 2, 1], "activity": ["ask", "ask", "pay"], "time": [gap] * 3})
    frame.to_csv(tmp_path / "log.csv", index=False)
    for log in (read_log(tmp_path / "log.csv"), read_log(frame)) if gap != "" else (read_log(tmp_path / "log.csv"),):
        assert log.sequences() == [("ask", "pay"), ("ask",)]
        assert "2 cases have events without a time and keep the order of the source" in log.notes


def test_numbers_in_a_table_are_times_where_it_is_said_what_they_count(tmp_path):
    """A file of Parquet keeps seconds as numbers, and no option turns them into times where it lies."""
    frame = pd.DataFrame({"case": [1, 1], "activity": ["pay", "ask"], "time": [1_700_000_060, 1_700_000_000]})
    log = read_log(frame, time_format="unix")
    assert log.events[TIME].tolist() == [pd.Timestamp("2023-11-14T22:13:20Z"), pd.Timestamp("2023-11-14T22:14:20Z")]
    with pytest.raises(LogError, match=r"the times are numbers; .*say what they count, excel days or unix seconds"):
        read_log(frame)
    pytest.importorskip("ibis")
    frame.to_parquet(tmp_path / "log.parquet")
    with pytest.raises(LogError, match=r"log\.parquet: the times are numbers; turn them into timestamps, map another"):
        open_log(tmp_path / "log.parquet")


def test_time_zones_are_kept(tmp_path):
    """An instant is the same instant, and the hour people saw on their clocks can be told again."""
    times = ["2011-10-01T00:38:44.546+02:00", "2011-11-01T00:38:44Z", "2011-12-01T10:00:00-05:30"]
    log = read_log(written(tmp_path, "log.xes", xes("".join(event("a", t) for t in times))))
    assert log.events[TIME].tolist() == [pd.Timestamp(t) for t in times]
    assert log.events[OFFSET].tolist() == [120, 0, -330]
    write_log(log, tmp_path / "again.csv")
    assert "2011-10-01T00:38:44.546000+02:00" in (tmp_path / "again.csv").read_text()
    assert read_log(tmp_path / "again.csv").events[OFFSET].tolist() == [120, 0, -330]


def test_a_data_frame_with_a_time_zone_keeps_it():
    zone = timezone(timedelta(hours=2))
    stamps = pd.to_datetime(["2020-01-01T12:00", "2020-01-01T10:00"]).tz_localize(zone)
    frame = pd.DataFrame({CASE: ["1", "1"], "concept:name": ["late", "early"], TIME: stamps})
    log = read_log(frame)
    assert log.sequences() == [("early", "late")]
    assert log.events[OFFSET].tolist() == [120, 120]
    assert log.events[TIME].iloc[0] == pd.Timestamp("2020-01-01T08:00Z")
    assert frame["concept:name"].tolist() == ["late", "early"]  # the caller's frame is the caller's


def test_ties_keep_the_order_of_the_file_and_so_does_a_case_with_a_gap(tmp_path):
    same = "2020-01-01T12:00:00Z"
    tied = event("b", same) + event("a", same) + event("first", "2020-01-01T11:00:00Z")
    gap = event("y", "2020-01-02T12:00:00Z") + event("x")
    log = read_log(written(tmp_path, "log.xes", xes(tied, gap)))
    assert log.sequences() == [("first", "b", "a"), ("y", "x")]
    assert "1 cases were put in order of time" in log.notes


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("abc"), st.integers(0, 3)), min_size=1))
def test_cases_are_gathered_and_sorted_stably(rows):
    """The events of a case, and only those, in order of time; equal times in the order they came."""
    frame = pd.DataFrame(rows, columns=["case", "activity", "n"])
    frame["timestamp"] = [f"2020-01-0{n + 1}T00:00:00" for n in frame["n"]]
    log = read_log(frame)
    cases = list(dict.fromkeys(case for case, _, _ in rows))
    assert log.events[CASE].drop_duplicates().tolist() == cases
    expected = [tuple(a for c, a, _ in sorted(rows, key=lambda row: row[2]) if c == case) for case in cases]
    assert log.sequences() == expected


@given(st.sampled_from(",;\t|"), st.lists(st.text("ab,;|\t \"'", max_size=6), min_size=2, max_size=5))
def test_the_delimiter_of_quoted_fields_is_found(delimiter, fields):
    line = delimiter.join('"' + f.replace('"', '""') + '"' for f in fields)
    assert detect_delimiter("\n".join([line] * 3)) == delimiter


def test_names_that_look_missing_or_like_formulas_are_names(tmp_path):
    text = 'case;activity\n007;NA\n007;"=1+1"\n007;null\n1e5;"<b>&"\n'
    log = read_log(written(tmp_path, "log.csv", text))
    assert log.sequences() == [("NA", "=1+1", "null"), ("<b>&",)]
    assert log.events[CASE].unique().tolist() == ["007", "1e5"]


def test_columns_are_mapped_by_name(tmp_path):
    path = written(tmp_path, "log.csv", "Vorgang,Schritt,wann\n1,b,2020-01-02\n1,a,2020-01-01\n")
    with pytest.raises(
        LogError, match=r"no column for the case or the activity; its columns are: 'Vorgang', 'Schritt', 'wann'"
    ):
        read_log(path)
    assert read_log(path, case="Vorgang", activity="Schritt", time="wann").sequences() == [("a", "b")]
    with pytest.raises(LogError, match="no column 'nix' for the activity"):
        read_log(path, case="Vorgang", activity="nix")


def test_an_event_with_a_start_and_an_end_becomes_two(tmp_path):
    text = "case,activity,from,to\n1,work,2020-01-01T10:00,2020-01-01T12:00\n1,done,2020-01-01T11:00,2020-01-01T11:00\n"
    log = read_log(written(tmp_path, "log.csv", text), start="from", time="to")
    found = list(zip(log.names(), log.events["lifecycle:transition"], strict=True))
    assert found == [("work", "start"), ("done", "complete"), ("work", "complete")]


@pytest.mark.parametrize(
    ("dates", "first"),
    [(["31/12/2019", "01/02/2020"], "2019-12-31"), (["12/31/2019 10:00", "02/01/2020 10:00"], "2019-12-31T10:00")],
)
def test_day_and_month_are_told_apart_by_a_date_that_settles_it(dates, first):
    frame = pd.DataFrame({"case": ["1", "1"], "activity": ["a", "b"], "time": dates})
    assert read_log(frame).events[TIME].iloc[0] == pd.Timestamp(first, tz="UTC")


def test_day_and_month_are_never_guessed():
    frame = pd.DataFrame({"case": ["1"], "activity": ["a"], "time": ["03/04/2020"]})
    with pytest.raises(LogError, match="day and month cannot be told apart"):
        read_log(frame)
    log = read_log(frame, time_format="%d/%m/%Y")
    assert log.events[TIME].iloc[0] == pd.Timestamp("2020-04-03", tz="UTC")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("broken.xes", HEAD + "<log>\n<trace>\n<event>\n</trace></log>", r"broken\.xes, line 5: not well-formed XML"),
        ("cut.xes", HEAD + "<log>\n<trace>", r"cut\.xes, line 3: not well-formed"),
        ("empty.xes", "", r"empty\.xes, line 1: not well-formed XML"),
        ("other.xes", HEAD + "<html/>", "is no XES log: it starts with <html>"),
        ("nameless.xes", xes("<event/>", event("a")), "line 4: an event without 'concept:name'"),
        ("blank.xes", xes(event("a") + event("")), "line 4: an event without 'concept:name' .1 in all"),
        ("keyless.xes", xes('<event><string value="a"/></event>'), "an attribute without a key"),
        ("when.xes", xes(event("a", "yesterday")), "event in line 4: 'time:timestamp' is 'yesterday'"),
        ("cut.xes.gz", gzip.compress(xes(event("a")).encode())[:-20], "damaged gzip"),
        ("empty.csv", "", r"empty\.csv is empty"),
        ("heading.csv", "case,activity\n", "has a heading but no events"),
        ("gap.csv", "case,activity\n1,a\n,b\n", r"row 2: no case .1 rows in all are without.; .*--column case=NAME"),
        ("blank.csv", "case,activity\n1,a\n1,  \n", "row 2: no activity"),
        (
            "ragged.csv",
            "case,activity\n1,a\n1,b,c,d\n",
            "no proper CSV: line 3 has 4 fields where 2 were expected; put",
        ),
        ("latin.csv", "case,activity\n1,caf\xe9\n".encode("latin-1"), "is not utf-8; name its encoding"),
        ("soon.csv", "case,activity,time\n1,a,soon\n", "'soon', which is no timestamp"),
        ("log.xlsx", b"PK\x03\x04\x14", "a spreadsheet or an archive; save it as CSV"),
        ("days.csv", "case;activity;time\n1;a;45292,5\n", "'45292,5' .* may be one of Excel's.*time_format=excel"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(tmp_path, name, content, message):
    with pytest.raises(LogError, match=message):
        read_log(written(tmp_path, name, content))


def test_another_encoding_may_be_named(tmp_path):
    path = written(tmp_path, "log.csv", "case,activity\n1,caf\xe9\n".encode("latin-1"))
    assert read_log(path, encoding="latin-1").sequences() == [("caf\xe9",)]


def test_a_file_that_says_it_is_utf_16_is_read_as_that(tmp_path):
    """What spreadsheets write as "Unicode text" begins with a mark that nothing else begins with."""
    for encoding in ("utf-16", "utf-16-be"):
        mark = "\ufeff" if encoding == "utf-16-be" else ""
        path = written(tmp_path, "log.csv", (mark + "case\tactivity\n1\tcaf\xe9\n").encode(encoding))
        assert read_log(path).sequences() == [("caf\xe9",)]


@pytest.mark.parametrize("times", [["1704189600", "1704189601.5"], ["1704189600000", "1704189601500"]])
def test_seconds_that_a_program_counts_are_times_if_one_says_so(tmp_path, times):
    path = tmp_path / "log.csv"
    path.write_text("case,activity,time\n" + "".join(f"1,ask,{time}\n" for time in times))
    with pytest.raises(LogError, match="time_format=unix"):
        read_log(path)
    told = read_log(path, time_format="unix").events[TIME].dt.strftime("%Y-%m-%d %H:%M:%S.%f").tolist()
    assert told == ["2024-01-02 10:00:00.000000", "2024-01-02 10:00:01.500000"]


def test_a_date_with_dots_has_the_day_first(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("case;activity;time\n1;ask;03.01.2024 10:02\n")
    assert read_log(path).events[TIME].dt.strftime("%Y-%m-%d %H:%M").tolist() == ["2024-01-03 10:02"]


@pytest.mark.parametrize("days", [["45292,5", "45293"], ["45292.5", "45293.0"]])
def test_days_that_a_spreadsheet_counts_are_times_if_one_says_so(tmp_path, days):
    """1 January 2024 is day 45,292, in text with a comma or a point, and in numbers."""
    path = written(tmp_path, "log.csv", "case;activity;time\n" + "".join(f"1;a;{day}\n" for day in days))
    table = pd.DataFrame({"case": "1", "activity": "a", "time": [float(day.replace(",", ".")) for day in days]})
    for source in (path, table):
        times = read_log(source, time_format="excel").events["time:timestamp"]
        assert [time.isoformat() for time in times] == ["2024-01-01T12:00:00+00:00", "2024-01-02T00:00:00+00:00"]
    with pytest.raises(LogError, match="no timestamp of the form 'excel'"):
        read_log(written(tmp_path, "log.csv", "case,activity,time\n1,a,soon\n"), time_format="excel")


def test_document_types_and_entities_are_refused(tmp_path):
    """Neither a file of the machine nor a billion laughs comes in through a log."""
    secret = written(tmp_path, "secret.txt", "do not read me")
    outside = f'{HEAD}<!DOCTYPE log [<!ENTITY x SYSTEM "{secret.as_uri()}">]>\n'
    laughs = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 12))
    inside = f'{HEAD}<!DOCTYPE log [<!ENTITY l0 "ha">{laughs}]>\n'
    for head, name in ((outside, "&x;"), (inside, "&l11;"), (inside, "plain")):
        with pytest.raises(LogError):
            read_log(written(tmp_path, "log.xes", xes(event(name), head=head)))


def test_what_is_not_there_and_what_is_no_log():
    with pytest.raises(LogError, match=r"there is no file 'nowhere\.xes'"):
        read_log("nowhere.xes")
    with pytest.raises(LogError, match="a path or a pandas DataFrame, not int"):
        read_log(7)
    with pytest.raises(LogError, match="has no rows"):
        read_log(pd.DataFrame({"case": [], "activity": []}))
    with pytest.raises(LogError, match="the times are numbers"):
        read_log(pd.DataFrame({"case": ["1"], "activity": ["a"], "time": [3]}))


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=8)


@given(st.lists(st.lists(NAMES.filter(lambda name: not name.isspace()), min_size=1), min_size=1))
def test_writing_and_reading_a_log_gives_it_back(tmp_path_factory, sequences):
    """Names of any characters survive a CSV file (but for carriage returns, which are line ends there)."""
    path = tmp_path_factory.mktemp("csv") / "log.csv"
    write_log(EventLog.from_sequences(sequences), path)
    assert read_log(path, delimiter=",").sequences() == [tuple(s) for s in sequences]
