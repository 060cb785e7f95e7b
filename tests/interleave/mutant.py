# SPDX-License-Identifier: MIT
"""A mutant: a mistake made on purpose, which the checker must find."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str      # what is wrong
    file: str      # from the root of the repository
    old: str       # text that occurs there once ...
    new: str       # ... and what stands there instead
    program: str   # of meson.build
    scenario: str  # part of the name of the one that finds it
    memory: str = ''  # the only kind that finds it, to save time
