# SPDX-License-Identifier: MIT
"""What a summary says of the machine: a few lines of `ipcwait info`."""

KEYS = ("cpu_model", "cpus_online", "cpus_usable", "threads_per_core", "virtual", "hypervisor",
        "kernel_release", "clocksource", "tick_hz", "idle_driver", "idle_governor",
        "guest_halt_poll_ns", "kvm_halt_poll_ns", "libipcwait_version", "glibc_version",
        "block_cost_ns", "git", "host_label", "error")


def pairs(tree):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from pairs(value)
        else:
            yield key, value


def of(environment):
    found = dict(pairs(environment))
    return {key: found[key] for key in KEYS if key in found}
