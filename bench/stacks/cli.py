# SPDX-License-Identifier: MIT
"""The command line of the stack tools."""
import argparse
import os
import sys
from types import SimpleNamespace

from . import flame, formats, recording, samples, tables, text_formats, trees
from .errors import FAILED, Refused, reason, shown

RATE_MOST = 10000
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(f"{message} (see --help)")


def number(most):
    def parse(text):
        if not text.isascii() or not text.isdigit() or len(text) > 9 \
                or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{shown(text)}' is no number from 1 to {most}")
        return int(text)
    return parse


def add_view(p, record_too=False):
    p.add_argument("--sort", choices=tables.SORTS, default="incl",
                   help="by inclusive or exclusive share (default: incl)")
    p.add_argument("--top", type=number(10**9), metavar="N", default=30,
                   help="the first N rows (default 30)")
    if not record_too:
        p.add_argument("--format", choices=sorted(formats.READERS), help="do not look: it is this")
    p.add_argument("--thread", metavar="NAME|NUMBER", help="these threads only; may have * and ?")
    p.add_argument("--process", metavar="NUMBER", help="this process only")


def add_trees(p):
    which = p.add_mutually_exclusive_group()
    which.add_argument("--callers", metavar="FUNCTION", help="who called it")
    which.add_argument("--callees", metavar="FUNCTION", help="what it called")
    which.add_argument("--threads", action="store_true", help="samples of each thread")
    p.add_argument("--depth", type=number(1000), metavar="N",
                   help="levels of callers or callees (default 1)")


def add_record(commands):
    p = commands.add_parser("record", help="run a command and show where its time went")
    p.add_argument("--by", choices=sorted(recording.RATES), default="cpu",
                   help="CPU time, or wall-clock time with the waits in it (default: cpu)")
    p.add_argument("--source", choices=recording.SOURCES, default="auto",
                   help="perf, or the sampler that is preloaded (default: perf where it works)")
    p.add_argument("--rate", type=number(RATE_MOST), metavar="HZ", help="samples per second")
    p.add_argument("--call-graph", choices=recording.CALL_GRAPHS, default="dwarf",
                   help="unwind by tables or by frame pointers (default: dwarf)")
    p.add_argument("--build", metavar="DIR", help="build directory that has the sampler")
    p.add_argument("--out", metavar="FILE", help="keep the stacks, folded")
    add_view(p, record_too=True)
    add_trees(p)
    p.add_argument("argv", nargs="+", metavar="PROGRAM", help="the command to run, after --")


def parser():
    p = Parser(prog="stacks", description="Where the time is: stacks of a program, recorded, "
               "counted, compared.", epilog="FILE may be perf.data, the text of perf script, "
               "folded stacks or stacks between lines with an exclamation mark; - is the "
               "standard input. Exit status: 0 done; 1 the command or the recording failed; "
               "2 bad arguments or input.")
    commands = p.add_subparsers(dest="command", required=True, metavar="COMMAND")
    report = commands.add_parser("report", help="inclusive and exclusive shares of functions")
    add_view(report)
    add_trees(report)
    report.add_argument("file", metavar="FILE")
    diff = commands.add_parser("diff", help="what B has more or less of than A")
    add_view(diff)
    diff.add_argument("a", metavar="A")
    diff.add_argument("b", metavar="B")
    convert = commands.add_parser("convert", help="write the stacks in another format")
    convert.add_argument("--to", choices=("folded", "bang", "svg"), required=True)
    convert.add_argument("--format", choices=sorted(formats.READERS))
    convert.add_argument("--out", metavar="FILE", help="instead of the standard output")
    convert.add_argument("--thread", metavar="NAME|NUMBER")
    convert.add_argument("--process", metavar="NUMBER")
    convert.add_argument("file", metavar="FILE")
    add_record(commands)
    return p


def show(profile, o):
    """The view that the options ask for, as lines."""
    wanted = o.callees if o.callers is None else o.callers
    if wanted is not None:
        return trees.lines(profile, wanted, o.callers is not None, o.depth or 1, o.top)
    if o.depth:
        raise Refused("--depth goes with --callers or --callees")
    if o.threads:
        return tables.threads(profile)
    return tables.functions(profile, o.sort, o.top)


def do_report(o):
    profile = samples.only(formats.read(o.file, o.format), o.thread, o.process)
    view = show(profile, o)
    print("\n".join([*map(shown, tables.head(profile)), "", *view]))
    return 0


def do_diff(o):
    if o.a == o.b == "-":
        raise Refused("only one of the two can be the standard input")
    sides = [samples.only(formats.read(path, o.format), o.thread, o.process)
             for path in (o.a, o.b)]
    notes = [shown(f"{side.source}: {note}") for side in sides for note in side.notes]
    print("\n".join(notes + tables.difference(*sides, o.sort, o.top)))
    return 0


def do_convert(o):
    profile = samples.only(formats.read(o.file, o.format), o.thread, o.process)
    writers = {"folded": text_formats.write_folded, "bang": text_formats.write_bang,
               "svg": flame.write_svg}
    text = writers[o.to](profile)
    for note in profile.notes:
        print(f"stacks: {shown(note)}", file=sys.stderr)
    if o.out:
        recording.write(o.out, text)
    else:
        sys.stdout.write(text)
    return 0


def do_record(o):
    context = SimpleNamespace(build=o.build, profile_by=o.by)
    result = recording.record(context, o.argv, o.out, source=o.source, rate=o.rate,
                              call_graph=o.call_graph)
    profile = samples.only(result.profile, o.thread, o.process)
    lines = [result.how, *map(shown, tables.head(profile)), "", *show(profile, o)]
    sys.stdout.flush()
    print("\n".join(["", *lines]))
    if result.interrupted:
        return INTERRUPTED
    return FAILED if result.status else 0


DO = {"report": do_report, "diff": do_diff, "convert": do_convert, "record": do_record}


def main(arguments):
    try:
        sys.stdout.reconfigure(errors="backslashreplace")
        o = parser().parse_args(arguments)
        status = DO[o.command](o)
        sys.stdout.flush()
        return status
    except Refused as e:
        print(f"stacks: {e}", file=sys.stderr)
        return e.status
    except BrokenPipeError:
        # `| head` has seen enough. Python would complain again when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as e:
        print(f"stacks: cannot write the output: {shown(reason(e))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
