# SPDX-License-Identifier: MIT
"""Trees of /proc, /sys and /etc for `ipcwait info --root`, as machines of four kinds have them."""

import os

CPU = "sys/devices/system/cpu/"
CLOCKS = "sys/devices/system/clocksource/clocksource0/"
HALTPOLL = "sys/module/haltpoll/parameters/guest_halt_poll_"

X86 = """processor\t: 0
vendor_id\t: %s
model name\t: %s
vmx flags\t: none
flags\t\t: fpu tsc%s lahf_lm
"""

ARM = """processor\t: 0
BogoMIPS\t: 243.75
Features\t: fp asimd
CPU implementer\t: 0x41
CPU part\t: 0xd0c
"""

COMMON = {
    "proc/loadavg": "0.50 1.25 2.00 1/234 5678",
    "proc/uptime": "36000.12 70000.00",
    "proc/meminfo": "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB",
    "proc/sys/kernel/perf_event_paranoid": "-1",
    "proc/sys/kernel/hostname": "secret-host",
    "etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"',
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
}


def cache(index, level, kind, size, cpus):
    where = CPU + "cpu0/cache/index%d/" % index
    return {where + "level": str(level), where + "type": kind, where + "size": size,
            where + "shared_cpu_list": cpus}


def state(index, name, latency, residency, usage, microseconds, disable=0):
    where = CPU + "cpu0/cpuidle/state%d/" % index
    names = "name", "latency", "residency", "usage", "time", "disable"
    values = name, latency, residency, usage, microseconds, disable
    return {where + key: str(value) for key, value in zip(names, values)}


def guest():
    """A KVM guest with haltpoll, in a container of control groups version 2."""
    return {
        **COMMON,
        "proc/cpuinfo": X86 % ("AuthenticAMD", "AMD EPYC", " hypervisor"),
        "proc/stat": "cpu  100 0 100 700 0 0 0 100 50 0\ncpu0 1 1 1 1 1 1 1 1 1 1",
        "proc/cmdline": "root=UUID=secret ip=1.2.3.4::secret-host idle=poll quiet -- nohz=off",
        "proc/self/status": "Name:\tx\nCpus_allowed:\t6\nCpus_allowed_list:\t1-2",
        "proc/self/cgroup": "1:name=systemd:/x\n0::/pods/one",
        "proc/self/mountinfo": "31 1 0:28 / /sys/fs/cgroup rw shared:9 - cgroup2 none rw",
        "sys/fs/cgroup/pods/one/cpu.max": "max 100000",
        "sys/fs/cgroup/pods/cpu.max": "150000 100000",
        "sys/fs/cgroup/cpu.max": "400000 100000",
        "proc/sys/kernel/arch": "x86_64",
        "proc/sys/kernel/osrelease": "6.1.0-18-cloud-amd64",
        "proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)",
        "sys/kernel/debug/sched/preempt": "none (voluntary) full",
        CLOCKS + "current_clocksource": "kvm-clock",
        CLOCKS + "available_clocksource": "kvm-clock tsc acpi_pm ",
        "sys/class/dmi/id/sys_vendor": "QEMU",
        "sys/class/dmi/id/product_name": "Standard PC (Q35 + ICH9, 2009)",
        "sys/class/dmi/id/product_serial": "secret-serial",
        CPU + "online": "0-3",
        CPU + "cpu1/topology/thread_siblings_list": "0-1",
        CPU + "cpuidle/current_driver": "haltpoll",
        CPU + "cpuidle/current_governor": "haltpoll",
        "sys/devices/system/node/online": "0",
        HALTPOLL + "ns": "200000",
        HALTPOLL + "grow": "2",
        HALTPOLL + "grow_start": "50000",
        HALTPOLL + "shrink": "0",
        HALTPOLL + "allow_shrink": "Y",
    }


def metal():
    """A box with C-states, two packages, a quota of control groups version 1 further up."""
    return {
        **COMMON,
        "proc/cpuinfo": X86 % ("GenuineIntel", "Intel(R) Xeon(R) Gold 6138", ""),
        "proc/stat": "cpu  100 0 100 800 0 0 0 0 0 0",
        "proc/self/status": "Cpus_allowed_list:\t0-79",
        "proc/self/cgroup": "4:cpuset:/\n3:cpu,cpuacct:/docker/abc\n0::/",
        "proc/self/mountinfo": "31 1 0:28 /docker/abc /cg rw - cgroup cgroup rw,cpu,cpuacct\n"
                               "32 1 0:28 / /cg2 rw - cgroup2 cgroup2 rw",
        "cg/cpu.cfs_quota_us": "-1",
        "cg/cpu.cfs_period_us": "100000",
        "proc/sys/kernel/arch": "x86_64",
        "proc/sys/kernel/osrelease": "6.12.0",
        "proc/sys/kernel/version": "#1 SMP PREEMPT_RT",
        CLOCKS + "current_clocksource": "tsc",
        CLOCKS + "available_clocksource": "tsc hpet acpi_pm ",
        CPU + "online": "0-79",
        CPU + "cpu0/topology/thread_siblings_list": "0,40",
        CPU + "cpuidle/current_driver": "intel_idle",
        CPU + "cpuidle/current_governor_ro": "menu",
        CPU + "cpu0/cpufreq/scaling_driver": "intel_pstate",
        CPU + "cpu0/cpufreq/scaling_governor": "powersave",
        CPU + "vulnerabilities/meltdown": "Mitigation: PTI",
        CPU + "vulnerabilities/mds": "Vulnerable: no microcode",
        CPU + "vulnerabilities/srbds": "Not affected",
        CPU + "vulnerabilities/itlb_multihit": "KVM: Mitigation: VMX disabled",
        "sys/devices/system/node/online": "0-1",
        "sys/module/kvm/parameters/halt_poll_ns": "200000",
        **cache(0, 1, "Data", "32K", "0,40"), **cache(1, 1, "Instruction", "32K", "0,40"),
        **cache(2, 2, "Unified", "1024K", "0,40"),
        **cache(3, 3, "Unified", "28160K", "0-19,40-59"),
        **state(0, "POLL", 0, 0, 12, 345), **state(1, "C1", 2, 2, 5000000000, 71234567),
        **state(2, "C1E", 10, 20, 1, 1, 1), **state(3, "C6", 133, 600, 99999, 30000000000),
    }


def arm():
    """A guest on arm64 with a device tree, and little else to be read."""
    return {
        "proc/cpuinfo": ARM,
        "proc/device-tree/hypervisor/compatible": "linux,kvm\0",
        "proc/device-tree/model": "linux,dummy-virt\0",
        CPU + "online": "0-1",
        CLOCKS + "current_clocksource": "arch_sys_counter",
    }


def build(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else (text + "\n").encode("ascii"))
    os.makedirs(folder, exist_ok=True)
    return folder
