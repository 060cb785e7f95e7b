# SPDX-License-Identifier: MIT
"""`ipcwait info`: of this machine, and of trees that stand for others."""

import json
import os
import random
import re

import common
import info_trees

CPUS = sorted(os.sched_getaffinity(0))
SECTIONS = ["library", "machine", "idle", "kernel", "policy"]


def one_cpu():
    os.sched_setaffinity(0, {CPUS[0]})


class InfoTest(common.CliTest):
    def info(self, *args, **options):
        r = self.run_it("info", *args, **options)
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        return r.stdout

    def facts(self, *args, **options):
        """All sections in one dictionary, checked for their form."""
        o = json.loads(self.info("--json", *args, **options))
        self.assertEqual(list(o)[3:], SECTIONS)
        self.assertEqual((o["program"], o["format"]), ("ipcwait info", 1))
        self.assertEqual(o["saved_tree"], "--root" in args)
        merged = {key: value for section in SECTIONS for key, value in o[section].items()}
        self.assertEqual(len(merged), sum(len(o[section]) for section in SECTIONS))
        for key, value in merged.items():
            self.assertRegex(key, r"^[a-z0-9_]+$")
            if value is None:
                self.assertTrue(merged[key + "_reason"], key)
        return merged

    def tree(self, files):
        return info_trees.build(self.path("tree"), files)

    def check_text(self, text):
        self.assertLess(max(map(len, text.splitlines())), 130)
        self.assertNotRegex(text, r"[{}]")
        for line in text.splitlines():
            self.assertEqual(line, line.rstrip())

    def check_facts(self, facts, expected):
        for key, value in expected.items():
            self.assertEqual(facts[key], value, key)


