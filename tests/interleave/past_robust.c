/* SPDX-License-Identifier: MIT */
#include "interleave/past.h"

/*
 * glibc 20973. The word has the owner's number and whether somebody sleeps; the kernel notes the
 * owner's death in it. A sleeper is woken, another thread barges in and dies: the heir keeps
 * the flag that it finds, which is not set, and forgets that it was not the only sleeper.
 */
enum { OWNER = 0xff, DIED = 0x100, SLEEPERS = 0x200 };

static _Atomic uint32_t *robust;

static void heir_begin(void)
{
	robust = model_alloc(sizeof(*robust));
	model_name(robust, "robust");
}

static bool heir_take(unsigned i)
{
	uint32_t seen, others = 0;

	for (;;) {
		seen = atomic_load(robust);
		if (!(seen & OWNER)) {
			uint32_t keep = seen & DIED && !repaired() ? 0 : others;

			if (atomic_compare_exchange_strong(
				    robust, &seen, (i + 1) | (seen & SLEEPERS) | keep))
				return true;
			continue;
		}
		if (i == 0)
			return false;
		if (seen & SLEEPERS ||
		    atomic_compare_exchange_strong(robust, &seen, seen | SLEEPERS)) {
			sleep_while(robust, seen | SLEEPERS);
			others = SLEEPERS;
		}
	}
}

static void heir_give(void)
{
	if (atomic_exchange(robust, 0) & SLEEPERS)
		wake(robust, 1);
}

/* Thread 0 only tries, but twice: it is the owner that is waited for and the one that barges. */
static void heir_thread(unsigned i)
{
	for (int n = i ? 1 : 2; n; n--)
		if (heir_take(i))
			heir_give();
}

/*
 * An owner that dies between its unlock and the wake owes that wake. Linux makes up for it if the
 * mutex is free; not if somebody has taken it, who does not know that others sleep. Then they
 * sleep for good: so it is here, and with glibc 2.36 on Linux 6.18, tried by stepping the owner.
 */
static const bool rule_of_linux = true;

static void heir_died(unsigned process)
{
	uint32_t seen = atomic_load(robust);
	bool owner = (seen & OWNER) == 1;
	bool made_up = !(seen & OWNER) || model_script() != &rule_of_linux;

	(void)process;
	if (owner)
		atomic_store(robust, DIED | (seen & SLEEPERS));
	if (owner ? seen & SLEEPERS : made_up)
		wake(robust, 1);
}

static void heir_end(void)
{
	model_free(robust);
}

const struct model_scenario past_robust[] = {
	{ .name = "glibc 20973",
	  .threads = 3,
	  .about = "the heir of a robust mutex forgets that others sleep",
	  .begin = heir_begin,
	  .thread = heir_thread,
	  .end = heir_end,
	  .died = heir_died,
	  .process = { 1 },
	  .mortal = 1 << 1,
	  .faults = { .kills = 1 },
	  .search = { .bound = 3, .weak_bound = 3 },
	  .expect = { MODEL_DEADLOCK, MODEL_DEADLOCK, MODEL_DEADLOCK } },
	{ .name = "glibc 20973, repaired",
	  .threads = 3,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = heir_begin,
	  .thread = heir_thread,
	  .end = heir_end,
	  .died = heir_died,
	  .process = { 1 },
	  .mortal = 1 << 1,
	  .faults = { .kills = 1 },
	  .search = { .bound = 3, .weak_bound = 3 } },
	{ .name = "robust, dead before its wake",
	  .threads = 3,
	  .about = "the kernel does not wake for the dead if somebody has barged in",
	  .script = &rule_of_linux,
	  .begin = heir_begin,
	  .thread = heir_thread,
	  .end = heir_end,
	  .died = heir_died,
	  .process = { 1 },
	  .mortal = 1 << 1,
	  .faults = { .kills = 1 },
	  .search = { .bound = 3, .weak_bound = 3 },
	  .expect = { MODEL_DEADLOCK, MODEL_DEADLOCK, MODEL_DEADLOCK } },
	{ 0 },
};
