/* SPDX-License-Identifier: MIT */
/* Waits through syscall() that last: who wakes whom, how many, by what, and for how long. */
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "say.h"

#define CROWD 6

static uint32_t word, second;
static int back, wrong;

static long futex(const void *at, int op, uint32_t value, const void *timeout,
		  const void *other, uint32_t last)
{
	return syscall(SYS_futex, at, op, value, timeout, other, last);
}

struct sleeper {
	int op;
	uint32_t bits;
};

/* Waits once, the word keeps its value. Success leaves errno alone. */
static void *sleep_once(void *arg)
{
	struct sleeper *s = arg;
	long is;

	errno = ERANGE;
	is = futex(&word, s->op, 0, NULL, NULL, s->bits);
	if (is != 0 || errno != ERANGE)
		add(&wrong, 1);
	add(&back, 1);
	return NULL;
}

static void begin_crowd(pthread_t *t, struct sleeper *s, int op, bool own_bits)
{
	int i;

	word = second = 0;
	set(&back, 0);
	set(&wrong, 0);
	for (i = 0; i < CROWD; i++) {
		s[i] = (struct sleeper){ op, own_bits ? 1U << i : FUTEX_BITSET_MATCH_ANY };
		t[i] = begin_thread(sleep_once, &s[i]);
	}
}

static void end_crowd(const char *name, pthread_t *t)
{
	int i;

	for (i = 0; i < CROWD; i++)
		(void)end_thread(t[i]);
	expect_number(name, get(&back), CROWD);
	expect_number("that answered anything but 0", get(&wrong), 0);
}

/* Wakes until so many have been, and returns how many that were: exactly as many come back. */
static long wake(uint32_t *at, int op, int most, uint32_t bits, long want)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + FAR_MS * INT64_C(1000000);
	long woken = 0;

	while (woken < want && clock_ns(CLOCK_MONOTONIC) < until) {
		long is = futex(at, op, (uint32_t)most, NULL, NULL, bits);

		NEEDS(is >= 0);
		if (is == 0)
			pass_us(200);
		woken += is;
	}
	return woken;
}

static void woken(int private)
{
	struct sleeper s[CROWD];
	pthread_t t[CROWD];

	begin_crowd(t, s, FUTEX_WAIT | private, false);
	expect_number("woken one by one", wake(&word, FUTEX_WAKE | private, 1, 0, CROWD),
		      CROWD);
	end_crowd("came back", t);
	begin_crowd(t, s, FUTEX_WAIT | private, false);
	expect_number("woken two", wake(&word, FUTEX_WAKE | private, 1, 0, 2), 2);
	NEEDS(becomes(&back, 2));
	pass_ms(3);
	expect_number("came back of two", get(&back), 2);
	expect_number("woken the rest",
		      wake(&word, FUTEX_WAKE | private, INT_MAX, 0, CROWD - 2), CROWD - 2);
	end_crowd("came back", t);
}

static void by_bits(int private)
{
	struct sleeper s[CROWD];
	pthread_t t[CROWD];

	begin_crowd(t, s, FUTEX_WAIT_BITSET | private, true);
	expect_number("woken by bit",
		      wake(&word, FUTEX_WAKE_BITSET | private, INT_MAX, 4, 1), 1);
	NEEDS(becomes(&back, 1));
	pass_ms(2);
	expect_number("no more by that bit",
		      wake(&word, FUTEX_WAKE_BITSET | private, 1, 64, 0), 0);
	expect_number("came back", get(&back), 1);
	expect_number("woken by two bits",
		      wake(&word, FUTEX_WAKE_BITSET | private, INT_MAX, 3, 2), 2);
	expect_number("woken by any",
		      wake(&word, FUTEX_WAKE | private, INT_MAX, 0, CROWD - 3), CROWD - 3);
	end_crowd("came back", t);
}

/* How many were moved, stayed and were woken where they had been moved to. */
struct move {
	long moved, left, woken;
};

static bool moved_all(const struct move *m)
{
	return m->moved == CROWD && m->left == 0 && m->woken == CROWD && get(&wrong) == 0;
}

static struct move move_crowd(int private, pthread_t *t)
{
	struct sleeper s[CROWD];
	struct move m = { 0, 0, 0 };
	int i;

	begin_crowd(t, s, FUTEX_WAIT | private, false);
	for (i = 0; i < CROWD; i++)
		settle(t[i], NULL);
	while (m.moved < CROWD) {
		long is = futex(&word, FUTEX_CMP_REQUEUE | private, 0, (void *)INT_MAX,
				&second, 0);

		NEEDS(is >= 0);
		m.moved += is;
		pass_us(200);
	}
	m.left = futex(&word, FUTEX_WAKE | private, INT_MAX, NULL, NULL, 0);
	set((int *)&word, 1);
	m.woken = futex(&second, FUTEX_WAKE | private, INT_MAX, NULL, NULL, 0);
	while (get(&back) < CROWD) {
		(void)futex(&word, FUTEX_WAKE | private, INT_MAX, NULL, NULL, 0);
		(void)futex(&second, FUTEX_WAKE | private, INT_MAX, NULL, NULL, 0);
		pass_us(100);
	}
	for (i = 0; i < CROWD; i++)
		(void)end_thread(t[i]);
	return m;
}

