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

    def test_a_damaged_host_in_a_joined_file(self):
        self.join("a.json", "b.json")
        for damage in ({"label": 3}, {"summary": None}, {"summary": [{"name": "x"}]}):
            joined = self.load("joined.json")
            joined["ipcwait"]["hosts"][1].update(damage)
            self.write("damaged.json", joined)
            self.check_refused(self.join("damaged.json", status=2), "damaged")


if __name__ == "__main__":
    common.main()
