/* SPDX-License-Identifier: MIT */
#include "awake.h"

#include <string.h>

#define NO_REQUEST_US 2000000000

static void line(const char *what, const char *text)
{
	printf("%-12s%s\n", what, text);
}

static void print_idle(const struct awake_machine *m)
{
	printf("%-12s%s; %s; %s\n", "idle", m->driver[0] ? m->driver : "no cpuidle driver",
	       m->poll ? "can poll" : "cannot poll on request",
	       m->counters ? "counters of idle states" : "counts of context switches only");
}

static void print_requests(const struct awake_machine *m)
{
	if (m->requested_us < 0)
		line("requests", "not known, as the device cannot be read");
	else if (m->requested_us >= NO_REQUEST_US)
		line("requests", "none at present");
	else
		printf("%-12ssomebody asks for %lld us at present%s\n", "requests",
		       (long long)m->requested_us,
		       m->requested_us ? "" : ": idle CPUs poll");
}

static void print_wakes(const struct awake_machine *m)
{
	const uint64_t *ns = m->wakes.ns;

	printf("%-12s%.1f us of a halted CPU (%s)", "wakes",
	       (double)ns[AWAKE_HALTS] / AWAKE_US, m->wake_from);
	if (ns[AWAKE_POLLS])
		printf(", %.1f us of a polling one", (double)ns[AWAKE_POLLS] / AWAKE_US);
	if (ns[AWAKE_SPINS])
		printf(", %.1f us of one with a spinner",
		       (double)ns[AWAKE_SPINS] / AWAKE_US);
	printf("; %u rounds\n", m->trial.rounds);
}

static void print_choice(const struct awake_machine *m, const struct awake_choice *c,
			 const struct awake_options *o)
{
	const struct awake_rules rules = { .wake_ns = m->wakes.ns[AWAKE_HALTS] };

	printf("%-12s%s\n", "qos", c->qos_not ? c->qos_not : "possible");
	printf("%-12s%s\n", "spinner", c->spinner_not ? c->spinner_not : "possible");
	if (c->nothing) {
		printf("%-12snothing: %s\n", "choice", c->nothing);
		return;
	}
	printf("%-12s%s: while CPUs idle 1000 times a second, for %.0f us or less, and "
	       "polling\n"
	       "%-12stakes no more than %u %% of one CPU\n",
	       "choice",
	       !c->qos           ? "spinner"
	       : c->spinner_cpus ? "qos, or spinner if too many CPUs would poll"
				 : "qos",
	       (double)awake_policy_limit_ns(&rules) / AWAKE_US, "", o->budget_percent);
}

void awake_print_status(const struct awake_machine *m, const struct awake_choice *c,
			const struct awake_options *o)
{
	char text[64];

	printf("%-12s%u online, %u usable", "CPUs", m->online, m->usable);
	if (m->quota_cpus > 0)
		printf(", %.2f allowed by a control group", m->quota_cpus);
	putchar('\n');
	print_idle(m);
	(void)snprintf(text, sizeof(text), "%s",
		       m->device_error ? strerror(m->device_error) : "may be held");
	printf("%-12s%s: %s\n", "device", AWAKE_DEVICE, text);
	print_requests(m);
	print_wakes(m);
	print_choice(m, c, o);
}
