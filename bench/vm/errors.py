# SPDX-License-Identifier: MIT
"""What ends the whole measurement: a part is missing without which there is no guest."""


class VmError(Exception):
    """One line for the user; the caller exits with status 2."""
