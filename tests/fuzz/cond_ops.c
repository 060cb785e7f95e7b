/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on a condition variable. Waits are within each other: what others do while
 * one sleeps, or spins, are further calls, which may wait too. A model knows who waits and
 * in which order; whom a signal or broadcast has released is read from the words, and must be whom
 * <ipcwait/cond.h> promises. Or else the object is any bytes, and each call ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ipcwait/cond.h>

#include "common/check.h"
#include "common/cond_word.h"
#include "common/fake_os.h"
#include "common/fuzz.h"
#include "fuzz/input.h"

#define CALLS_MOST 60
#define HOUR_NS    INT64_C(3600000000000)
#define DEPTH_MOST 12

/* In one wait: 450 alarms of 8 s in an hour, and those that end early by a byte of the input. */
#define SLEEPS_MOST 1000

struct waiter {
	struct waiter *outer;
	int64_t deadline_ns;
	uint64_t ticket;
	unsigned sleeps;
	bool spins, released;
};

static struct ipcwait_cond c;
static struct ipcwait_mutex m;
static struct input *in;
static struct waiter *innermost;
static unsigned depth, calls;
static bool checked; /* by the model */
static bool in_call; /* other than a wait */

static void make_call(void);

static bool served(uint64_t ticket)
{
	return (int64_t)((cond_word(&c) - ticket) << 24) > 0;
}

/* Marks those whom the words say to be released. Returns how many these are, and were not. */
static unsigned note_released(unsigned *waiting)
{
	unsigned n = 0;

	*waiting = 0;
	for (struct waiter *w = innermost; w; w = w->outer) {
		bool now =
			w->spins ? !arrivals_spinner(cond_arrivals(&c)) : served(w->ticket);

		FUZZ_CHECK(now || !w->released || w->spins);
		*waiting += !w->released;
		n += now && !w->released;
		w->released = w->released || now;
	}
	return n;
}

static void check_signal(bool to_all)
{
	bool sure = !(cond_word(&c) >> 56), spinner = arrivals_spinner(cond_arrivals(&c));
	unsigned wakes = fake.wakes, waiting, n;

	FUZZ_CHECK((to_all ? ipcwait_cond_broadcast(&c) : ipcwait_cond_signal(&c)) == 0);
	FUZZ_CHECK(fake.wakes <= wakes + 2);
	if (!checked)
		return;
	n = note_released(&waiting);
	if (to_all)
		FUZZ_CHECK(n == waiting);
	else if (sure || spinner)
		FUZZ_CHECK(n == (waiting > 0));
	else
		FUZZ_CHECK(n >= (waiting > 0));
	FUZZ_CHECK(!spinner || to_all || fake.wakes == wakes);
}

/* The waiter is about to sleep, or has been seen to spin. */
static void others(unsigned n)
{
	for (; n && calls < CALLS_MOST && in->left; n--)
		make_call();
}

/* The ticket of the innermost is the last one that was given out before it slept. */
static void note_ticket(struct waiter *me)
{
	if (!checked || !me->spins)
		return;
	me->spins = false;
	me->ticket = cond_word(&c) + (uint32_t)((uint32_t)(cond_arrivals(&c) >> 32) - 1 -
						(uint32_t)cond_word(&c));
}

/* The clock does not get there. */
static bool far(int64_t deadline_ns)
{
	return deadline_ns - fake.now_ns > HOUR_NS;
}

static int expire(int64_t deadline_ns)
{
	if (fake.now_ns < deadline_ns)
		fake.now_ns = deadline_ns;
	return -ETIMEDOUT;
}

static int on_wait(const struct fake_call *fresh)
{
	const struct fake_call call = *fresh; /* others make calls too */
	struct waiter *me = innermost;
	uint32_t before = *call.word;
	uint8_t how = take_8(in);

	/* The sleeps of whoever ends it. */
	if (in_call || !me)
		return expire(call.deadline_ns);
	FUZZ_CHECK(++me->sleeps < SLEEPS_MOST);
	note_ticket(me);
	FUZZ_CHECK(!me->released || !checked);
	others(how % 4);
	if (before != call.value)
		return -EAGAIN;
	if (!in->left && far(me->deadline_ns) && !me->released)
		check_signal(true);
	if (me->released || *call.word != before || how >= 192)
		return how & 8 ? -EINTR : 0;
	if (far(call.deadline_ns))
		return 0;
	return expire(call.deadline_ns);
}

