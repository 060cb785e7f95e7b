# SPDX-License-Identifier: MIT
"""Ways to wait for descriptors, side by side: docs/benchmarks/descriptors.md."""
