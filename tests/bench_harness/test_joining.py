# SPDX-License-Identifier: MIT
"""--import: hosts in one file, with labels of their own, from our files and plain ones."""

import hashlib
import subprocess

import common
from common import FAKE


class Joining(common.HarnessTest):
    def setUp(self):
        super().setUp()
        for name in ("a", "b"):
            result = common.made(ord(name))
            result["ipcwait"]["environment"] = {"host_label": f"box {name}"}
            result["benchmarks"] = [{"name": "x", "real_time": 1.0}]
            self.write(f"{name}.json", result)

    def join(self, *files, status=0):
        r = self.run_it("--import", *files, "--out", "joined.json")
        self.assertEqual(r.returncode, status, r.stderr)
        return r

    def test_two_results(self):
        r = self.join("a.json", "b.json")
        self.assertIn("box a", r.stdout)
        self.assertIn("box b", r.stdout)
        result = self.load("joined.json")
        hosts = result["ipcwait"]["hosts"]
        self.assertEqual([h["label"] for h in hosts], ["box a", "box b"])
        self.assertEqual(hosts[1]["summary"], self.load("b.json")["ipcwait"]["summary"])
        self.assertEqual(hosts[1]["file_sha256"],
                         hashlib.sha256((self.dir / "b.json").read_bytes()).hexdigest())
        self.assertEqual(result["benchmarks"], self.load("a.json")["benchmarks"])
        r = self.run_it("--from", "joined.json")
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_a_joined_file_and_one_more(self):
        self.join("a.json", "b.json")
        self.join("joined.json", "third=a.json")
        hosts = self.load("joined.json")["ipcwait"]["hosts"]
        self.assertEqual([h["label"] for h in hosts], ["box a", "box b", "third"])

    def test_noisy_and_incomplete_hosts_are_marked(self):
        for name, change in (("a", {"complete": False}),
                             ("b", {"verdict": {"noisy": True, "why": "a\nbuild"}})):
            result = self.load(f"{name}.json")
            result["ipcwait"].update(change)
            self.write(f"{name}.json", result)
        r = self.join("a.json", "b.json", "c=a.json")
        self.assertEqual(r.stderr, "scripts/bench: warning: box a is incomplete\n"
                         "scripts/bench: warning: box b was too noisy to judge: a?build\n"
                         "scripts/bench: warning: c is incomplete\n")
        self.assertIn("box a (incomplete)", r.stdout)
        self.assertIn("box b (noisy)", r.stdout)
        hosts = self.load("joined.json")["ipcwait"]["hosts"]
        self.assertEqual([(h["noisy"], h["complete"]) for h in hosts],
                         [(False, False), (True, True), (False, False)])

    def test_labels(self):
        self.check_refused(self.join("a.json", "a.json", status=2), "NAME=FILE")
        self.join("a.json", "same=a.json")
        self.assertEqual(self.load("joined.json")["ipcwait"]["hosts"][1]["label"], "same")
        self.join("a.json", "b.json")
        r = self.join("name=joined.json", status=2)
        self.check_refused(r, "have labels")

    def test_plain_google_benchmark_output(self):
        env = self.environment({}, {})
        with open(self.path("plain.json"), "w", encoding="ascii") as f:
            subprocess.run([str(FAKE), "--benchmark_format=json"], env=env, stdout=f, check=True)
        self.join("a.json", "metal=plain.json")
        host = self.load("joined.json")["ipcwait"]["hosts"][1]
        self.assertEqual((host["label"], host["verdict"]["noisy_runs"]), ("metal", None))
        self.assertIn("plain", host["environment"]["error"])
        self.assertEqual({e["name"] for e in host["summary"]}, set(common.NAMES))
        self.join("plain.json")
        self.assertEqual(self.load("joined.json")["ipcwait"]["suite"], "joined")
        aggregates = {"context": {}, "benchmarks": [{"name": "a_mean", "run_type": "aggregate"}]}
        self.write("aggregates.json", aggregates)
        self.check_refused(self.join("aggregates.json", status=2), "aggregates only")

    def add_board(self, name, metal):
        """The semaphore test of the scoreboard, as bench/seed makes it."""
        why = "this is a virtual machine" if not metal else None
        lines = [["Linux VM", "27.5 us/item", "glibc", 20.0],
                 ["Linux on metal", "11.5 us/item", "glibc", 9.0] if metal else
                 ["Linux on metal", "11.5 us/item", "not available: " + why, None],
                 ["not in the seed", "", "ipcwait", 1.0]]
        result = self.load(f"{name}.json")
        result["ipcwait"]["seed"] = [{"id": "I-1"}, {"id": "I-2", "lines": lines,
                                                     "raw": {"metal": metal}}]
        self.write(f"{name}.json", result)

    def metal_lines(self):
        row = self.load("joined.json")["ipcwait"]["seed"][1]
        return [line[2:] for line in row["lines"] if line[0] == "Linux on metal"]

    def test_metal_fills_the_scoreboard(self):
        self.add_board("a", False)
        self.add_board("b", True)
        self.join("a.json", "b.json")
        filled = [["glibc on box b", 9.0], ["ipcwait on box b", 1.0]]
        self.assertEqual(self.metal_lines(), filled)
        hosts = self.load("joined.json")["ipcwait"]["hosts"]
        for host, name in zip(hosts, "ab"):             # as they were measured
            self.assertEqual(host["seed"], self.load(f"{name}.json")["ipcwait"]["seed"])
        self.join("joined.json", "c=b.json")
        self.assertEqual(self.metal_lines(), filled + [["glibc on c", 9.0], ["ipcwait on c", 1.0]])

    def test_without_metal_the_scoreboard_stays(self):
        self.add_board("a", False)
        self.join("a.json", "b.json")
        self.assertEqual(self.load("joined.json")["ipcwait"]["seed"],
                         self.load("a.json")["ipcwait"]["seed"])

    def test_a_damaged_scoreboard(self):
        for rows in ([3], [{"id": 3}], [{"id": "I-2", "lines": 3}], [{"id": "I-2", "raw": 3}],
                     [{"id": "I-2", "lines": [3]}]):
            with self.subTest(rows=rows):
                result = self.load("b.json")
                result["ipcwait"]["seed"] = rows
                self.write("b.json", result)
                self.check_refused(self.join("a.json", "b.json", status=2),
                                   'b.json is no result of scripts/bench: its "seed"')

    def test_a_damaged_host_in_a_joined_file(self):
        self.join("a.json", "b.json")
        for damage in ({"label": 3}, {"summary": None}, {"summary": [{"name": "x"}]}):
            joined = self.load("joined.json")
            joined["ipcwait"]["hosts"][1].update(damage)
            self.write("damaged.json", joined)
            self.check_refused(self.join("damaged.json", status=2), "damaged")


if __name__ == "__main__":
    common.main()
