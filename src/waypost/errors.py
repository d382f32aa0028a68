"""What can go wrong, as one tree.

::

    WaypostError                 everything a user can cause and mend
    ├── ArgumentError            an argument of the wrong kind, out of range, or empty (also a ValueError)
    ├── ModelError               the model is not an MDP: sums, negative numbers, unknown successors
    ├── FormatError              a file could not be read as what it claims to be
    ├── NameUnknownError         a state, label or action that is not in the model (also a KeyError)
    ├── StrategyError            a strategy does not fit its model
    ├── UndefinedImportanceError importance divides by zero: the target cannot be reached
    ├── PathError                a path that is no path, not simple, or runs through the target
    ├── PatternError             a pattern that cannot be read, or whose automaton is too large
    ├── LogError                 an event log that cannot be used as it is
    ├── MissingExtraError        an optional library is not installed
    ├── PlaceError               a cluster does not answer, or is gone before its work is done
    └── PrecisionError           no number could be certified; never returned silently

Messages say what is wrong, where, in the user's own names, and what to do. Any other exception is a bug.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
from collections.abc import Iterable, Sized
from itertools import islice
from types import ModuleType

LISTED = 200  # characters of known names that a message lists, or three names


class WaypostError(Exception):
    """Something the user can mend; the message says how."""


class ArgumentError(WaypostError, ValueError):
    """An argument of the wrong kind, out of range, or empty."""


class ModelError(WaypostError):
    """The model is not a Markov decision process."""


class FormatError(WaypostError):
    """A file could not be read as what it claims to be."""


class NameUnknownError(WaypostError, KeyError):
    """A state, label or action that the model does not have."""

    __str__ = Exception.__str__  # a KeyError would put its sentence in quotes


class StrategyError(WaypostError):
    """A strategy does not fit its model."""


class UndefinedImportanceError(WaypostError):
    """Importance is undefined, because the target cannot be reached."""


class PathError(WaypostError):
    """Not a simple path from the initial state that avoids the target."""


class PatternError(WaypostError):
    """A pattern that cannot be read, or whose automaton is too large."""


class LogError(WaypostError):
    """An event log that cannot be used as it is."""


class MissingExtraError(WaypostError):
    """An optional library is needed and not installed."""


class PlaceError(WaypostError):
    """A cluster that does not answer, or is gone before its work is done."""


class PrecisionError(WaypostError):
    """No number could be certified."""


def unknown_name(kind: str, name: str, known: Iterable[str], where: str = "this model") -> NameUnknownError:
    """Tell that `name` is not among the `known` names, with the nearest one and a few of the rest.

    >>> print(unknown_name("label", "acepted", ["accepted", "rejected"]))
    no label 'acepted' in this model; did you mean 'accepted'? known labels: accepted, rejected
    """
    total = len(known) if isinstance(known, Sized) else None
    # difflib is quadratic in the length of the names and linear in their number; very large models get a sample
    names = list(islice(known, None if total is None else 20_000))
    near = difflib.get_close_matches(name[:200], [n[:200] for n in names[:20_000]], n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    if "state" in kind and (quoted := _in_quotes(name, names)):
        hint = f"; names in an expression go in quotes: {quoted};"
    more = (len(names) if total is None else total) - 8
    few = [f"{n[:57]}..." if len(n) > 60 else n for n in names[:8]]
    while len(few) > 3 and sum(map(len, few)) > LISTED:
        few.pop()
    more += 8 - len(few)
    shown = ("; " if any(", " in n for n in few) else ", ").join(few) + (f" and {more} more" if more > 0 else "")
    kinds = "properties" if kind == "property" else kind.replace(" or ", "s and ") + "s"
    listing = f" known {kinds}: {shown}" if names else f" there are no {kinds}"
    return NameUnknownError(f"no {kind} {name[:200]!r} in {where}{hint}{listing}")


def _in_quotes(name: str, known: Iterable[str]) -> str:
    """Write several known names, joined by signs of an expression, as an expression; empty where it is none.

    >>> _in_quotes("Angry | !Rejected", ["Angry", "Rejected"]), _in_quotes("Angry", ["Angry"])
    ('"Angry" | !"Rejected"', '')
    """
    words = [word for word in re.split(r"(\s*[|&!()]\s*)", name) if word]
    names = {word for word in words if not re.fullmatch(r"\s*[|&!()]\s*", word)}
    if len(words) < 2 or not names <= set(known):
        return ""
    return "".join(f'"{word}"' if word in names else word for word in words)


def without_credentials(text: str) -> str:
    """Text as it may be shown: its addresses without users, passwords and parameters.

    >>> without_credentials("cannot reach postgres://me:p@ss/word@host/db?sslpassword=x#events now")
    'cannot reach postgres://host/db#events now'
    """
    text = re.sub(r"(?<=://)\S*@", "", text)  # up to the last one: a password may have one, too
    text = re.sub(r"(://[^\s?]*)\?[^\s#]*", r"\1", text)
    return re.sub(r"(password|user)=\S+", r"\1=...", text)


def is_address(text: str) -> bool:
    """Whether a text is an address such as ``postgres://host/db`` rather than the path of a file.

    >>> is_address("mysql://host/db"), is_address("C:/models/a.drn"), is_address("gym:Taxi-v4")
    (True, False, False)
    """
    return re.match(r"[A-Za-z][\w+.-]*://", text) is not None


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional library, or say how to get it.

    >>> require("json", "nothing", "reading JSON").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(_how_to_get(module, extra, purpose)) from error


def require_elsewhere(module: str, extra: str, purpose: str) -> None:
    """Say how to get an optional library that a child process will import, if it is not there; import nothing here."""
    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(_how_to_get(module, extra, purpose))


def _how_to_get(module: str, extra: str, purpose: str) -> str:
    library = module.partition(".")[0]
    return f"{purpose} needs {library}, which is not installed; run: pip install 'waypost[{extra}]'"
