# SPDX-License-Identifier: MIT
"""Guests with each idle setting, and the host itself with the same program and arguments."""

import os
import pathlib
import subprocess
import tempfile

from . import kernel, qemu
from .errors import VmError
from .follow import Limits, follow
from .rows import rows

ROWS = ("glibc", "ipcwait", "spin", "block")
LOOPS = 2000

# Items of a run and runs of a row. A hand-off takes some 20 us under KVM where it halts. Under TCG
# counts settle soon, and six guests are to take less than two minutes.
SIZES = {("kvm", False): (40000, 5), ("kvm", True): (20000, 3),
         ("tcg", False): (2000, 5), ("tcg", True): (2000, 3)}

# The quick choice is the pair between which the seed's difference lies.
GUESTS = [(idle, vcpus) for vcpus in (1, 2) for idle in ("default", "idle=poll", "haltpoll")]
QUICK_GUESTS = [("default", 2), ("idle=poll", 2)]

HOST = Limits(first_s=60, silence_s=60, total_s=300)


def _cpus(n, word):
    return f"{n} {word}{'' if n == 1 else 's'}"


def label(idle, vcpus):
    return f"guest, {'default idle' if idle == 'default' else idle}, {_cpus(vcpus, 'vCPU')}"


def _ignored(idle, hello):
    """None if the kernel did what it was told, else one sentence."""
    messages, driver = hello["idle_messages"], hello["idle_driver"]
    if idle == "idle=poll" and messages is None:
        return "not available: the kernel's log cannot be read"
    if idle == "idle=poll" and not any("polling idle" in message for message in messages):
        return "ignored by the kernel: its log does not mention polling idle threads"
    if idle == "haltpoll" and driver != "haltpoll":
        return f"ignored by the kernel: the idle driver is {driver or 'not available'}"
    return None


def _said(stream):
    """What the hello and the info line tell about a machine."""
    hellos, infos = stream.of_kind("hello"), stream.of_kind("info")
    said = {key: value for key, value in hellos[0][0].items() if key != "kind"} if hellos else {}
    if infos:
        head, document = infos[0]
        said["info"] = document or {"error": head.get("error", "no output")}
    return said


def _entry(base, followed, job):
    """A member of "guests" from what came over the line."""
    stream = followed["stream"]
    said = _said(stream)
    entry = {**base, **said, "items": job["items"], "loops": job["loops"],
             "runs_per_row": job["runs"], "order": "rotated in each round",
             "boot_wall_s": followed["first_line_s"], "wall_s": followed["wall_s"]}
    if said:
        entry["ignored"] = _ignored(base["idle"], said)
    entry["rows"] = rows(stream, job["rows"], job["items"], base["counts_only"])
    cpu = {"cpu_s": followed["cpu_s"]}
    entry.update({"times_under_tcg": cpu} if base["counts_only"] else cpu)
    if followed["error"]:
        entry["error"] = followed["error"]
    elif any("error" in row for row in entry["rows"]):
        entry["error"] = "; ".join(f"{row['row']}: {row['error']}" for row in entry["rows"]
                                   if "error" in row)
    return entry


def job(accel, quick, names=ROWS, items=None, loops=None, runs=None):
    """What one machine measures: the same words for the guest's init and on the host."""
    usual_items, usual_runs = SIZES[accel, quick]
    return {"rows": list(names), "items": items or usual_items, "loops": loops or LOOPS,
            "runs": runs or usual_runs}


def _words(a_job):
    return ["--items", str(a_job["items"]), "--loops", str(a_job["loops"]),
            "--runs", str(a_job["runs"]), "--rows", ",".join(a_job["rows"])]


def _progress_of(a_job, name, progress):
    total = a_job["runs"] * len(a_job["rows"])
    if not progress:
        return None
    return lambda stream: progress(f"{name}: {len(stream.of_kind('run'))} of {total} runs")


def run_guest(idle, vcpus, parts, a_job, progress=None):
    """
    Boot one guest. @parts: what prepare() returns, {"qemu", "kernel", "initramfs", "info": whether
    the archive has the ipcwait command, "accel", "accel_reason"}.
    """
    words = [*(["--info", "/ipcwait"] if parts["info"] else []), *_words(a_job)]
    line = qemu.kernel_words(idle, words)
    argv = qemu.command(parts["qemu"], parts["accel"], vcpus, parts["kernel"], parts["initramfs"],
                        line)
    base = {"label": label(idle, vcpus), "accel": parts["accel"],
            "accel_reason": parts["accel_reason"], "idle": idle, "vcpus": vcpus,
            "counts_only": parts["accel"] == "tcg", "kernel_command_line": line}
    try:
        followed = follow(argv, qemu.BOOT, on_line=_progress_of(a_job, base["label"], progress))
    except OSError as e:
        return {**base, "error": f"cannot start QEMU: {e.strerror}"}
    return _entry(base, followed, a_job)


def run_host(build, n_cpus, a_job, progress=None):
    """The same program with the same arguments, on the first @n_cpus usable CPUs here."""
    usable = sorted(os.sched_getaffinity(0))
    base = {"label": f"host, {_cpus(n_cpus, 'CPU')}", "accel": "none", "accel_reason": None,
            "idle": "default", "vcpus": n_cpus, "counts_only": False}
    if len(usable) < n_cpus:
        return {**base, "error": f"not available: {_cpus(len(usable), 'usable CPU')} here"}
    here = pathlib.Path(build) / "bench" / "vm"
    with tempfile.TemporaryDirectory(prefix="ipcwait-vm.") as folder:
        argv = [str(here / "guest_init"), "--dir", folder,
                "--sem-test", str(here / "sem_test_static"), *_words(a_job)]
        try:
            followed = follow(argv, HOST, cpus=usable[:n_cpus],
                              on_line=_progress_of(a_job, base["label"], progress))
        except (OSError, subprocess.SubprocessError) as e:
            return {**base, "error": f"cannot start guest_init: {e}"}
    return _entry(base, followed, a_job)


def prepare(folder, build, cache, accel="auto", own_kernel=None, progress=None):
    """Everything that a guest needs. VmError if a part is missing."""
    program = qemu.find()
    initramfs, info = qemu.make_initramfs(folder, build)
    image = kernel.find(cache, progress, own_kernel)
    reason = "TCG was asked for"
    if accel != "tcg":
        if progress:
            progress("trying whether a guest boots under KVM")
        reason = qemu.probe_kvm(program, image, initramfs)
    if accel == "kvm" and reason:
        raise VmError(reason)
    return {"qemu": program, "initramfs": initramfs, "info": info, "kernel": image,
            "accel": "tcg" if reason else "kvm", "accel_reason": reason}


def iterate(context):
    """
    Yield the members of the list "guests" of a result file as they are done: the host, then the
    guests. Of @context are used build, quick, cache and progress(text). VmError before the first,
    one line for exit status 2, without QEMU or kernel.

    Whoever stops between two keeps what there is. close(), or an exception while one runs, kills
    QEMU and takes the scratch folder away.
    """
    with qemu.scratch() as folder:
        parts = prepare(folder, context.build, pathlib.Path(context.cache) / "vm",
                        progress=context.progress)
        a_job = job(parts["accel"], context.quick)
        chosen = QUICK_GUESTS if context.quick else GUESTS
        for n in sorted({vcpus for _, vcpus in chosen}):
            yield run_host(context.build, n, a_job, context.progress)
        for idle, vcpus in chosen:
            yield run_guest(idle, vcpus, parts, a_job, context.progress)


def run(context):
    """The whole list at once."""
    return list(iterate(context))
