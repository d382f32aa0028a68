"""The columns of a log are found by what people call them, in five languages, or asked for."""

from __future__ import annotations

import pandas as pd
import pytest

from waypost.errors import LogError
from waypost.logs import describe_log, open_log, read_log
from waypost.logs.headings import EITHER, ELSEWHERE, ROLE, USUAL, _plain, chosen_columns
from waypost.logs.log import ACTIVITY, CASE, TIME

HEADINGS = [
    ("Fall", "Aktivität", "Zeitstempel"),
    ("FALLNUMMER", "AKTIVITÄT", "ENDE"),
    ("Fall-Nr.", "Aktivitaet", "Beginn"),
    ("Vorgangsnummer", "Tätigkeit", "Datum/Uhrzeit"),
    ("Vorgang", "Aktivität", "Zeitstempel"),
    ("Fall", "Vorgang", "Datum"),
    ("Dossier", "Activiteit", "Tijdstip"),
    ("Zaaknummer", "Gebeurtenis", "Eindtijd"),
    ("Cas", "Activité", "Horodatage"),
    ("Numéro de dossier", "Événement", "Début"),
    ("Caso", "Actividad", "Marca de tiempo"),
    ("ID de caso", "Evento", "Fecha y hora"),
]


@pytest.mark.parametrize("names", HEADINGS)
def test_headings_are_read_in_the_languages_people_keep_logs_in(names):
    """Law: a log is the same log whatever the language of its headings, and whatever stands beside the columns."""
    columns = ["Bemerkung", *names[::-1], "Kunde"]
    assert chosen_columns(columns, {}, "log.csv") == dict(zip((CASE, ACTIVITY, TIME), names, strict=True))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_german_csv_is_a_log(tmp_path, engine):
    path = tmp_path / "log.csv"
    path.write_text(
        "Fall,Aktivität,Zeitstempel,Bearbeiter\n1,zahlen,2024-02-02,Ute\n1,fragen,2024-01-01,Jan\n", "utf-8"
    )
    log = open_log(path, engine=engine)
    assert dict(log.activities()) == {"fragen": 1, "zahlen": 1}
    assert [kind.name for kind in log.seen.sequences()[0]] == ["fragen", "zahlen"]
    assert dict(describe_log(log).resources) == {"Ute": 1, "Jan": 1}


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            ["Fall", "Dossier", "Aktivität"],
            "'Fall' and 'Dossier' could both be the case; say which: case=... (--column",
        ),
        (["Fall", "Aktivität", "Arbeitsschritt"], "'Aktivität' and 'Arbeitsschritt' could both be the activity; say"),
        (
            ["Vorgang", "Kunde"],
            "no column for the case or the activity; its columns are: 'Vorgang', 'Kunde'; say which: case",
        ),
        (["17", "ask", "2024-01-02 10:00"], "its first line looks like an event, so give it a line of headings"),
        (["Fall", "Kunde"], "has no column for the activity; its columns are: 'Fall', 'Kunde'; say which: activity="),
    ],
)
def test_where_two_columns_fit_or_none_the_reader_is_asked(columns, said):
    with pytest.raises(LogError) as told:
        chosen_columns(columns, {}, "log.csv")
    assert said in str(told.value)


def test_a_column_that_is_named_settles_what_two_could_be():
    table = pd.DataFrame({"Fall": ["1"], "Dossier": ["2"], "Aktivität": ["fragen"]})
    assert read_log(table, case="Dossier").events[CASE].tolist() == ["2"]


def test_an_english_heading_goes_before_others():
    assert chosen_columns(["Fall", "Case ID", "Activity"], {}, "log.csv")[CASE] == "Case ID"


def test_no_word_means_two_columns():
    """Law: a plain heading belongs to one column at most, and is written as headings are compared."""
    words = [w for role in ROLE.values() for line in (*USUAL[role], *ELSEWHERE[role]) for w in line.split()]
    words += EITHER
    assert len(words) == len(set(words))
    assert all(_plain(word) == word for word in words)
