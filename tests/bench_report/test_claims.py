# SPDX-License-Identifier: MIT
"""What pages say about a result: the banner, the scoreboard's states, the hosts' labels."""

import unittest

import common
import make_result
from report import environment, fig_hosts, fig_pairs, scoreboard


def small():
    """A result whose pages are made quickly."""
    return make_result.result(suites=(), extras=False)


class Banners(common.ReportTest):
    def banners(self, method=None, **verdict):
        result = small()
        result["ipcwait"]["method"].update(method or {})
        result["ipcwait"]["verdict"] = {"noisy": False, "noisy_runs": 0, "total_runs": 560,
                                        "why": None, **verdict}
        self.result = result
        return environment.banners(result)

    def test_quiet(self):
        self.assertEqual(self.banners(rounds=[]),
                         [("good", "No disturbance seen in /proc/stat in 560 runs.")])

    def test_nobody_looked_at_rounds(self):
        ((kind, text),) = self.banners()
        self.assertEqual(kind, "good")
        self.assertTrue(text.endswith("Whether whole rounds moved was not looked at."), text)

    def test_rounds_that_moved(self):
        ((kind, text),) = self.banners(rounds=["round 2 of pairs was 1.4 times slower"])
        self.assertEqual(kind, "warn")
        self.has("Round 2 of pairs was 1.4 times slower.", text)

    @unittest.skipIf(not common.HAVE_GNUPLOT, "needs gnuplot")
    def test_slowed(self):
        found = self.banners({"slowed": "impl:ipcwait,50"}, rounds=["a <b>"])
        self.assertEqual(found[0], ("bad", "Deliberately slowed: impl:ipcwait,50 "
                                    "(IPCWAIT_BENCH_SLOW)."))
        text, _ = self.html(self.result)
        self.has('class="banner bad"', text)
        self.has('class="banner warn"', text)
        self.has("A &lt;b&gt;.", text)
        self.has("> **Warning.** Deliberately slowed", self.markdown(self.result))

    def test_a_list_that_was_cut_off(self):
        ((_, text),) = self.banners(rounds=["round 1: wake +129%, sem +36%, ...", "Round 4: so."])
        self.assertEqual(text, "No disturbance seen in /proc/stat in 560 runs. Round 1: wake "
                         "+129%, sem +36% and more. Round 4: so.")

    def test_missing_parts(self):
        for rounds in ([""], ["..."], [None, " . "], [7]):
            self.assertEqual(self.banners(rounds=rounds), self.banners(rounds=[]), rounds)
        ((kind, text),) = self.banners(noisy=True, why="...", rounds=["x"])
        self.assertEqual((kind, text), ("bad", "The machine was too noisy, these figures mean "
                                        "little. No disturbance seen in /proc/stat in 560 runs."))
        ((kind, text),) = self.banners(noisy=True, total_runs=None)
        self.assertEqual(text, "The machine was too noisy, these figures mean little.")
        self.assertEqual(self.banners(total_runs=None, rounds=[]), [])

    def test_disturbed(self):
        ((_, text),) = self.banners(noisy_runs=3, rounds=[])
        self.assertEqual(text, "3 of 560 runs were disturbed by other programs.")


class Scoreboard(common.ReportTest):
    def result(self):
        result = small()
        result["ipcwait"]["seed"] = [
            {"id": "G-1", "state": "failed", "why": "checksum 7, not 8", "same_direction": None},
            {"id": "I-1", "state": "measured", "same_direction": "not told apart"},
            {"id": "I-2", "state": "measured", "same_direction": True}]
        return result

    def test_states(self):
        lines = scoreboard.lines(self.result())
        self.assertEqual([line[5:] for line in lines],
                         [["-", "FAILED: checksum 7, not 8"], ["not told apart", "measured"],
                          ["yes", "measured"]])
        self.assertEqual(scoreboard.sentence(self.result()),
                         "3 rows: 1 in the seed's direction, 0 not, 1 not told apart, the others "
                         "have no direction or were not measured. FAILED: 1.")

    @unittest.skipIf(not common.HAVE_GNUPLOT, "needs gnuplot")
    def test_failed_is_red(self):
        text, _ = self.html(self.result())
        self.assertEqual(text.count("<tr class=failed>"), 1)
        self.has("<tr class=failed><td>G-1</td>", text)


class Footers(common.ReportTest):
    def version(self, **known):
        return environment.version({"library": {"libipcwait_version": known.get("library")},
                                    "git": known.get("commit")})

    def test_version_and_commit(self):
        self.assertEqual(self.version(library="0.1.0", commit="abc1234"),
                         "libipcwait 0.1.0, commit abc1234")
        self.assertEqual(self.version(library="0.1.0"), "libipcwait 0.1.0")
        self.assertEqual(self.version(commit="abc1234"), "commit abc1234")
        self.assertEqual(self.version(), "version not recorded")


class Pairs(common.ReportTest):
    def span(self, **times):
        return fig_pairs.span({(k[1], k[2]): v for k, v in times.items()})

    def test_one_pair(self):
        self.assertEqual(self.span(c01=55.0), "55 ns (CPU 0 to 1)")

    def test_no_difference(self):
        self.assertEqual(self.span(c01=55.0, c10=55.0), "55 ns in both directions")
        self.assertEqual(self.span(c01=55.0, c10=55.01, c02=55.0), "55 ns everywhere")

    def test_a_difference(self):
        self.assertEqual(self.span(c01=55.0, c10=60.0),
                         "from 55 ns (CPU 0 to 1) to 60 ns (CPU 1 to 0)")


class Hosts(common.ReportTest):
    def test_labels(self):
        result = make_result.joined()
        first, second = result["ipcwait"]["hosts"]
        first["verdict"] = {"noisy": True}
        second["complete"] = False
        text = fig_hosts.collect(result)["alt"]
        self.has("ipcwait, this guest (noisy)", text)
        self.has("glibc, metal, 16 CPUs (incomplete)", text)


if __name__ == "__main__":
    common.main()
