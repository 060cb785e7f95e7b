# SPDX-License-Identifier: MIT
"""Stacks of a program: recording them, reading and writing them, and tables of where time is.

docs/benchmarks/profile.md has the whole.
"""
from .errors import Refused
from .formats import read
from .recording import Recording
from .show import record
from .tables import difference, functions, head

__all__ = ["Recording", "Refused", "difference", "functions", "head", "read", "record"]
