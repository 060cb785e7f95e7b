# SPDX-License-Identifier: MIT
"""The three formats: what is read from them, and what comes out again."""

import os
import sys
import unittest

import common

from stacks import perf_script, text_formats

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief  # noqa: E402


def stacks_of(profile):
    return dict(profile.counts)


class Script(common.StacksTest):
    def read(self):
        with open(common.data("cxx.script"), encoding="ascii") as f:
            return perf_script.read(f.read(), "x")

    def test_names_of_cxx_kernel_and_unknown_frames(self):
        worker, other = "pool worker 1-4711/4712", "other-4711/4713"
        self.assertEqual(stacks_of(self.read()), {
            (worker, ("main", "operator+(a const&, b const&)",
                      "(anonymous namespace)::work(char, long)",
                      "std::vector<int, std::allocator<int> >::push_back(int const&)")): 1,
            (worker, ("main", "larger", "small")): 1,
            (other, ("odd;name!here", "[unknown]", "[libc.so.6]", "sem_wait", "run_it",
                     "futex_wait")): 1,
            (other, ("alone",)): 1,
        })
        self.assertEqual(self.read().notes, [])

    def test_thread_without_process(self):
        p = perf_script.read("a b 17 12.5: 250000 cycles:u: \n\t 1 f+0x1 (/x)\n\n", "x")
        self.assertEqual(stacks_of(p), {("a b-?/17", ("f",)): 1})

    def test_cut_in_a_frame(self):
        with open(common.data("cxx.script"), encoding="ascii") as f:
            text = f.read()
        p = perf_script.read(text[:text.index("larger") + 3], "x")
        self.assertEqual(sum(p.counts.values()), 1)
        self.assertIn("middle of a stack", p.notes[0])

    def test_several_events(self):
        one = "a 1/1 1.0: %s: \n\t1 f+0x1 (/x)\n\n"
        p = perf_script.read(one % "cycles" + one % "cpu-clock", "x")
        self.assertEqual(stacks_of(p), {("a-1/1", ("f",)): 2})
        self.assertIn("cpu-clock, cycles", p.notes[0])

    def test_damage_is_counted(self):
        p = perf_script.read("a 1/1 1.0: e: \n\t1 f+0x1 (/x)\nrubbish\n\t2 g (/x)\n\n", "x")
        self.assertEqual(stacks_of(p), {("a-1/1", ("g", "f")): 1})
        self.assertEqual(len(p.notes), 1)


class Plain(common.StacksTest):
    def test_bang_of_both_tools(self):
        with open(common.data("seed.bang"), encoding="ascii") as f:
            p = text_formats.read_bang(f.read(), "x")
        self.assertEqual(stacks_of(p), {
            ("", ("irq_exit", "__do_softirq", "net_rx_action")): 3,
            ("", ("__do_softirq", "smp_call_function")): 1,
            ("", ("5", "operator+", "bool a::operator!=(b)")): 2,
        })
        self.assertEqual(p.notes, [])

    def test_bang_cut(self):
        p = text_formats.read_bang("!\n a\n\t4\n!\n b\n c", "x")
        self.assertEqual(stacks_of(p), {("", ("a",)): 4})
        self.assertEqual(p.notes, ["the last stack has no count: left out"])

    def test_folded(self):
        p = text_formats.read_folded("a b-1/22;main;f(int, char);g 12\nmain 3\n", "x")
        self.assertEqual(stacks_of(p), {("a b-1/22", ("main", "f(int, char)", "g")): 12,
                                        ("", ("main",)): 3})

    def test_folded_cut_in_the_count(self):
        p = text_formats.read_folded("a;b 100\na;c 10", "x")
        self.assertEqual(stacks_of(p), {("", ("a", "b")): 100})
        self.assertEqual(p.notes, ["the last line has no end: left out"])

    def test_folded_damage(self):
        p = text_formats.read_folded("a;b 1\nno count\n;;; x\na " + "9" * 5000 + "\n", "x")
        self.assertEqual(stacks_of(p), {("", ("a", "b")): 1})
        self.assertEqual(p.notes, ["3 lines left out: not a stack (first: line 2)"])

    def test_round_trips(self):
        with open(common.data("cxx.script"), encoding="ascii") as f:
            first = perf_script.read(f.read(), "x")
        folded = text_formats.write_folded(first)
        self.assertIn("odd:name!here;[unknown]", folded)
        second = text_formats.read_folded(folded, "x")
        self.assertEqual(text_formats.write_folded(second), folded)
        self.assertEqual({thread for thread, _ in second.counts},
                         {thread for thread, _ in first.counts})
        bang = text_formats.write_bang(first)
        third = text_formats.read_bang(bang, "x")
        self.assertEqual({stack for _, stack in third.counts},
                         {stack for _, stack in first.counts})
        self.assertEqual(text_formats.write_bang(third), bang)


if __name__ == "__main__":
    brief.main()
