/* SPDX-License-Identifier: MIT */
/*
 * A channel between processes in whose file somebody scribbles all the time: calls go on ending.
 * What they say, and what is received, is not looked at: only that nothing else is touched, which
 * sanitizers see, and the ends of mappings. IW_STRESS_SECONDS: for so long.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"

#define WORKERS 3

/* A channel is used for so long, then there is another. */
#define ROUND_NS INT64_C(30000000)

/* Between two changes, in us at most. */
#define PAUSE_US 200

/* The latest deadline, in ns. */
#define SOON_NS 100000

#define CAPACITY 3
#define MANY     4

struct element {
	uint64_t word[5];
};

static int fd;
static uint32_t stop;
static uint64_t seed;

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static int64_t try_some(struct ipcwait_channel *ch, unsigned what, struct element e[MANY],
			int64_t soon)
{
	struct ipcwait_waitable set = { .type = IPCWAIT_WAITABLE_CHANNEL, .object = ch };

	switch (what) {
	case 0:
		return ipcwait_channel_send_until(ch, e, soon);
	case 1:
		return ipcwait_channel_recv_until(ch, e, soon);
	case 2:
		return ipcwait_channel_send_n(ch, e, MANY, soon);
	case 3:
		return ipcwait_channel_recv_n(ch, e, MANY, soon);
	default:
		return ipcwait_wait_any(&set, 1, soon, NULL);
	}
}

static void use(struct ipcwait_channel *ch, uint64_t *random)
{
	struct element e[MANY] = { { { 0 } } };
	int64_t soon = ipcwait_now_ns() + (int64_t)(check_random(random) % SOON_NS);
	uint64_t lo, hi;

	CHECK(try_some(ch, check_random(random) % 5, e, soon) <= MANY);
	CHECK_EQ(ipcwait_channel_length(ch, &lo, &hi), 0);
	CHECK(lo <= hi && hi <= CAPACITY);
}

static void *work(void *arg)
{
	uint64_t random = seed + (uintptr_t)arg;
	struct ipcwait_channel *ch;

	while (!stopped()) {
		if (ipcwait_channel_attach(fd, &ch))
			continue;
		for (unsigned n = 0; n < 100 && !stopped(); n++)
			use(ch, &random);
		ipcwait_channel_destroy(ch);
	}
	return NULL;
}

/* Anything, or what is there with one bit turned over, or nearly what is somewhere else. */
static void scribble(uint64_t *words, size_t n, uint64_t *random)
{
	uint64_t *word = &words[check_random(random) % n], old, by = check_random(random);

	old = __atomic_load_n(word, __ATOMIC_RELAXED);
	if (by % 3 == 0)
		by = old ^ UINT64_C(1) << by / 3 % 64;
	else if (by % 3 == 1)
		by = __atomic_load_n(&words[check_random(random) % n], __ATOMIC_RELAXED) +
		     by / 3 % 8;
	__atomic_store_n(word, by, __ATOMIC_RELAXED);
}

static void scribble_for(int64_t ns, uint64_t *random)
{
	int64_t end = ipcwait_deadline_in_ns(ns);
	struct stat st;
	uint64_t *words;

	CHECK(fstat(fd, &st) == 0);
	words = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(words != MAP_FAILED);
	while (ipcwait_now_ns() < end) {
		(void)usleep((useconds_t)(check_random(random) % PAUSE_US));
		scribble(words, (size_t)st.st_size / sizeof(*words), random);
	}
	CHECK(munmap(words, (size_t)st.st_size) == 0);
}

static void run_round(uint64_t *random)
{
	struct ipcwait_channel_params params = { .elem_size = sizeof(struct element),
						 .capacity = CAPACITY };
	pthread_t worker[WORKERS];
	struct ipcwait_channel *ch;

	fd = memfd_create("channel_tamper_test", MFD_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQ(ipcwait_channel_create_shared(fd, &params, &ch), 0);
	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < WORKERS; i++)
		CHECK(pthread_create(&worker[i], NULL, work, (void *)(uintptr_t)i) == 0);
	scribble_for(ROUND_NS, random);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < WORKERS; i++)
		CHECK(pthread_join(worker[i], NULL) == 0);
	ipcwait_channel_destroy(ch);
	CHECK(close(fd) == 0);
}

int main(void)
{
	const char *seconds = getenv("IW_STRESS_SECONDS");
	int64_t end =
		ipcwait_deadline_in_ns((seconds ? atoi(seconds) : 1) * INT64_C(1000000000));
	uint64_t random = seed = check_seed();

	do {
		check_watchdog(60);
		run_round(&random);
	} while (ipcwait_now_ns() < end);
	return 0;
}
