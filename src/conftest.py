"""Doctests are collected file by file. Every package is imported whole before that.

Otherwise the first file to be imported, `waypost/cases/loan.py` say, would stand in its package for the function of its
name, and whoever asks for `waypost.cases.loan` afterwards would get a module.
"""

from __future__ import annotations

import importlib
import pkgutil

import waypost

for _module in pkgutil.walk_packages(waypost.__path__, "waypost."):
    if _module.ispkg:
        importlib.import_module(_module.name)
