# SPDX-License-Identifier: MIT
"""VM versus metal: the semaphore hand-off in small guests with different idle settings.

iterate(context) yields the members of the list "guests" of a result file as they are done, and
run(context) returns the whole list. VmError is what the user is to be told when there can be no
guest. docs/benchmarks/vm.md describes the list.
"""

from .errors import VmError
from .guests import iterate, run

__all__ = ["VmError", "iterate", "run"]
