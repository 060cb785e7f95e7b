/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/seam.h"
#include "policy/cost.h"
#include "policy/policy.h"
#include "policy/window.h"

/*
 * Ceiling of any spin, in us: twice the dearest sleep measured on the project's guest
 * (50 us to run again after 5 ms of idleness plus 14 us for the waker), and what KVM and
 * haltpoll allow themselves. IPCWAIT_MAX_SPIN_US and max_spin_us override it.
 */
#define MAX_SPIN_US 200u

/*
 * The first and the longest sleep that only an alarm ends, in ns. A shorter wait has none, and in
 * one that lasts an alarm takes some 10 us of CPU a second, later every eighth. Figures, and why
 * not shorter: docs/adr/0028-alarms.md.
 */
#define ALARM_FIRST_NS INT64_C(1000000000)
#define ALARM_MOST_NS  INT64_C(8000000000)

/*
 * The first sleep of one that nobody can wake, in ns. A look takes 7 to 14 us of CPU (ADR 28), and
 * all such sleepers together may take 1 % of one: many of them look 500 times a second.
 */
#define LOOK_NS INT64_C(1000000)

/*
 * Preset in the low 8 bits, ceiling in us above, and whether threads may be moved; all as the
 * program set them, 0 if not.
 */
static struct ipcwait_word32 program_default;

#define PRESET_BITS  8
#define CEILING_BITS 17
#define MOVES        (1u << (PRESET_BITS + CEILING_BITS))

_Static_assert(IW_MAX_SPIN_US_LIMIT < 1u << CEILING_BITS, "a ceiling fits");

static bool reserved_zero(const struct ipcwait_policy *policy)
{
	uint32_t any = 0;

	for (unsigned i = 0; i < sizeof(policy->reserved) / sizeof(policy->reserved[0]);
	     i++)
		any |= policy->reserved[i];
	return any == 0;
}

int ipcwait_policy_set_default(const struct ipcwait_policy *policy)
{
	if (!policy || (unsigned)policy->preset > IPCWAIT_TICKS ||
	    policy->max_spin_us > IW_MAX_SPIN_US_LIMIT || policy->place > 1 ||
	    !reserved_zero(policy))
		return -EINVAL;
	/* ORD policy.X1: relaxed, no order promised with waits that have begun. */
	ipcwait_impl_store32_relaxed(&program_default,
				     (policy->place ? MOVES : 0) |
					     policy->max_spin_us << PRESET_BITS |
					     (uint32_t)policy->preset);
	return 0;
}

static uint32_t program_policy(void)
{
	/* ORD policy.X2: relaxed, hint: both the old and the new policy are legal. */
	return ipcwait_impl_load32_relaxed(&program_default);
}

enum ipcwait_preset iw_policy_default_preset(const struct iw_facts *facts)
{
	uint32_t preset = program_policy() & ((1u << PRESET_BITS) - 1);

	if (facts->config.preset != IPCWAIT_INHERIT)
		return facts->config.preset;
	return preset ? (enum ipcwait_preset)preset : IPCWAIT_ADAPTIVE;
}

enum ipcwait_preset iw_policy_preset(const struct iw_facts *facts, uint32_t state)
{
	enum ipcwait_preset own = iw_state_preset(state);

	return own != IPCWAIT_INHERIT ? own : iw_policy_default_preset(facts);
}

bool iw_policy_moves(const struct iw_facts *facts)
{
	if (!facts->movable)
		return false;
	if (facts->config.place >= 0)
		return facts->config.place;
	return iw_place_is_default || (program_policy() & MOVES);
}

uint64_t iw_policy_ceiling_ns(const struct iw_facts *facts)
{
	uint32_t us = facts->config.max_spin_us;

	if (!us)
		us = program_policy() >> PRESET_BITS & ((1u << CEILING_BITS) - 1);
	return UINT64_C(1000) * (us ? us : MAX_SPIN_US);
}

/* Twice as long each time, as one who has waited for long can wait for as long again. */
int64_t iw_policy_alarm_ns(int64_t before_ns)
{
	int64_t ns = before_ns < ALARM_FIRST_NS ? ALARM_FIRST_NS : 2 * before_ns;

	return ns < ALARM_MOST_NS ? ns : ALARM_MOST_NS;
}

/* Twice as long each time, until @n of them together look once in 2 * LOOK_NS. */
int64_t iw_policy_look_ns(int64_t before_ns, uint32_t n)
{
	int64_t most = n > 1 ? LOOK_NS * (2 * (int64_t)n - 1) : LOOK_NS;
	int64_t ns = before_ns < LOOK_NS ? LOOK_NS : 2 * before_ns;

	return ns < most ? ns : most;
}

/*
 * A timed sleep trades the waker's system call and the latency of the wake for spinning. LATENCY
 * counts the latency four times, and pays three of them in CPU time.
 */
struct iw_timer_cost iw_policy_timer(const struct iw_facts *facts, uint64_t block_ns)
{
	struct iw_timer_cost timer = iw_cost_timer(facts);
	uint64_t latency_ns = iw_cost_latency_ns(facts);

	timer.worth_ns = block_ns > latency_ns ? block_ns - latency_ns : 0;
	return timer;
}