/*
 * Moved to another word, where they are woken: a moved one does not look at its old word again.
 * Exception: the kernel begins the call anew if the process is stopped meanwhile, and then it does.
 * So what is wrong counts if it is wrong each time.
 */
#define MOVES_MOST 20

static void requeued(int private)
{
	pthread_t t[CROWD];
	struct move m;
	int i = 0;

	do
		m = move_crowd(private, t);
	while (!moved_all(&m) && ++i < MOVES_MOST);
	expect_number("moved", m.moved, CROWD);
	expect_number("nobody left", m.left, 0);
	expect_number("woken there", m.woken, CROWD);
	expect_number("came back", get(&back), CROWD);
	expect_number("that answered anything but 0", get(&wrong), 0);
}

/* By a length, which is no clock's. */
static int wait_for_20_ms(void *arg, clockid_t clock, const struct timespec *at)
{
	const struct timespec length = { 0, 20000000 };

	(void)clock;
	(void)at;
	return error_of(
		futex(&word, *(int *)arg, 0, &length, NULL, FUTEX_BITSET_MATCH_ANY));
}

static int wait_until(void *arg, clockid_t clock, const struct timespec *at)
{
	(void)clock;
	return error_of(futex(&word, *(int *)arg, 0, at, NULL, FUTEX_BITSET_MATCH_ANY));
}

static void last(void)
{
	int wait = FUTEX_WAIT, private = FUTEX_WAIT_PRIVATE;
	int until = FUTEX_WAIT_BITSET_PRIVATE;
	int real = FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME;

	word = 0;
	expect_expires("20 ms", CLOCK_MONOTONIC, wait_for_20_ms, &wait);
	expect_expires("20 ms, private", CLOCK_MONOTONIC, wait_for_20_ms, &private);
	expect_expires("until", CLOCK_MONOTONIC, wait_until, &until);
	expect_expires("until, realtime", CLOCK_REALTIME, wait_until, &real);
}

static int handled, begun, done;

static void on_signal(int signal)
{
	(void)signal;
	add(&handled, 1);
}

struct interrupted {
	int op;
	const struct timespec *at;
	int error;
};

static void *wait_interrupted(void *arg)
{
	struct interrupted *n = arg;

	set(&begun, 1);
	n->error = error_of(futex(&word, n->op, 0, n->at, NULL, FUTEX_BITSET_MATCH_ANY));
	set(&done, 1);
	return NULL;
}

/*
 * A signal @ms after the wait began. If the handler has run and the wait goes on, a change of the
 * word ends it.
 */
static int interrupt(int op, const struct timespec *at, long ms)
{
	struct interrupted n = { op, at, 0 };
	pthread_t t;

	word = 0;
	set(&begun, 0);
	set(&done, 0);
	set(&handled, 0);
	t = begin_thread(wait_interrupted, &n);
	NEEDS(becomes(&begun, 1));
	pass_ms(ms);
	NEEDS(pthread_kill(t, SIGUSR1) == 0);
	NEEDS(becomes(&handled, 1));
	settle(t, &done);
	set((int *)&word, 1);
	while (!get(&done)) {
		(void)futex(&word, FUTEX_WAKE | (op & FUTEX_PRIVATE_FLAG), 1, NULL, NULL,
			    0);
		pass_us(500);
	}
	(void)end_thread(t);
	return n.error;
}

#define AFTER      5
#define TRIES_MOST 100

static void signals(int flags)
{
	static const long after[AFTER] = { 1, 2, 5, 20, 50 };
	struct timespec length = { FAR_MS / 1000, 0 }, at = in_ms(CLOCK_MONOTONIC, FAR_MS);
	const struct interrupted calls[] = {
		{ FUTEX_WAIT_PRIVATE, NULL, flags ? 0 : EINTR },
		{ FUTEX_WAIT, NULL, flags ? 0 : EINTR },
		{ FUTEX_WAIT, &length, EINTR },
		{ FUTEX_WAIT_BITSET_PRIVATE, NULL, flags ? 0 : EINTR },
		{ FUTEX_WAIT_BITSET_PRIVATE, &at, EINTR },
	};
	unsigned i, k;

	handle(SIGUSR1, on_signal, flags);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int ended = 0, other = 0;
		char line[80];

		/* The thread may be slow to begin its wait: such a signal is sent again. */
		for (k = 0; k < AFTER || (calls[i].error && ended < 2 && k < TRIES_MOST);
		     k++) {
			int error = interrupt(calls[i].op, calls[i].at, after[k % AFTER]);

			/* It goes on with a word that has changed meanwhile. */
			ended += error == EINTR;
			other += error != EINTR && error != 0 && error != EAGAIN;
		}
		(void)snprintf(line, sizeof(line), "operation %d, %s, flags %d",
			       calls[i].op, calls[i].at ? "a deadline" : "no deadline",
			       flags);
		dprintf(1, "%s: ", line);
		if (calls[i].error)
			expect_least("interrupted", ended, 2);
		else
			expect_number("interrupted", ended, 0);
		expect_number("other ends", other, 0);
	}
}

