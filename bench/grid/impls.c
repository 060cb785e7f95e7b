/* SPDX-License-Identifier: MIT */
#include "impls.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct sem_peer presets[] = {
	{ .name = "ipcwait-latency", .ops = &sem_latency },
	{ .name = "ipcwait-power", .ops = &sem_preset_power },
	{ .name = "ipcwait-spin", .ops = &sem_preset_spin },
	{ .name = "ipcwait-block", .ops = &sem_preset_block },
	{ .name = "ipcwait-haltpoll", .ops = &sem_preset_haltpoll },
	{ .name = "ipcwait-ticks", .ops = &sem_preset_ticks },
};

#define PRESETS (sizeof(presets) / sizeof(*presets))

const struct sem_peer *sem_impl(unsigned i)
{
	unsigned peers = 0;

	while (sem_peers[peers].name)
		peers++;
	if (i < peers)
		return &sem_peers[i];
	return i - peers < PRESETS ? &presets[i - peers] : NULL;
}

enum futexes futexes_of(const char *impl)
{
	static const char *const raw[] = { "block", "ck", "fixed", "futex", "spin" };

	if (!strncmp(impl, "ipcwait", 7))
		return FUTEXES_IPCWAIT;
	for (unsigned i = 0; i < sizeof(raw) / sizeof(*raw); i++)
		if (!strcmp(impl, raw[i]))
			return FUTEXES_RAW;
	return FUTEXES_UNKNOWN;
}

bool is_missing(struct bench_run *run, const char *why)
{
	if (why)
		bench_skip(run, "%s", why);
	return why;
}

void not_there(struct bench_run *run, const void *why)
{
	is_missing(run, why);
}

const char *duration(char text[DURATION_SIZE], int64_t ns)
{
	if (!ns)
		strcpy(text, "0");
	else if (ns % 1000)
		snprintf(text, DURATION_SIZE, "%" PRId64 "ns", ns);
	else if (ns % 1000000)
		snprintf(text, DURATION_SIZE, "%" PRId64 "us", ns / 1000);
	else
		snprintf(text, DURATION_SIZE, "%" PRId64 "ms", ns / 1000000);
	return text;
}

void *zeroes(size_t n, size_t size)
{
	size_t bytes = (n * size + 127) / 128 * 128;
	void *p = aligned_alloc(128, bytes);

	if (!p)
		give_up("no memory");
	return memset(p, 0, bytes);
}

void *zeroes_for_good(size_t size)
{
	/* In a list, so that it is not taken for memory that was forgotten. */
	static struct kept {
		struct kept *next;
		_Alignas(128) unsigned char bytes[];
	} * first;
	struct kept *k = zeroes(1, sizeof(*k) + size);

	k->next = first;
	first = k;
	return k->bytes;
}

const char *needs_two_cpus(void)
{
	return place_cpus(NULL, 0) < 2 ? "not available: it needs two usable CPUs" : NULL;
}

void report_cpus(struct bench_run *run, int waker, int waiter)
{
	int same;

	if (waker >= 0)
		bench_counter(run, "cpu_waker", waker);
	if (waiter >= 0)
		bench_counter(run, "cpu_waiter", waiter);
	if (waker < 0 || waiter < 0)
		return;
	same = place_same_core((unsigned)waker, (unsigned)waiter);
	if (same >= 0)
		bench_counter(run, "same_core", same);
}
