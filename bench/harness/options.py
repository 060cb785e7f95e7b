# SPDX-License-Identifier: MIT
"""The command line of scripts/bench."""

import argparse
import re

from .errors import refused, shown

DESCRIPTION = """\
Measure libipcwait and its peers: each benchmark in a process of its own, variants of a question
one after the other, several rounds. The table shows medians with the interval in which a
repetition would find them; the result file has every run."""

EPILOG = """\
Exit status: 0 done; 1 a benchmark failed; 2 bad input; 3 --compare found libipcwait slower
(slower peers are only printed); 4 the machine was too noisy to report; 130 interrupted (--resume
goes on).
docs/benchmarks/harness.md tells how it measures."""


class Parser(argparse.ArgumentParser):
    """One line for what is wrong, as the other programs have it."""

    def error(self, message):
        raise refused(shown(message))


# More say no more, and a file that asks for more is not one of ours.
RUNS_MOST = 99


def whole(least, most):
    def read(text):
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
            why = f"{shown(text, 40)!r} is no number from {least} to {most}"
            raise argparse.ArgumentTypeError(why)
        return int(text)
    return read


def seconds(text):
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", text) or not 0.001 <= float(text) <= 60:
        raise argparse.ArgumentTypeError(f"{shown(text, 40)!r} is no number from 0.001 to 60")
    return float(text)


def some(text):
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def add_what(parser):
    what = parser.add_argument_group("what to measure")
    what.add_argument("suites", nargs="*", metavar="SUITE",
                      help="questions, as --list has them; 'all' is the default")
    size = what.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a choice, in 3 minutes (default)")
    size.add_argument("--full", action="store_true", help="everything, in 40 minutes")
    what.add_argument("--filter", type=some, metavar="REGEX",
                      help="only names in which it is found")
    what.add_argument("--scoreboard", action="store_true",
                      help="the seeds' rows beside ours; alone, or with SUITE")
    what.add_argument("--vm", action="store_true", help="guests; alone, or with SUITE")
    what.add_argument("--profile", type=some, metavar="NAME",
                      help="where a suite or benchmark spends its time")
    what.add_argument("--profile-by", choices=("wall", "cpu"), default=None)
    what.add_argument("--list", action="store_true", help="print the names, measure nothing")


def add_how(parser):
    how = parser.add_argument_group("how")
    how.add_argument("--runs", type=whole(1, RUNS_MOST), metavar="N", help="of each benchmark (5)")
    how.add_argument("--trim", choices=("order", "rank"),
                     help="drop the first and last run (default), or lowest and highest")
    how.add_argument("--min-time", type=seconds, metavar="S",
                     help="of one run; follows from the size")
    how.add_argument("--force", action="store_true", help="report although it was noisy")
    how.add_argument("--no-progress", action="store_true")
    how.add_argument("--label", type=some, metavar="NAME", help="of this machine in joined files")
    how.add_argument("--build", type=some, metavar="DIR", help="build directory (build-bench)")
    how.add_argument("--program", type=some, metavar="PATH",
                     help="(bench/grid/ipcwait_bench in the build directory)")


def add_files(parser):
    files = parser.add_argument_group("files")
    files.add_argument("--out", type=some, metavar="FILE",
                       help="the result (bench-results/<suite>-<time>.json)")
    files.add_argument("--resume", type=some, metavar="FILE", help="go on with an interrupted run")
    files.add_argument("--from", type=some, metavar="FILE", dest="source",
                       help="show a result instead of measuring")
    files.add_argument("--report", type=some, metavar="FILE.html")
    files.add_argument("--markdown", type=some, metavar="FILE.md")
    files.add_argument("--compare", nargs=2, type=some, metavar=("A", "B"),
                       help="is B slower than A?")
    files.add_argument("--import", nargs="+", type=some, metavar="FILE", dest="joined",
                       help="join results of several hosts into one; NAME=FILE gives a label")


def make():
    parser = Parser(prog="scripts/bench", description=DESCRIPTION, epilog=EPILOG,
                    allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_what(parser)
    add_how(parser)
    add_files(parser)
    return parser


# Modes exclude each other. What else each can be given; None: anything.
SETTINGS = {
    "--resume": ("force", "no_progress", "build", "program", "report", "markdown"),
    "--compare": ("force",),
    "--import": ("out", "report", "markdown"),
    "--from": ("force", "report", "markdown"),
    "--list": ("suites", "quick", "full", "filter", "build", "program"),
    "--profile": ("profile_by", "build", "program", "min_time", "no_progress"),
}
DESTINATIONS = {"--import": "joined", "--from": "source"}


def option_of(destination):
    if destination == "suites":
        return "SUITE"
    back = {v: k for k, v in DESTINATIONS.items()}
    return back.get(destination, "--" + destination.replace("_", "-"))


def check_mode(options):
    """At most one mode, and nothing beside it that it would not look at."""
    given = [d for d, value in vars(options).items() if value]
    for mode, allowed in SETTINGS.items():
        own = DESTINATIONS.get(mode, mode[2:])
        if own not in given:
            continue
        for other in given:
            if other != own and other not in allowed:
                raise refused(f"{mode} goes without {option_of(other)}")
    if options.profile_by and not options.profile:
        raise refused("--profile-by goes with --profile")


def parse(arguments):
    options = make().parse_intermixed_args(arguments)
    check_mode(options)
    return options
