# SPDX-License-Identifier: MIT
"""VM versus metal: the semaphore hand-off in small guests with different idle settings.

run(context) returns the list "guests" of a result file, VmError is what the user is to be told when
there can be no guest. docs/benchmarks/vm.md describes both.
"""

from .errors import VmError
from .guests import run

__all__ = ["VmError", "run"]
