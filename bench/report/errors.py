# SPDX-License-Identifier: MIT
"""What can keep a report, or one figure of it, from being made."""


class ReportError(Exception):
    """There can be no report at all. The text is one line for the user."""


class Missing(Exception):
    """There is nothing to draw. The text is the sentence that stands in the figure's place."""


class PlotError(Exception):
    """gnuplot refused, or took too long. The text stands in the figure's place."""
