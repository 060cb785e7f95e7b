# SPDX-License-Identifier: MIT
"""`ipcwait bench`: its form; what comes out is the machine's."""

import json

import common


class Bench(common.CliTest):
    def test_for_people(self):
        r = self.run_it("bench", "--work", "5")
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        self.assertIn("after 5 us of work each", r.stdout)
        self.assertRegex(r.stdout, r"\n  libipcwait +[\d.]+ +[\d.]+\n  glibc +[\d.]+ +[\d.]+\n")
        self.assertRegex(r.stdout, r"\n\n[\d.]+ times as fast, for|\n\nNothing is gained here")

    def test_json(self):
        r = self.run_it("bench", "--json")
        self.assertEqual((r.returncode, r.stderr), (0, ""), r)
        o = json.loads(r.stdout)
        self.assertEqual((o["program"], o["format"], o["work_us"]), ("ipcwait bench", 1, 1))
        for arm in "libipcwait", "glibc":
            for key in "us", "cpu_us":
                runs = o[arm][key]
                self.assertEqual(len(runs), 5)
                self.assertTrue(all(v > 0 for v in runs))
                self.assertEqual(o[arm][key + "_median"], sorted(runs)[2])

    def test_bad_arguments(self):
        for args, word in [(["x"], "'x'"), (["--work", "-1"], "--work"),
                           (["--work", "10001"], "--work"), (["--work"], "--work")]:
            self.check_one_line(self.run_it("bench", *args), 2, word)


if __name__ == "__main__":
    common.main()