class Here(InfoTest):
    def test_for_people(self):
        text = self.info()
        self.check_text(text)
        self.assertLess(len(text.splitlines()), 50)
        for word in "Machine", "Idle CPUs", "Kernel", "spinning here", "hypervisor":
            self.assertIn(word, text)

    def test_facts(self):
        f = self.facts()
        self.assertEqual(f["cpus_usable"], len(CPUS))
        self.assertEqual(f["looked_at_cpu"], CPUS[0])
        self.assertEqual(f["libipcwait_version"], f["libipcwait_header_version"])
        self.assertEqual(f["kernel_release"], os.uname().release)
        self.assertEqual((f["default_preset"], f["block_cost_from"]), ("adaptive", "table"))
        self.assertGreater(f["block_cost_ns"], 0)
        self.assertEqual(f["tick_ns"] * f["tick_hz"] // 10**7, 100)

    def test_spinning(self):
        f = self.facts(preexec_fn=one_cpu)
        self.check_facts(f, {"cpus_usable": 1, "spins_here": False,
                             "spins_here_because": "this process may use one CPU only"})

    def test_policy(self):
        f = self.facts(IPCWAIT_POLICY="block")
        self.assertEqual(f["default_preset"], "block")
        self.assertIs(f["spins_here"], False)
        self.assertEqual(self.facts(IPCWAIT_POLICY="spin")["default_preset"], "spin")

    def test_policy_that_the_library_refuses(self):
        r = self.run_it("info", "--json", IPCWAIT_POLICY="fast")
        self.assertIn("IPCWAIT_POLICY='fast' ignored", r.stderr)
        self.assertEqual(json.loads(r.stdout)["policy"]["default_preset"], "adaptive")

    def test_variables(self):
        f = self.facts(IPCWAIT_LONG="x" * 5000, IPCWAIT_ODD="a\nb\33", IPCWAIT_HERE=self.dir,
                       IPCWAIT_RECORD="/somebody/else/file")
        self.assertEqual(sorted(f["variables"]), [
            "IPCWAIT_CALIBRATION=~/calibration", "IPCWAIT_HERE=~",
            "IPCWAIT_LONG=" + "x" * 96 + "...", "IPCWAIT_ODD=a?b?", "IPCWAIT_RECORD=.../file"])
        self.assertEqual(f["calibration_file"], "~/calibration")
        self.assertEqual(self.files(), [])

    def test_many_variables(self):
        f = self.facts(**{"IPCWAIT_%d" % i: "x" * 90 for i in range(20)})
        self.assertTrue(f["variables"][-1].endswith("..."))

    def test_nothing_is_recorded(self):
        self.facts(IPCWAIT_RECORD=self.path("record"))
        self.assertEqual(self.files(), [])

    def test_calibration_that_is_not_used(self):
        self.write("calibration", "nonsense\n")
        r = self.run_it("info", "--json")
        self.assertEqual(r.returncode, 0)
        self.assertIn("libipcwait: the saved calibration ignored", r.stderr)
        policy = json.loads(r.stdout)["policy"]
        self.assertEqual(policy["block_cost_from"], "table")
        self.assertIn("damaged", policy["calibration_measured_at_reason"])

    def test_to_a_file(self):
        self.write("out.json", "old")
        self.assertIn("spinning here", self.info("--json=out.json"))
        with open(self.path("out.json"), encoding="ascii") as f:
            self.assertIn("machine", json.load(f))
        self.assertEqual(self.files(), ["out.json"])
        self.info("--json", "other.json", "--root", self.dir)
        self.assertIn("other.json", self.files())

    def test_nobody_gets_the_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            self.check_one_line(self.run_it("info", stdout=full), 1, "standard output")


class Trees(InfoTest):
    def test_guest(self):
        tree = self.tree(info_trees.guest())
        f = self.facts("--root", tree)
        self.check_facts(f, {
            "cpu_model": "AMD EPYC", "cpu_vendor": "AuthenticAMD", "architecture": "x86_64",
            "cpus_online": 4, "cpus_usable": 2, "looked_at_cpu": 1, "threads_per_core": 2,
            "quota_cpus": 1.5, "memory_bytes": 2**34, "memory_available_bytes": 2**33,
            "load_1min": 0.5, "uptime_s": 36000, "steal_share": 0.1, "virtual": True,
            "hypervisor": "KVM", "product_vendor": "QEMU", "idle_governor": "haltpoll",
            "idle_states": None, "guest_halt_poll_ns": 200000, "kvm_halt_poll_ns": None,
            "preempt_model": "dynamic", "preempt_mode": "voluntary", "tick_ns": None,
            "clocksources": ["kvm-clock", "tsc", "acpi_pm"], "boot_options": ["idle=poll"],
            "call_filter": None, "call_filter_reason": "/proc/self/status does not tell",
            "transparent_hugepages": "madvise", "perf_event_paranoid": -1,
            "distribution": "Debian GNU/Linux 12 (bookworm)", "spins_here": None,
            "glibc_version": None, "variables": None})
        text = self.info("--root", tree)
        self.check_text(text)
        for word in "polls for up to 200 us", "10.0000 %", "quota: 1.5", "16.0 GiB":
            self.assertIn(word, text)
        self.assertNotIn("secret", text + json.dumps(f))

    def test_metal(self):
        tree = self.tree(info_trees.metal())
        f = self.facts("--root", tree)
        self.check_facts(f, {
            "cpus_online": 80, "numa_nodes": 2, "quota_cpus": None,
            "quota_cpus_reason": "no limit", "virtual": False, "hypervisor": None,
            "hypervisor_reason": "none", "l2_bytes": 2**20, "l2_shared_by_cpus": 2,
            "l3_bytes": 28160 * 1024, "l3_shared_by_cpus": 40, "preempt_model": "real-time",
            "idle_driver": "intel_idle", "idle_governor": "menu", "steal_share": 0,
            "cpufreq_governor": "powersave", "vulnerable": ["mds"],
            "mitigated": ["itlb_multihit", "meltdown"], "kvm_halt_poll_ns": 200000})
        self.assertEqual([s["name"] for s in f["idle_states"]], ["POLL", "C1", "C1E", "C6"])
        self.assertEqual(f["idle_states"][3], {
            "name": "C6", "exit_us": 133, "residency_us": 600, "usage": 99999,
            "time_us": 30000000000, "disabled": False})
        self.assertTrue(f["idle_states"][2]["disabled"])
        text = self.info("--root", tree)
        self.check_text(text)
        self.assertRegex(text, r"C6: exit 133 us, stay 600 us, 99999 times, 30000 s\n")

    def test_arm(self):
        tree = self.tree(info_trees.arm())
        f = self.facts("--root", tree)
        self.check_facts(f, {"cpu_vendor": "Arm", "cpu_model": "part 0xd0c", "virtual": True,
                             "hypervisor": "linux,kvm", "product": "linux,dummy-virt",
                             "architecture": None, "cpus_usable": None})
        self.check_text(self.info("--root", tree))

    def test_empty(self):
        tree = self.tree({})
        f = self.facts("--root", tree)
        known = [k for k, v in f.items() if v is not None and not k.endswith("_reason")]
        self.assertEqual(known, ["libipcwait_version", "libipcwait_header_version",
                                 "looked_at_cpu"])
        self.check_text(self.info("--root", tree))

    def test_a_figure_that_is_missing_in_a_state(self):
        files = info_trees.metal()
        del files[info_trees.CPU + "cpu0/cpuidle/state1/usage"]
        tree = self.tree(files)
        self.assertIsNone(self.facts("--root", tree)["idle_states"][1]["usage"])
        self.assertRegex(self.info("--root", tree), r"C1: .* \? times")

    def test_tight_group_of_version_1(self):
        self.check_facts(self.facts("--root", self.tree(
            {**info_trees.metal(), "cg/cpu.cfs_quota_us": "25000"})), {"quota_cpus": 0.25})

    def test_sizes_of_caches(self):
        name = info_trees.CPU + "cpu0/cache/index2/size"
        for text, size in (("512", 512), ("2M", 2**21), ("1G", 2**30), ("1024Kxyz", None),
                           ("1024KB", None), ("K", None), ("-1K", None), ("1e3", None),
                           ("0x10K", None), ("9999999999999K", None)):
            f = self.facts("--root", self.tree({**info_trees.metal(), name: text}))
            self.assertEqual(f["l2_bytes"], size, text)

    def test_escaped_mount(self):
        """As the library reads it: info_quota_test.c has the rest."""
        self.check_facts(self.facts("--root", self.tree({
            "proc/self/cgroup": "0::/a b", "cg 2/a b/cpu.max": "150000 100000",
            "proc/self/mountinfo": r"31 1 0:28 / /cg\0402 rw - cgroup2 none rw"})),
            {"quota_cpus": 1.5})

    def test_what_is_no_file(self):
        tree = self.tree({"proc/uptime/x": ""})
        os.mkfifo(os.path.join(tree, "proc/stat"))
        f = self.facts("--root", tree)
        self.assertIn("cannot be read", f["steal_share_reason"])
        self.assertIsNone(f["uptime_s"])

    def test_any_bytes(self):
        """Whatever stands in the files: it ends, and the JSON is JSON."""
        chance = random.Random(5)
        pieces = [b"\0", b"\n", b"-", b",", b"0", b"99999999999999999999", b"1e400 nan inf ",
                  b"\xff\x1b", b" ", b":", b"A" * 900, b"max ", b"/", b" - ", b"[", b")"]
        names = {**info_trees.metal(), **info_trees.guest(), **info_trees.arm()}
        for i in range(12):
            files = {}
            for name, text in names.items():
                old = text.encode("ascii") + b"\n"
                cut = chance.randrange(len(old))
                files[name] = old[:cut] + b"".join(chance.choices(pieces, k=i)) + old[cut:]
            tree = self.tree(files)
            self.facts("--root", tree)
            text = self.info("--root", tree)
            self.assertTrue(re.fullmatch(r"[\n -~]*", text))


if __name__ == "__main__":
    common.main()
