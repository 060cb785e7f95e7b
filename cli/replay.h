/* SPDX-License-Identifier: MIT */
/* `ipcwait replay`: recorded waits under other rules, and with other prices of a sleep. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "waits.h"
#include "../tools/rules/rule.h"

/* What a sleep costs, in the terms of docs/design/window.md: B is the sum. */
struct replay_price {
	uint64_t late_ns;  /* from what it waited for until the thread runs again */
	uint64_t paid_ns;  /* CPU time of the sleeper and of its waker */
	uint64_t block_ns; /* B, which the library's rules believe */
};

/* What became of the waits. */
struct replay_bill {
	uint64_t waits, slept;
	uint64_t spun_ns; /* CPU time */
	uint64_t late_ns; /* added to the waits, in all */
};

/* The subcommand. Returns an exit status. */
int replay_main(int argc, char **argv);

/* Object by object, once, before waits are replayed. */
void replay_sort(struct waits *w);

/* Waits of known length under @rule, whatever they were recorded under. */
struct replay_bill replay_under(const struct waits *w, const struct rule *rule,
				const struct replay_price *price);

/* What the record itself shows of the same waits. */
struct replay_bill replay_recorded(const struct waits *w);

/* The mean of the record; 0: it has no sleep of a wait whose length is known. */
uint64_t replay_late_ns(const struct waits *w);

/* The process that has learned most of what a sleep costs; NULL: none has told. */
const struct waits_process *replay_learned(const struct waits *w);

#endif
