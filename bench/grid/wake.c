/* SPDX-License-Identifier: MIT */
/*
 * What does it cost to wake a thread, and how late is it, by how long it has slept? The longer
 * its CPU is idle, the deeper it sleeps.
 *
 * One operation is one sleep. waits.h says what is measured: "post" is the wake in the waker,
 * "latency" the sleeper's, moved_share and astray_share say on which CPU it woke up. "futex" is
 * the kernel's call with a word around it, without a count and without looking for sleepers.
 *
 * Not measured: how deep the CPU slept (the idle states are counted by the system), a waker
 * that has something else to do.
 */
#include "impls.h"
#include "questions.h"
#include "waits.h"
#include "../common/raw_futex.h"

static void init_word(void *word)
{
	*(uint32_t *)word = 0;
}

/* The next post comes after this one has returned: nothing is lost between load and store. */
static void wait_word(void *word)
{
	while (!__atomic_load_n((uint32_t *)word, __ATOMIC_ACQUIRE))
		raw_futex_wait(word, 0);
	__atomic_store_n((uint32_t *)word, 0, __ATOMIC_RELAXED);
}

static void post_word(void *word)
{
	__atomic_store_n((uint32_t *)word, 1, __ATOMIC_RELEASE);
	raw_futex_wake_one(word);
}

static const struct sem_ops word_ops = { "futex", init_word, wait_word, post_word, NULL };

static const struct sem_peer sleepers[] = {
	{ .name = "futex", .ops = &word_ops },
	{ .name = "glibc", .ops = &sem_glibc },
	{ .name = "ipcwait-block", .ops = &sem_preset_block },
};

static const int64_t idle_ns[] = { 10000, 100000, 1000000, 10000000 };

void add_wake(void)
{
	char text[DURATION_SIZE];

	for (unsigned i = 0; i < sizeof(sleepers) / sizeof(*sleepers); i++)
		for (unsigned k = 0; k < sizeof(idle_ns) / sizeof(*idle_ns); k++) {
			struct waits *w = waits_new(&sleepers[i]);

			w->wait_ns = idle_ns[k];
			bench_add(time_waits, w, "wake/impl:%s/idle:%s", sleepers[i].name,
				  duration(text, w->wait_ns));
		}
}
