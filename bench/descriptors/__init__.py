# SPDX-License-Identifier: MIT
"""Programs with and without the preload module: docs/benchmarks/preload.md."""