/* Between two looks of the innermost waiter, who has no ticket yet. */
static void on_clock(void)
{
	if (in_call || !innermost || !innermost->spins || m.word.v ||
	    !arrivals_spinner(cond_arrivals(&c)) || take_8(in) % 8)
		return;
	fake.on_clock = NULL;
	others(1);
	fake.on_clock = on_clock;
}

static void wait(void)
{
	uint8_t how = take_8(in);
	struct waiter me = { .outer = innermost, .deadline_ns = IPCWAIT_FOREVER };
	unsigned waiting;
	int r;

	if (depth == DEPTH_MOST)
		return;
	if (how % 4)
		me.deadline_ns = take_deadline(in, fake.now_ns);
	FUZZ_CHECK(ipcwait_window_set_preset(&c.window,
					     how & 16 ? IPCWAIT_SPIN : IPCWAIT_BLOCK) == 0);
	FUZZ_CHECK(ipcwait_mutex_lock(&m) == 0);
	/* Beside a spinner it gets its ticket at once. */
	me.spins = !arrivals_spinner(cond_arrivals(&c));
	me.ticket = cond_word(&c) + (uint32_t)((uint32_t)(cond_arrivals(&c) >> 32) -
					       (uint32_t)cond_word(&c));
	innermost = &me;
	depth++;
	r = ipcwait_cond_wait_until(&c, &m, me.deadline_ns);
	depth--;
	innermost = me.outer;
	FUZZ_CHECK(ipcwait_mutex_unlock(&m) == 0);
	FUZZ_CHECK(r == 0 || r == -ETIMEDOUT);
	FUZZ_CHECK(r == 0 || fake.now_ns >= me.deadline_ns);
	/* Too many that have gone from far behind release all. */
	if (checked && r == 0 && !me.released)
		(void)note_released(&waiting);
	else if (checked)
		FUZZ_CHECK((r == 0) == me.released);
}

/*
 * Counters of any bytes may say that all are out while a waiter is still in. An init would forget
 * that it was released; fini has changed the flags, and no more.
 */
static void begin_again(uint32_t flags)
{
	if (innermost)
		c.flags = flags;
	else
		FUZZ_CHECK(ipcwait_cond_init(&c, m.flags) == 0);
}

static void end(void)
{
	uint32_t flags = c.flags;
	int r;

	in_call = true;
	r = ipcwait_cond_fini(&c);
	in_call = false;
	FUZZ_CHECK(r == 0 || r == -EBUSY || (r == -EINVAL && !checked));
	FUZZ_CHECK(!checked || (r == 0) == !innermost);
	if (r)
		return;
	FUZZ_CHECK(ipcwait_cond_signal(&c) == -EINVAL);
	begin_again(flags);
}

static void make_call(void)
{
	uint8_t what = take_8(in) % 8;
	bool was = in_call;

	calls++;
	if (what < 4) {
		wait();
		return;
	}
	if (what == 7) {
		end();
		return;
	}
	in_call = true;
	check_signal(what == 6);
	in_call = was;
}

static void begin(void)
{
	static const uint64_t words[] = { 0, 0xffffffff, SERVED_MASK - 3 };
	uint8_t how = take_8(in);
	uint64_t w = words[how % 3];

	fake_reset();
	fake.on_wait = on_wait;
	fake.on_clock = on_clock;
	innermost = NULL;
	depth = calls = 0;
	in_call = false;
	checked = how < 224;
	FUZZ_CHECK(ipcwait_mutex_init(&m, how & 8 ? IPCWAIT_PRIVATE : 0) == 0);
	FUZZ_CHECK(ipcwait_cond_init(&c, m.flags) == 0);
	cond_fabricate(&c, w, COND_ARRIVALS(0, how & 16 ? 0x7ffffffe : 0, (uint32_t)w));
	if (!checked) {
		take_bytes(in, &c, sizeof(c));
		c.flags &= 1;
		c.reserved = 0;
	}
}

/* What common/fake_os.c says when it is asked for something impossible. */
void check_failed(const char *file, int line, const char *what)
{
	(void)fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	__builtin_trap();
}

void check_equal(const char *file, int line, const char *what, long long is, long long want)
{
	if (is != want)
		check_failed(file, line, what);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	in = &input;
	begin();
	while (calls < CALLS_MOST && in->left)
		make_call();
	return 0;
}
