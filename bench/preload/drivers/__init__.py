# SPDX-License-Identifier: MIT
"""Servers: a data directory, a socket and a process of their own for each run."""
