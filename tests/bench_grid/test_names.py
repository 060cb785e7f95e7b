# SPDX-License-Identifier: MIT
"""Names: every question with every peer, each once, in dimensions that can be taken apart."""

import itertools
import os
import re

import common

SEMS = ["ipcwait", "glibc", "glibc-again", "glibc-cond", "spin", "block", "nsync", "abseil",
        "cxx20", "ck", "moodycamel", "tbb"]
PRESETS = ["ipcwait-latency", "ipcwait-power", "ipcwait-spin", "ipcwait-block",
           "ipcwait-haltpoll", "ipcwait-ticks"]
LOCKS = ["ipcwait", "glibc", "glibc-again", "glibc-adaptive", "nsync", "abseil", "tbb",
         "tbb-spin", "tbb-queuing", "ck-fas", "ck-mcs", "tas", "ipcwait-rwlock", "glibc-rwlock"]
TOKENS = ["ipcwait-sem", "glibc-sem", "ipcwait-queue", "glibc-queue"]
CONDS = ["ipcwait", "glibc", "glibc-again", "nsync", "abseil"]

PART = re.compile(r"[a-z_]+:[A-Za-z0-9._-]+")


def product(pattern, *lists):
    return {pattern % values for values in itertools.product(*lists)}


def expected():
    """All that do not depend on the machine or on the scoreboard's queues."""
    sections = ["100ns", "1us", "10us", "100us"]
    threads = ["1", "2", "4", "16"]
    ratios = ["0.5", "1", "2", "4", "8"]
    return (
        product("uncontended/op:sem/impl:%s", SEMS)
        | product("uncontended/op:lock/impl:%s", LOCKS)
        | product("uncontended/op:wake/impl:%s", ["ipcwait", "futex"])
        | product("handoff/impl:%s/wait:%s", SEMS + PRESETS,
                  ["0", "500ns", "2us", "5us", "20us", "50us", "100us", "500us", "1ms", "10ms"])
        | product("contention/impl:%s/threads:%s/section:%s/think:%s", LOCKS, threads,
                  sections, ["0", "equal"])
        | product("contention/impl:%s/threads:%s/section:0/think:0", LOCKS, threads)
        | product("oversubscription/kind:sem/impl:%s/threads_per_cpu:%s", SEMS + PRESETS, ratios)
        | product("oversubscription/kind:lock/impl:%s/threads_per_cpu:%s", LOCKS, ratios)
        | product("wake/impl:%s/idle:%s", ["futex", "glibc", "ipcwait-block"],
                  ["10us", "100us", "1ms", "10ms"])
        | product("pareto/impl:%s/budget:own", SEMS + PRESETS)
        | product("pareto/impl:fixed/budget:%s", ["1us", "5us", "20us", "50us", "200us"])
        | product("readers/impl:%s/threads:%s/writers:%s/section:%s",
                  ["ipcwait", "glibc", "glibc-again"], ["2", "4", "8", "16"],
                  ["0", "1", "10", "50"], ["0", "1us", "10us"])
        | product("starvation/impl:%s/threads_per_cpu:%s/section:%s", LOCKS + TOKENS,
                  ["2", "4", "8"], ["1us", "10us"])
        | product("condvar/op:pingpong/impl:%s", CONDS)
        | product("condvar/op:broadcast/impl:%s/waiters:%s", CONDS, ["4", "16", "64"]))


class Names(common.GridTest):
    def test_every_question_has_every_peer(self):
        self.assertEqual(sorted(expected() - set(self.names())), [])

    def test_what_is_more_depends_on_the_machine_or_on_queues(self):
        cpus = len(os.sched_getaffinity(0))
        for name in set(self.names()) - expected():
            question, values = common.dimensions(name)
            self.assertTrue(question in ("pairs", "queue", "channel") or
                            values.get("op") == "queue" or
                            values.get("threads") == str(cpus), name)

    def test_each_is_there_once_and_can_be_taken_apart(self):
        names = self.names()
        self.assertEqual(len(names), len(set(names)))
        keys = {}
        for name in names:
            question, *parts = name.split("/")
            self.assertRegex(question, r"^[a-z]+$")
            for part in parts:
                self.assertTrue(PART.fullmatch(part), name)
            _, values = common.dimensions(name)
            self.assertEqual(len(values), len(parts), name)
            kind = question, values.get("op"), values.get("kind")
            # One question, or one form of it, has the same dimensions everywhere.
            self.assertEqual(keys.setdefault(kind, list(values)), list(values))

    def test_pairs_are_ordered_pairs_of_the_usable_cpus(self):
        cpus = sorted(os.sched_getaffinity(0))
        pairs = [common.dimensions(n)[1] for n in self.names() if n.startswith("pairs/")]
        if len(cpus) > 16:
            self.assertEqual(sum(p["from"] == "others" for p in pairs), 2)
            pairs = [p for p in pairs if p["from"] != "others"]
            self.assertEqual(len(pairs), 2 * 16 * 15)
        elif len(cpus) > 1:
            wanted = [(kind, str(a), str(b)) for kind in ("spin", "sleep")
                      for a, b in itertools.permutations(cpus, 2)]
            self.assertEqual([(p["kind"], p["from"], p["to"]) for p in pairs], wanted)


if __name__ == "__main__":
    common.main()
