/* SPDX-License-Identifier: MIT */
/* Sample, decide, do; beside a program. */
#include "awake.h"
#include "../tools/common/complain.h"
#include "../tools/common/number.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Samples take a fiftieth of one CPU at most, however many CPUs there are to be looked at. */
#define COST_SHARE 50

/*
 * A trial that said no may have been disturbed for all of its time, so another one follows after
 * ASK_NS. The pause doubles with each of them, at most ASK_DOUBLED times: 320 s. A round keeps one
 * CPU busy for 12 ms, so a trial of 3 rounds takes 0.4 % of a CPU in the first 10 s and 0.01 % in
 * the end. One of AWAKE_ROUNDS_MOST takes three times as much.
 */
#define ASK_NS      (10000 * (int64_t)AWAKE_MS)
#define ASK_DOUBLED 5

/*
 * The program waits for the first trial, but not longer than this: the rest of the trial is beside
 * the program. A trial that nothing disturbs takes 50 to 150 ms.
 */
#define START_MOST_NS (500 * (int64_t)AWAKE_MS)

/* Threads that cannot be made, or not on their CPUs, are not asked for again. */
static void set_spinners(struct awake *a, uint64_t mask)
{
	if (!a->spinners && mask) {
		a->spinners =
			awake_spinners_make(&a->machine, &a->policy.rules.spinner_cpus);
		if (!a->spinners) {
			complain("no spinner could be started; idle CPUs halt");
			awake_policy_rest(&a->policy);
		}
	}
	if (a->spinners)
		awake_spinners_set(a->spinners, mask);
}

