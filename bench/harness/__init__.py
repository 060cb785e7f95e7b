# SPDX-License-Identifier: MIT
"""The harness behind scripts/bench: running, statistics, comparison, joining."""
