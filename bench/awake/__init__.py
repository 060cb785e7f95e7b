# SPDX-License-Identifier: MIT
"""Starts of ipcwait awake, and whether it decides rightly: docs/awake.md."""
