/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/fake_os.h"
#include "common/fuzz.h"
#include "fuzz/kernel.h"
#include "env/facts.h"
#include "os/thread.h"
#include "policy/cost.h"
#include "policy/policy.h"
#include "policy/sites.h"
#include "policy/window.h"

/* The kernel's clock of the engine's stamps repeats after this: each input finds it alike. */
#define STAMPS_REPEAT_NS (INT64_C(1) << 35)

/* Deadlines further ahead do not come: the clock has to last for all inputs. */
#define HORIZON_NS INT64_C(1000000000)

/* Sleeps in a call, if each takes a byte, and those that find none any more. */
#define SLEEPS_MOST 30000
#define IDLE_MOST   16

/* The ceiling of a spin; what a thread spins to part from its waker, lib/policy/place.c. */
#define SPIN_NS INT64_C(200000)
#define PART_NS INT64_C(8000000)

/* Whoever finds another at its parent's waiters looks again after so long, lib/sync/copy.c. */
#define LOOK_NS INT64_C(100000)

/* Readings of the clock in a call besides those of the spins, per sleep. */
#define READINGS 40

struct kernel kernel;

/* The ones of check.c end the process behind libFuzzer's back. */
void check_failed(const char *file, int line, const char *what)
{
	(void)fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	__builtin_trap();
}

void check_equal(const char *file, int line, const char *what, long long is, long long want)
{
	if (is == want)
		return;
	(void)fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, what, is, want);
	__builtin_trap();
}

static void pass(int64_t ns)
{
	fake.now_ns += ns;
	for (struct kernel_call *c = kernel.call; c; c = c->outer)
		c->away_ns += ns;
}

static void pass_until(int64_t ns)
{
	if (ns > fake.now_ns)
		pass(ns - fake.now_ns);
}

/* Another thread, on the other CPU. */
static void let_others_act(void (*act)(void))
{
	struct iw_thread mine = iw_thread;

	if (!act)
		return;
	memset(&iw_thread, 0, sizeof(iw_thread));
	fake.cpu ^= 1;
	act();
	fake.cpu ^= 1;
	iw_thread = mine;
}

static void next_stop(void)
{
	kernel.readings_to_stop = kernel.in->left ? take_8(kernel.in) : UINT32_MAX;
}

/* The thread is stopped: by the hypervisor, or, as rseq tells, by the kernel. */
static void on_clock(void)
{
	uint8_t how;

	if (kernel.readings_to_stop--)
		return;
	kernel.readings_to_stop = UINT32_MAX;
	how = take_8(kernel.in);
	pass((int64_t)take_16(kernel.in) << (how & 7));
	if (how & 8)
		fake.rseq_field = 0;
	if (how & 16)
		let_others_act(kernel.others_stop);
	next_stop();
}

/* How a sleep ends; from WOKEN on, after others have acted. */
enum end {
	TIMED_OUT,
	NO_REASON,
	SIGNAL,
	FAULT,
	FORBIDDEN,
	WOKEN,
	SIGNAL_LATE,
	TIMED_OUT_LATE
};

/* Until a deadline that comes, else a filter has to end it. */
static int time_out(int64_t deadline_ns, int64_t late_ns)
{
	if (deadline_ns > fake.now_ns + HORIZON_NS)
		return -ENOSYS;
	pass_until(deadline_ns);
	pass(late_ns);
	return -ETIMEDOUT;
}

/* After @ns, or at the deadline if that is sooner. */
static int sleep_and(enum end end, int64_t ns, int64_t deadline_ns, int64_t late_ns)
{
	if (deadline_ns - fake.now_ns <= ns || end == TIMED_OUT)
		return time_out(deadline_ns, late_ns);
	pass(ns);
	if (end >= WOKEN)
		let_others_act(kernel.others);
	pass(late_ns);
	switch (end) {
	case SIGNAL:
	case SIGNAL_LATE:
		return -EINTR;
	case FAULT:
		return -EFAULT;
	case FORBIDDEN:
		return -ENOSYS;
	case TIMED_OUT_LATE:
		return time_out(deadline_ns, 0);
	default:
		return 0;
	}
}

static int answer(const struct fake_call *c)
{
	uint8_t how = take_8(kernel.in);
	int64_t ns;

	if (*c->word != c->value)
		return -EAGAIN;
	if (kernel.in->left == 0)
		return ++kernel.idle < IDLE_MOST ? time_out(c->deadline_ns, 0) : -ENOSYS;
	ns = (int64_t)take_16(kernel.in) << (how >> 3 & 7);
	return sleep_and((enum end)(how & 7), ns, c->deadline_ns, how >> 6 << 14);
}

