/* SPDX-License-Identifier: MIT */
/* What a CPU does when it has nothing to do: the greatest part of what a wake costs. */
#include "info.h"

#include <string.h>

#define CPUIDLE  "/sys/devices/system/cpu/cpuidle/"
#define STATE    "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/"
#define CPUFREQ  "/sys/devices/system/cpu/cpu%u/cpufreq/"
#define HALTPOLL "/sys/module/haltpoll/parameters/guest_halt_poll_"

static double state_number(const struct info *info, unsigned state, const char *name)
{
	char text[64];
	double n;

	if (info_line(info, text, sizeof(text), STATE "%s", info->cpu, state, name) &&
	    info_to_number(text, &n) && n >= 0)
		return n;
	return -1;
}

static bool read_state(const struct info *info, unsigned i, struct info_state *s,
		       char why[INFO_TEXT_BYTES])
{
	if (!info_line(info, why, INFO_TEXT_BYTES, STATE "name", info->cpu, i))
		return false;
	s->name[0] = '\0';
	info_append(s->name, sizeof(s->name), why);
	s->exit_us = state_number(info, i, "latency");
	s->residency_us = state_number(info, i, "residency");
	s->usage = state_number(info, i, "usage");
	s->time_us = state_number(info, i, "time");
	s->disabled = state_number(info, i, "disable") > 0;
	return true;
}

static void put_states(struct info *info)
{
	char why[INFO_TEXT_BYTES];

	while (info->states < INFO_STATES_MOST &&
	       read_state(info, info->states, &info->state[info->states], why))
		info->states++;
	if (info->states)
		info_put_states(info, "idle_states");
	else
		info_put_missing(info, "idle_states", why);
}

/* How long an idle CPU of a guest polls before it halts. */
static void put_haltpoll(struct info *info)
{
	info_put_file_number(info, "guest_halt_poll_ns", HALTPOLL "ns");
	info_put_file_number(info, "guest_halt_poll_grow", HALTPOLL "grow");
	info_put_file_number(info, "guest_halt_poll_grow_start_ns", HALTPOLL "grow_start");
	info_put_file_number(info, "guest_halt_poll_shrink", HALTPOLL "shrink");
	info_put_file(info, "guest_halt_poll_allow_shrink", HALTPOLL "allow_shrink");
	/* What this kernel does for guests of its own. */
	info_put_file_number(info, "kvm_halt_poll_ns",
			     "/sys/module/kvm/parameters/halt_poll_ns");
}

static void put_governor(struct info *info)
{
	char text[INFO_TEXT_BYTES];

	/* Which of the two files there is depends on the kernel's version. */
	if (info_line(info, text, sizeof(text), CPUIDLE "current_governor_ro"))
		info_put_text(info, "idle_governor", text);
	else
		info_put_file(info, "idle_governor", CPUIDLE "current_governor");
}

void info_read_idle(struct info *info)
{
	info_put_file(info, "idle_driver", CPUIDLE "current_driver");
	put_governor(info);
	put_states(info);
	put_haltpoll(info);
	info_put_file(info, "cpufreq_driver", CPUFREQ "scaling_driver", info->cpu);
	info_put_file(info, "cpufreq_governor", CPUFREQ "scaling_governor", info->cpu);
}
