/* SPDX-License-Identifier: MIT */
/* <ipcwait/latch.h> with threads: what is seen, deadlines, signals, the end of a latch. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/gates_word.h"

#define WORKERS   4
#define WAITERS   3
#define LATCHES   200
#define PAGE_SIZE 4096

static struct {
	struct ipcwait_latch latch[LATCHES], done[LATCHES];
	uint64_t data[WORKERS]; /* plain on purpose */
	char *pages;
	unsigned flags;
	enum ipcwait_preset preset;
} all;

static void make(struct ipcwait_latch *l, uint32_t count)
{
	CHECK_EQ(ipcwait_latch_init(l, count, all.flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&l->window, all.preset), 0);
}

static void run_threads(void *(*body)(void *arg), unsigned n)
{
	pthread_t thread[WORKERS + WAITERS];

	for (uintptr_t i = 0; i < n; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, body, (void *)i), 0);
	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

/* One of the workers waits for the others itself. */
static void work(uintptr_t me)
{
	for (uint64_t n = 0; n < LATCHES; n++) {
		all.data[me] = n + 1;
		if (me == 0)
			CHECK_EQ(ipcwait_latch_arrive_and_wait(&all.latch[n]), 0);
		else
			CHECK_EQ(ipcwait_latch_count_down(&all.latch[n], 1), 0);
		CHECK_EQ(ipcwait_latch_wait(&all.done[n]), 0);
	}
}

static void look_on(uintptr_t me)
{
	for (uint64_t n = 0; n < LATCHES; n++) {
		int64_t patience = (int64_t)(me + n) % 3 * 20000;
		int r;

		do
			r = me == WORKERS ? ipcwait_latch_wait(&all.latch[n])
					  : ipcwait_latch_wait_until(
						    &all.latch[n],
						    ipcwait_deadline_in_ns(patience));
		while (r == -ETIMEDOUT);
		CHECK_EQ(r, 0);
		for (unsigned i = 0; i < WORKERS; i++)
			CHECK_EQ(all.data[i], n + 1);
		CHECK_EQ(ipcwait_latch_count_down(&all.done[n], 1), 0);
	}
}

static void *work_or_look_on(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	if (me < WORKERS)
		work(me);
	else
		look_on(me);
	return NULL;
}

static void all_is_seen(void)
{
	for (unsigned i = 0; i < LATCHES; i++) {
		make(&all.latch[i], WORKERS);
		make(&all.done[i], WAITERS);
	}
	run_threads(work_or_look_on, WORKERS + WAITERS);
	for (unsigned i = 0; i < LATCHES; i++) {
		CHECK_EQ(gate_word(&all.latch[i].word), 0);
		CHECK_EQ(ipcwait_latch_fini(&all.latch[i]), 0);
	}
}

static struct ipcwait_latch *latch_at(size_t i)
{
	return (struct ipcwait_latch *)(void *)(all.pages + i * PAGE_SIZE);
}

static void *open_or_free(void *arg)
{
	for (size_t i = 0; i < LATCHES; i++) {
		if (arg) {
			CHECK_EQ(ipcwait_latch_count_down(latch_at(i), 1), 0);
			continue;
		}
		CHECK_EQ(ipcwait_latch_wait(latch_at(i)), 0);
		CHECK_EQ(ipcwait_latch_fini(latch_at(i)), 0);
		CHECK(mprotect(latch_at(i), PAGE_SIZE, PROT_NONE) == 0);
	}
	return NULL;
}

static void freed_at_once(void)
{
	all.pages = mmap(NULL, (size_t)LATCHES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(all.pages != MAP_FAILED);
	for (size_t i = 0; i < LATCHES; i++)
		make(latch_at(i), 1);
	run_threads(open_or_free, 2);
	CHECK(munmap(all.pages, (size_t)LATCHES * PAGE_SIZE) == 0);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void *wait_once(void *arg)
{
	CHECK_EQ(ipcwait_latch_wait(&all.latch[0]), 0);
	return arg;
}

static bool sleeps(void *arg)
{
	(void)arg;
	return latch_sleepers(gate_word(&all.latch[0].word)) == 1;
}

static void signals_do_not_end_it(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	make(&all.latch[0], 2);
	CHECK_EQ(pthread_create(&thread, NULL, wait_once, NULL), 0);
	CHECK(check_eventually(sleeps, NULL));
	for (int i = 0; i < 50; i++) {
		CHECK(pthread_kill(thread, SIGUSR1) == 0);
		(void)usleep(200);
	}
	CHECK_EQ(gate_word(&all.latch[0].word), LATCH_WORD(2, 1));
	CHECK_EQ(ipcwait_latch_fini(&all.latch[0]), -EBUSY);
	CHECK_EQ(ipcwait_latch_count_down(&all.latch[0], 2), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void with_each_preset(void (*test)(void))
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_INHERIT, IPCWAIT_SPIN,
						       IPCWAIT_BLOCK };

	for (unsigned i = 0; i < 6; i++) {
		all.flags = i % 2 ? IPCWAIT_PRIVATE : 0;
		all.preset = presets[i / 2];
		test();
	}
}

static void test_all_is_seen(void)
{
	with_each_preset(all_is_seen);
}

static void test_freed_at_once(void)
{
	with_each_preset(freed_at_once);
}

static void test_signals(void)
{
	with_each_preset(signals_do_not_end_it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(test_all_is_seen),
		CHILD_TEST(test_freed_at_once),
		CHILD_TEST(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
