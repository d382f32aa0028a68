"""What the columns of a log are called: in English, German, Dutch, French and Spanish, however they are written.

Headings are compared without case, accents, spaces and punctuation. A word that may mean two things (a German *Vorgang*
is a case to some and an activity to others) is taken for one of them only where another column is the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from waypost.errors import LogError
from waypost.logs.log import ACTIVITY, CASE, LIFECYCLE, TIME

ROLE = {"case": CASE, "activity": ACTIVITY, "time": TIME, "lifecycle": LIFECYCLE}

# English, best first
USUAL = {
    CASE: ("caseconceptname", "caseid", "case", "casenumber", "traceid", "trace", "sessionid", "processinstance"),
    ACTIVITY: ("conceptname", "activity", "activityname", "event", "eventname", "task", "action"),
    TIME: (
        *("timetimestamp", "timestamp", "eventtime", "completetimestamp", "endtimestamp", "completetime", "endtime"),
        *("starttimestamp", "starttime", "datetime", "time", "date"),
    ),
    LIFECYCLE: ("lifecycletransition", "lifecycle", "transition", "eventtype", "lifecyclestate"),
}

# Other languages: German, Dutch, French, Spanish. Best line first; no word of a line is better than another of it.
ELSEWHERE = {
    CASE: (
        (
            "fall fallid fallnummer fallnr vorgangsnummer vorgangsnr vorgangsid aktenzeichen "
            "zaak zaakid zaaknummer dossier dossierid dossiernummer dossiernr "
            "cas idcas casid numerodecas numerocas iddossier numerodedossier "
            "caso idcaso iddecaso casoid numerodecaso numerocaso expediente"
        ),
    ),
    ACTIVITY: (
        (
            "aktivitat aktivitaet aktivitatsname tatigkeit taetigkeit arbeitsschritt prozessschritt "
            "activiteit activiteitnaam processtap activite nomdelactivite actividad nombredeactividad"
        ),
        "ereignis gebeurtenis evenement evento",
    ),
    TIME: (
        "zeitstempel tijdstempel tijdstip horodatage horodate marcadetiempo marcatemporal",
        "ende endzeit endezeit endzeitpunkt einde eindtijd eindtijdstip fin heurefin heuredefin horafin horadefin",
        "beginn startzeit startzeitpunkt begin begintijd starttijd debut heuredebut heurededebut inicio horadeinicio",
        "zeitpunkt datumuhrzeit datum dateheure fechahora fechayhora fecha",
    ),
    LIFECYCLE: (),
}
EITHER = ("vorgang",)  # a case or an activity: whichever no other column is
RESOURCE = (
    "orgresource resource ressource bearbeiter sachbearbeiter bearbeitetvon uitvoerder medewerker behandelaar "
    "executant recurso"
)

_DATUM = re.compile(r"\s*[-+]?\d[-+\d.,:/ TZ]*")  # a number or a time, which nobody calls a column
_NO_HEADING = "; its first line looks like an event, so give it a line of headings before that"


def chosen_columns(columns: Sequence[str], mapping: Mapping[str, str | None], where: str) -> dict[str, str]:
    """Columns of the case, the activity, the time and the lifecycle, by their standard names.

    Columns mapped by the caller win; the others are detected. Case and activity must be there.

    >>> chosen_columns(["Fallnummer", "Aktivität", "Zeitstempel"], {}, "log.csv")
    {'case:concept:name': 'Fallnummer', 'concept:name': 'Aktivität', 'time:timestamp': 'Zeitstempel'}
    """
    by_plain = _by_plain(columns)
    chosen: dict[str, str] = {}
    for role, standard in ROLE.items():
        given = mapping.get(role)
        if given is not None:
            if given not in columns:
                raise LogError(f"{where} has no column {given!r} for the {role}; {there_are(columns)}")
            chosen[standard] = given
        elif standard in columns:
            chosen[standard] = standard
        else:
            found = _detected(standard, by_plain)
            if len(found) > 1:
                named = " and ".join(map(repr, found))
                raise LogError(f"{where}: {named} could both be the {role}; {_say_which(role)}")
            if found and found[0] not in chosen.values():
                chosen[standard] = found[0]
    missing = [role for role in ("case", "activity") if ROLE[role] not in chosen]
    either = [by_plain[word] for word in EITHER if word in by_plain and by_plain[word] not in chosen.values()]
    if len(missing) == 1 and either:
        chosen[ROLE[missing.pop()]] = either[0]
    if missing:
        raise LogError(
            f"{where} has no column for the {' or the '.join(missing)}; {there_are(columns)}; "
            f"{_say_which(*missing)}{_NO_HEADING if any(map(_DATUM.fullmatch, columns)) else ''}"
        )
    return {standard: chosen[standard] for standard in ROLE.values() if standard in chosen}


def resource_column(columns: Iterable[str]) -> str | None:
    """Column that says who did something; None where none is called so.

    >>> resource_column(["Fall", "Bearbeiter"])
    'Bearbeiter'
    """
    by_plain = _by_plain(columns)
    return next((by_plain[word] for word in RESOURCE.split() if word in by_plain), None)


def there_are(columns: Sequence[str]) -> str:
    """Columns there are, in words."""
    return "its columns are: " + ", ".join(repr(c) for c in columns)


def _detected(standard: str, by_plain: Mapping[str, str]) -> list[str]:
    """Columns that are called what the standard one usually is; several where no word is better than another."""
    for words in (*USUAL[standard], *ELSEWHERE[standard]):
        if found := [by_plain[word] for word in words.split() if word in by_plain]:
            return found
    return []


def _by_plain(columns: Iterable[str]) -> dict[str, str]:
    """Columns by their plain headings; of equal ones the first."""
    found: dict[str, str] = {}
    for column in columns:
        found.setdefault(_plain(str(column)), str(column))
    return found


def _say_which(*roles: str) -> str:
    arguments, options = ([form.format(role) for role in roles] for form in ("{}=...", "--column {}=NAME"))
    return f"say which: {', '.join(arguments)} ({' '.join(options)})"


def _plain(column: str) -> str:
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", column.casefold()))
