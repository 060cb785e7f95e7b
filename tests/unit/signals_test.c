/* SPDX-License-Identifier: MIT */
/*
 * What a signal handler does to the wait that it runs in: nothing, whatever the kind, with
 * SA_RESTART or without, with a deadline or without, asleep or spinning. With
 * IPCWAIT_INTERRUPTIBLE one handler ends any of them.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "common/cmocka_all.h"
#include "kinds.h"

#define FAR_NS  INT64_C(3600000000000)
#define SIGNALS 5

/* A spin that lasts longer than the signals come. */
#define LONG_SPIN "100000000,2,100000000,2"

/* Each way of waiting, and of installing the handler. */
struct way {
	int sa_flags;
	bool deadline;
	enum ipcwait_preset preset;
};

#define WAYS 8

static struct way way(unsigned i)
{
	return (struct way){ .sa_flags = i & 1 ? SA_RESTART : 0,
			     .deadline = i & 2,
			     .preset = i & 4 ? IPCWAIT_HALTPOLL : IPCWAIT_BLOCK };
}

static int handlers;

static void on_signal(int signal)
{
	(void)signal;
	__atomic_fetch_add(&handlers, 1, __ATOMIC_RELAXED);
}

static struct kinds_waiter *start(const struct kind *k, struct place *p, struct way as)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = as.sa_flags };

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	return kinds_start_as(
		k, p, as.deadline ? ipcwait_deadline_in_ns(FAR_NS) : IPCWAIT_FOREVER,
		as.preset);
}

static bool has_run(void *n)
{
	return __atomic_load_n(&handlers, __ATOMIC_RELAXED) == *(int *)n;
}

static void disturb(const struct kinds_waiter *w)
{
	const struct timespec pause = { 0, 500000 };

	handlers = 0;
	for (int i = 1; i <= SIGNALS; i++) {
		kinds_signal(w, SIGUSR1);
		CHECK(check_eventually(has_run, &i));
		(void)nanosleep(&pause, NULL);
	}
}

static void goes_on(const struct kind *k, void (*begin)(const struct kind *k, void *o))
{
	print_message("%s\n", k->name);
	for (unsigned i = 0; i < WAYS; i++) {
		struct place p = { 0 };
		struct kinds_waiter *w;

		if (way(i).deadline && k->no_deadline)
			continue;
		begin(k, &p);
		w = start(k, &p, way(i));
		if (way(i).preset == IPCWAIT_BLOCK)
			CHECK(check_eventually(kinds_sleeps, w));
		disturb(w);
		CHECK(!kinds_done(w));
		k->release(&p);
		CHECK_EQ(kinds_join(w), 0);
	}
}

static void block(const struct kind *k, void *o)
{
	k->block(o);
}

static int plain_futex(void *o, int64_t deadline_ns)
{
	return ipcwait_futex_wait(o, 0, deadline_ns, NULL, 0);
}

static void test_waits_go_on(void **state)
{
	struct kind plain = kind_futex;

	(void)state;
	for (const struct kind *const *k = kinds; *k; k++)
		goes_on(*k, block);
	plain.name = "futex without a window";
	plain.wait = plain_futex;
	goes_on(&plain, block);
}

static void make_interruptible(const struct kind *k, void *o)
{
	unsigned flags = k == &kind_auto ? IPCWAIT_AUTO_RESET : 0;

	if (k->init)
		CHECK_EQ(k->init(o, flags | IPCWAIT_INTERRUPTIBLE), 0);
	else
		k->block(o);
}

/* The kernel says nothing of handlers with SA_RESTART, so none ends it. */
static void make_its_semaphore_interruptible(const struct kind *k, void *o)
{
	make_interruptible(k == &kind_wait_any ? &kind_sem : k, o);
}

static void test_wait_any_goes_on(void **state)
{
	(void)state;
	goes_on(&kind_wait_any, make_its_semaphore_interruptible);
}

static struct ipcwait_stats stats(void)
{
	struct ipcwait_stats st;

	CHECK(ipcwait_stats_get(&st, sizeof(st)) > 0);
	return st;
}

static void ends(const struct kind *k)
{
	print_message("%s\n", k->name);
	for (unsigned i = 0; i < WAYS; i++) {
		int64_t begin_ns = ipcwait_now_ns();
		struct ipcwait_stats before = stats(), after;
		struct place p = { 0 };
		struct kinds_waiter *w;
		uint64_t sleeps;

		make_interruptible(k, &p);
		w = start(k, &p, way(i));
		CHECK(check_eventually(kinds_sleeps, w));
		kinds_signal(w, SIGUSR1);
		CHECK_EQ(kinds_join(w), -EINTR);
		after = stats();
		/* It went to sleep at once, and again after each alarm, which is 1 ms at least. */
		sleeps = after.kind[k->kind].futex_waits - before.kind[k->kind].futex_waits;
		CHECK(sleeps >= 1);
		CHECK(sleeps <= 1 + (uint64_t)(ipcwait_now_ns() - begin_ns) / 1000000);
		CHECK_EQ(after.kind[k->kind].spun_wasted_ns,
			 before.kind[k->kind].spun_wasted_ns);
	}
}

static int interruptible_futex(void *o, int64_t deadline_ns)
{
	return ipcwait_futex_wait(o, 0, deadline_ns, kind_futex.window(o),
				  IPCWAIT_INTERRUPTIBLE);
}

static int interruptible_plain_futex(void *o, int64_t deadline_ns)
{
	return ipcwait_futex_wait(o, 0, deadline_ns, NULL, IPCWAIT_INTERRUPTIBLE);
}

static void test_interruptible_waits_end(void **state)
{
	struct kind futex = kind_futex;

	(void)state;
	ends(&kind_sem);
	ends(&kind_event);
	ends(&kind_auto);
	ends(&kind_eventcount);
	futex.wait = interruptible_futex;
	ends(&futex);
	futex.name = "futex without a window";
	futex.wait = interruptible_plain_futex;
	ends(&futex);
}

/* What is there is taken, and said so. */
static void test_interruptible_waits_succeed(void **state)
{
	static const struct kind *const some[] = { &kind_sem, &kind_event, &kind_auto,
						   &kind_eventcount };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct place p = { 0 };
		struct kinds_waiter *w;

		make_interruptible(some[i], &p);
		CHECK_EQ(kinds_wait(some[i], &p, ipcwait_deadline_in_ns(1000000)),
			 -ETIMEDOUT);
		w = start(some[i], &p, way(i));
		CHECK(check_eventually(kinds_sleeps, w));
		some[i]->release(&p);
		CHECK_EQ(kinds_join(w), 0);
	}
}

static int setup(void **state)
{
	(void)state;
	check_watchdog(60);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_waits_go_on, setup),
		cmocka_unit_test_setup(test_wait_any_goes_on, setup),
		cmocka_unit_test_setup(test_interruptible_waits_end, setup),
		cmocka_unit_test_setup(test_interruptible_waits_succeed, setup),
	};

	(void)argc;
	check_environment(argv, "IPCWAIT_HALTPOLL", LONG_SPIN);
	/* The sanitizer holds them back. */
	if (CHECK_DEFERS_SIGNALS)
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