/* A request that fails, as the device has just gone, is not made again. */
static void obey(struct awake *a)
{
	if (a->policy.mode == AWAKE_QOS) {
		int r = awake_hold_begin(&a->device);

		if (r) {
			complain(AWAKE_DEVICE ": %s; idle CPUs halt", strerror(-r));
			a->policy.rules.qos = false;
			awake_policy_rest(&a->policy);
		}
	} else {
		awake_hold_end(&a->device);
	}
	set_spinners(a, a->policy.mode == AWAKE_SPIN ? a->policy.mask : 0);
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Return: how long until the next sample, in ns. */
static uint64_t sample(struct awake *a, int64_t begin)
{
	uint64_t next_ns, cost_ns;

	awake_sampler_read(a->sampler, a->policy.mode, begin, &a->sample);
	if (a->spinners)
		awake_spinners_read(a->spinners, &a->sample);
	next_ns = awake_policy_step(&a->policy, &a->sample);
	obey(a);
	/* One that was interrupted tells nothing, so the least of the last ones counts. */
	cost_ns = (uint64_t)(ipcwait_now_ns() - begin);
	a->cost_ns = a->cost_ns && a->cost_ns < cost_ns ? a->cost_ns + a->cost_ns / 16 + 1
							: cost_ns;
	/* Spinners count by themselves, and finely. */
	if (a->policy.mode == AWAKE_WATCH)
		next_ns = most(next_ns, awake_sampler_least_ns(a->sampler));
	return most(next_ns, a->cost_ns * COST_SHARE);
}

static int64_t ask_after_ns(const struct awake *a)
{
	return ASK_NS << (a->asked < ASK_DOUBLED ? a->asked : ASK_DOUBLED);
}

/* What is done from now on, and why. */
static void explain_choice(const struct awake *a)
{
	const struct awake_choice *c = &a->choice;
	double wake_us = (double)a->machine.wakes.ns[AWAKE_HALTS] / AWAKE_US;
	double limit_us = (double)awake_policy_limit_ns(&a->policy.rules) / AWAKE_US;

	if (c->nothing && a->asking) {
		complain("keeps no CPU awake yet: %s; the trial goes on", c->nothing);
		return;
	}
	if (c->nothing) {
		complain("keeps no CPU awake: %s; the next trial is in %" PRId64 " s",
			 c->nothing, ask_after_ns(a) / (1000 * (int64_t)AWAKE_MS));
		return;
	}
	complain("%s; a wake costs %.1f us (%s); idles up to %.0f us are polled through, "
		 "for %u %% "
		 "of one CPU%s%s",
		 !c->qos           ? "spinners"
		 : c->spinner_cpus ? "qos, or spinners on some CPUs"
				   : "qos",
		 wake_us, a->machine.wake_from, limit_us, a->options.budget_percent,
		 c->qos ? "" : "; no qos: ", c->qos ? "" : c->qos_not);
}

/* Spinners that run stay as they are, and those that could not be made are not asked for again. */
static void adopt(struct awake *a)
{
	a->policy.rules.wake_ns = a->machine.wakes.ns[AWAKE_HALTS];
	a->policy.rules.qos = a->choice.qos;
	if (!a->spinners)
		a->policy.rules.spinner_cpus = a->choice.spinner_cpus;
	a->ask_at = 0;
	if (a->choice.again)
		a->ask_at = ipcwait_now_ns() +
			    (a->asking ? (int64_t)AWAKE_TICK_NS : ask_after_ns(a));
}

/*
 * One round of a trial; what it did is no part of a sample. The result is said unless it is as
 * before. Return: the pause after it, in ns.
 */
static uint64_t ask(struct awake *a)
{
	bool qos = a->choice.qos, spinner = a->choice.spinner_cpus != 0;
	uint64_t pause_ns;

	if (!a->asking) {
		awake_machine_ask(&a->machine);
		a->asked++;
	}
	pause_ns = awake_machine_round(&a->machine);
	a->asking = pause_ns != 0;
	awake_sampler_read(a->sampler, AWAKE_WATCH, ipcwait_now_ns(), &a->sample);
	if (pause_ns) {
		a->ask_at = ipcwait_now_ns() + (int64_t)pause_ns;
		return pause_ns;
	}
	awake_choose(&a->choice, &a->machine, &a->options);
	adopt(a);
	if (a->options.explain || !a->asked || a->choice.qos != qos ||
	    (a->choice.spinner_cpus != 0) != spinner)
		explain_choice(a);
	return 0;
}

/* Between trials, where nothing can be held, there is nothing to watch. */
static int64_t tick(void *arg)
{
	struct awake *a = arg;
	int64_t begin = ipcwait_now_ns();

	if (a->ask_at && begin >= a->ask_at && a->policy.mode == AWAKE_WATCH)
		return (int64_t)ask(a);
	if (a->choice.nothing)
		return a->ask_at ? a->ask_at - begin : ASK_NS;
	return (int64_t)sample(a, begin);
}

static void rest(void *arg)
{
	struct awake *a = arg;

	awake_policy_rest(&a->policy);
	obey(a);
}

/* Who watches for this process already, 0 if nobody does. */
static pid_t watcher(void)
{
	const char *text = getenv(AWAKE_VARIABLE);
	uint64_t pid;

	if (!text || number_parse(text, 2, INT_MAX, &pid))
		return 0;
	return !kill((pid_t)pid, 0) || errno == EPERM ? (pid_t)pid : 0;
}

static void explain_end(const struct awake *a)
{
	const struct awake_totals *t = &a->policy.totals;

	complain(
		"held %llu times, %.3f of %.3f s, %.3f s of it useful; %llu times in vain; "
		"polled %.3f s of CPU time, in %llu idles; asked again %u times",
		(unsigned long long)t->holds, (double)t->held_ns / 1e9,
		(double)t->watched_ns / 1e9, (double)t->useful_ns / 1e9,
		(unsigned long long)t->in_vain, (double)t->polled_ns / 1e9,
		(unsigned long long)t->idles, a->asked);
}

static int prepare(struct awake *a)
{
	const struct awake_options *o = &a->options;
	pid_t by = watcher();
	uint64_t pause_ns;
	char pid[32];

	if (by)
		return complain("process %ld keeps CPUs awake already", (long)by);
	pause_ns = awake_machine_read(&a->machine, o->alone ? INT64_MAX : START_MOST_NS);
	a->asking = pause_ns != 0;
	awake_choose(&a->choice, &a->machine, o);
	if (a->choice.nothing && (!a->choice.again || o->alone))
		return complain("keeps no CPU awake: %s", a->choice.nothing);
	(void)snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	if (setenv(AWAKE_VARIABLE, pid, 1))
		return complain("cannot set the environment: %s", strerror(errno));
	a->sampler = awake_sampler_open(&a->machine);
	return a->sampler ? 0 : -EINVAL;
}

int awake_open(struct awake *a, const struct awake_options *o)
{
	struct awake_rules rules;

	memset(a, 0, sizeof(*a));
	a->options = *o;
	a->device = -1;
	a->watch = (struct run_watch){ .tick = tick, .rest = rest, .arg = a };
	if (prepare(a))
		return -EINVAL;
	rules = (struct awake_rules){ .budget_percent = o->budget_percent };
	awake_policy_init(&a->policy, &rules);
	adopt(a);
	if (o->explain || a->choice.nothing)
		explain_choice(a);
	else if (a->machine.poll && a->machine.device_error &&
		 o->backend == AWAKE_BACKEND_AUTO)
		complain("%s; spinners, half as good, take its place", a->choice.qos_not);
	return 0;
}

void awake_close(struct awake *a)
{
	rest(a);
	awake_sampler_close(a->sampler);
	if (a->options.explain)
		explain_end(a);
}
