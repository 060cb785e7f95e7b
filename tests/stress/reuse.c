/* SPDX-License-Identifier: MIT */
/*
 * The last waiter frees the semaphore while its poster may still be inside the post. Every
 * semaphore has a page of its own, which the waiter takes away as soon as it has its token:
 * any further access of the poster is a segmentation fault.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "stress.h"

#define PAGES     512
#define PAGE_SIZE 4096
#define LOOKS     20000

static struct {
	char *pages;
	uint64_t seed;
	uint64_t objects;
	bool over;
	pthread_barrier_t barrier;
} reuse;

static struct ipcwait_sem *sem_at(unsigned i)
{
	return (struct ipcwait_sem *)(void *)(reuse.pages + (size_t)i * PAGE_SIZE);
}

/* Vary where the waiter is when the post comes: not there yet, spinning, asleep. */
static void choose_moment(const struct ipcwait_sem *s, uint64_t *seed)
{
	uint64_t r = check_random(seed);

	if (r % 4 == 0)
		return;
	for (uint64_t looks = LOOKS; looks && !word_sleepers(sem_word(s)); looks--)
		continue;
	if (r % 4 == 1)
		return;
	for (uint64_t pause = (r >> 8) % 2000; pause; pause--)
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void *post_all(void *arg)
{
	uint64_t seed = reuse.seed + 1;

	for (;;) {
		pthread_barrier_wait(&reuse.barrier);
		if (reuse.over)
			return arg;
		for (unsigned i = 0; i < PAGES; i++) {
			struct ipcwait_sem *s = sem_at(i);

			choose_moment(s, &seed);
			if (i % 2)
				CHECK_EQ(ipcwait_sem_post(s), 0);
			else
				CHECK_EQ(ipcwait_sem_post_n(s, 1), 0);
		}
		pthread_barrier_wait(&reuse.barrier);
	}
}

static void take_and_free(struct ipcwait_sem *s, uint64_t *seed)
{
	int result;

	do
		result = check_random(seed) % 3
				 ? ipcwait_sem_wait(s)
				 : ipcwait_sem_wait_until(s,
							  ipcwait_deadline_in_ns(1000000));
	while (result == -ETIMEDOUT);
	CHECK_EQ(result, 0);
	/* Nobody else waits, so nothing may keep it from ending. */
	if (check_random(seed) % 2)
		CHECK_EQ(ipcwait_sem_fini(s), 0);
	CHECK(mprotect(s, PAGE_SIZE, PROT_NONE) == 0);
	reuse.objects++;
}

static void renew_pages(const struct stress *run)
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_INHERIT, IPCWAIT_SPIN,
						       IPCWAIT_BLOCK };

	CHECK(mprotect(reuse.pages, (size_t)PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE) ==
	      0);
	for (unsigned i = 0; i < PAGES; i++) {
		CHECK_EQ(ipcwait_sem_init(sem_at(i), 0, run->flags), 0);
		CHECK_EQ(ipcwait_window_set_preset(&sem_at(i)->window, presets[i % 3]), 0);
	}
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	static const char text[] =
		"a post touched its semaphore after a waiter had freed it\n";

	(void)signal;
	(void)info;
	(void)context;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_FAILURE);
}

void stress_reuse(const struct stress *run)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	int visibility = run->flags & IPCWAIT_PRIVATE ? MAP_PRIVATE : MAP_SHARED;
	uint64_t seed = run->seed;
	pthread_t poster;

	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	CHECK(sigaction(SIGBUS, &action, NULL) == 0);
	reuse.pages = mmap(NULL, (size_t)PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			   visibility | MAP_ANONYMOUS, -1, 0);
	CHECK(reuse.pages != MAP_FAILED);
	reuse.seed = seed;
	CHECK_EQ(pthread_barrier_init(&reuse.barrier, NULL, 2), 0);
	CHECK_EQ(pthread_create(&poster, NULL, post_all, NULL), 0);
	while (!reuse.over) {
		renew_pages(run);
		reuse.over = stress_over() && reuse.objects >= 4 * PAGES;
		pthread_barrier_wait(&reuse.barrier);
		if (reuse.over)
			break;
		for (unsigned i = 0; i < PAGES; i++)
			take_and_free(sem_at(i), &seed);
		pthread_barrier_wait(&reuse.barrier);
	}
	CHECK_EQ(pthread_join(poster, NULL), 0);
	printf("objects %" PRIu64 "\n", reuse.objects);
}