/* Of several words: which was woken. The structure is the kernel's. */
struct many_word {
	uint64_t value, at;
	uint32_t flags, reserved;
};

static uint32_t words[3];
static int index_back = -1;

static void *wait_for_several(void *arg)
{
	struct many_word w[3];
	int i;

	for (i = 0; i < 3; i++)
		w[i] = (struct many_word){ 0, (uintptr_t)&words[i], 2 | FUTEX_PRIVATE_FLAG,
					   0 };
	set(&index_back, (int)syscall(SYS_futex_waitv, w, 3, 0, NULL, 0));
	return arg;
}

static void several(void)
{
	int i;

	if (syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) == -1 && errno == ENOSYS) {
		say("futex_waitv", ENOSYS);
		return;
	}
	for (i = 0; i < 3; i++) {
		pthread_t t = begin_thread(wait_for_several, NULL);

		expect_number("woken of several words",
			      wake(&words[i], FUTEX_WAKE_PRIVATE, 1, 0, 1), 1);
		(void)end_thread(t);
		expect_number("the one that was woken", get(&index_back), i);
	}
}

/* Two threads in turns, one word. */
#define TURNS 4000

static void *take_turns(void *arg)
{
	uint32_t me = *(uint32_t *)arg, k;

	for (k = me; k < TURNS; k += 2) {
		uint32_t now;

		while ((now = __atomic_load_n(&word, __ATOMIC_SEQ_CST)) != k)
			(void)futex(&word, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
		__atomic_store_n(&word, k + 1, __ATOMIC_SEQ_CST);
		NEEDS(futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) >= 0);
	}
	return NULL;
}

static void turns(void)
{
	static uint32_t n[] = { 0, 1 };
	pthread_t t[2];

	word = 0;
	t[0] = begin_thread(take_turns, &n[0]);
	t[1] = begin_thread(take_turns, &n[1]);
	(void)end_thread(t[0]);
	(void)end_thread(t[1]);
	expect_number("turns", word, TURNS);
}

#define ALONE_ROUNDS 60
#define ALONE_LEAST  54
#define SERIES_MOST  20

static void *sleep_alone(void *unused)
{
	(void)unused;
	set(&begun, 1);
	NEEDS(futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) == 0);
	return NULL;
}

/* Otherwise a thread that waits sleeps, and the kernel tells that. */
static bool spins(void)
{
	const char *policy = getenv("IPCWAIT_POLICY");

	return getenv("LD_PRELOAD") && !(policy && !strcmp(policy, "block"));
}

static int wake_without_change(void)
{
	int woken = 0;

	word = 0;
	for (int i = 0; i < ALONE_ROUNDS; i++) {
		pthread_t t;

		set(&begun, 0);
		t = begin_thread(sleep_alone, NULL);
		while (!get(&begun))
			continue;
		if (spins())
			settle_briefly(t);
		else
			settle(t, NULL);
		if (futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 1)
			woken++;
		else
			(void)wake(&word, FUTEX_WAKE_PRIVATE, 1, 0, 1);
		(void)end_thread(t);
	}
	return woken;
}

/*
 * A wake ends the wait of a thread that is in it, though the word keeps its value. Where it may
 * spin, a thread that is slow does not wait yet: what is wrong counts if it is so in each series.
 */
static void woken_without_change(void)
{
	int woken, series = 0;

	do
		woken = wake_without_change();
	while (woken < ALONE_LEAST && spins() && ++series < SERIES_MOST);
	expect_number("not woken asleep", spins() ? 0 : ALONE_ROUNDS - woken, 0);
	expect_least("woken without a change", woken, ALONE_LEAST);
}

int main(void)
{
	say_begin();
	woken_without_change();
	woken(0);
	woken(FUTEX_PRIVATE_FLAG);
	by_bits(0);
	by_bits(FUTEX_PRIVATE_FLAG);
	requeued(0);
	requeued(FUTEX_PRIVATE_FLAG);
	last();
	signals(0);
	signals(SA_RESTART);
	several();
	turns();
	return say_end();
}