/* What ends a wait is not asked again. */
static bool final(const struct kernel_call *call, int r, int64_t deadline_ns)
{
	return (r == -EINTR && (call->interruptible || kernel.flags_change)) ||
	       r == -EFAULT || r == -ENOSYS ||
	       (r == -ETIMEDOUT && deadline_ns == call->deadline_ns);
}

/* Whoever scribbled says that a thread of this process is just forgetting a parent's waiters. */
static int look_again(const struct fake_call *c)
{
	FUZZ_CHECK(c->deadline_ns <= fake.now_ns + LOOK_NS);
	if (*c->word != c->value)
		return -EAGAIN;
	pass_until(c->deadline_ns);
	return -ETIMEDOUT;
}

static int on_wait(const struct fake_call *asked)
{
	struct kernel_call *call = kernel.call;
	struct fake_call c = *asked;
	int r;

	FUZZ_CHECK(call && (!call->answer || kernel.flags_change));
	FUZZ_CHECK(++call->sleeps <= SLEEPS_MOST);
	kernel.sleeps++;
	if (c.word == kernel.note)
		return look_again(&c);
	FUZZ_CHECK(c.deadline_ns <= call->deadline_ns);
	r = answer(&c);
	if (final(call, r, c.deadline_ns))
		call->answer = r;
	return r;
}

/* The environment is read once, so it is the same for all inputs. */
static void set_environment(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	FUZZ_CHECK(setenv("IPCWAIT_EXPLAIN", "1", 1) == 0);
	iw_facts_forget();
}

/* What is read once for all inputs, as each wants it. */
static void set_facts(uint32_t cpus, uint32_t quota_hundredths)
{
	struct iw_facts *facts = (struct iw_facts *)iw_facts();

	facts->cpus = cpus;
	facts->quota_hundredths = quota_hundredths;
}

bool kernel_long_spins(const struct ipcwait_window *w)
{
	uint32_t state = iw_window_state(w);

	return iw_state_waker_cpu(state) == fake.cpu + 1 ||
	       iw_policy_preset(iw_facts(), state) == IPCWAIT_TICKS;
}

/* Whoever sleeps or wakes learns. */
static void teach_costs(void)
{
	static bool taught;

	if (taught && !kernel.sleeps && !fake.wakes)
		return;
	taught = true;
	for (int i = 0; i < 160; i++) {
		iw_cost_note_latency(KERNEL_LATENCY_NS);
		iw_cost_note_waker(KERNEL_WAKER_NS);
		iw_cost_note_timer(90000);
	}
}

void kernel_begin(struct input *in)
{
	static const int woken[] = { INT_MAX, 0, 1, -EFAULT };
	int64_t now_ns = fake.now_ns;
	uint8_t how = take_8(in);

	set_environment();
	teach_costs();
	fake_reset();
	if (now_ns < INT64_MAX / 2)
		fake.now_ns = (now_ns / STAMPS_REPEAT_NS + 2) * STAMPS_REPEAT_NS;
	fake.step_ns = INT64_C(400) << (how & 3);
	fake.allowed.count = how & 4 ? 1 : 2;
	fake.cpu = how >> 3 & 1;
	set_facts(fake.allowed.count, (how >> 4 & 3) == 3 ? 100 : 0);
	memset(&iw_sites, 0, sizeof(iw_sites));
	if (how & 64)
		fake_rseq();
	fake.woken = woken[how >> 7 ? take_8(in) % 4 : 0];
	kernel = (struct kernel){ .in = in };
	fake.on_clock = on_clock;
	fake.on_wait = on_wait;
	next_stop();
}

void kernel_enter(struct kernel_call *call, int64_t deadline_ns)
{
	*call = (struct kernel_call){ .outer = kernel.call,
				      .deadline_ns = deadline_ns,
				      .began_ns = fake.now_ns };
	kernel.call = call;
	errno = 4711;
}

void kernel_leave(struct kernel_call *call, int result)
{
	int64_t rounds = (int64_t)call->sleeps + 1;
	int64_t awake_ns = fake.now_ns - call->began_ns - call->away_ns;

	FUZZ_CHECK(errno == 4711);
	FUZZ_CHECK(kernel.call == call);
	kernel.call = call->outer;
	for (struct kernel_call *c = kernel.call; c; c = c->outer)
		c->away_ns += awake_ns;
	if (result == -ETIMEDOUT)
		FUZZ_CHECK(fake.now_ns >= call->deadline_ns);
	if (result == -EINTR || result == -EFAULT || result == -ENOSYS)
		FUZZ_CHECK(result == call->answer || result == fake.woken);
	FUZZ_CHECK(awake_ns <= rounds * ((call->long_spins ? PART_NS : SPIN_NS) +
					 READINGS * fake.step_ns));
}
