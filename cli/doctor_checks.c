/* SPDX-License-Identifier: MIT */
/* Each check reads facts of cli/info.h and says what they mean for somebody who waits. */
#include "doctor.h"
#include "doctor_place.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A share of CPU time that the host took: from here on it is noticed, and it hurts. */
#define STEAL_NOTED 0.001
#define STEAL_HURTS 0.02
/* As in lib/engine/plan.c: with less nobody spins. */
#define QUOTA_LEAST  1.5
#define CALLS        2000
#define SLOW_CALL_NS 700

/* Below this a sleep and its wake leave little to gain. */
#define CHEAP_BLOCK_NS 6000

static bool number(const struct info *info, const char *key, double *n)
{
	const struct info_fact *fact = info_find(info, key);

	if (!fact || (fact->kind != INFO_NUMBER && fact->kind != INFO_BOOLEAN))
		return false;
	*n = fact->number;
	return true;
}

/* NULL: it is not known. */
static const char *text(const struct info *info, const char *key)
{
	const struct info_fact *fact = info_find(info, key);

	return fact && fact->kind != INFO_MISSING ? fact->text : NULL;
}

static bool is(const struct info *info, const char *key, const char *wanted)
{
	const char *found = text(info, key);

	return found && !strcmp(found, wanted);
}

__attribute__((format(printf, 4, 5))) static void say(struct doctor_finding *f,
						      enum doctor_verdict verdict,
						      const char *advice,
						      const char *format, ...)
{
	va_list args;

	f->verdict = verdict;
	f->advice = advice;
	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 */
	(void)vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
}

static void check_cpus(struct doctor_finding *f, const struct info *info)
{
	double usable, online = 0;

	(void)number(info, "cpus_online", &online);
	if (!number(info, "cpus_usable", &usable))
		say(f, DOCTOR_UNKNOWN, NULL, "how many CPUs may be used is not known");
	else if (usable >= 2)
		say(f, DOCTOR_OK, NULL, "%.0f CPUs may be used", usable);
	else if (online >= 2)
		say(f, DOCTOR_PROBLEM,
		    "Widen the affinity mask: taskset -c, AllowedCPUs= of the unit, "
		    "cpuset of the container.",
		    "one CPU of %.0f may be used: nobody can spin while another works, "
		    "and every wait sleeps at once",
		    online);
	else
		say(f, DOCTOR_PROBLEM, "Give the machine a second CPU.",
		    "there is one CPU: nobody can spin while another works, and every "
		    "wait sleeps at once");
}

static void check_quota(struct doctor_finding *f, const struct info *info)
{
	const struct info_fact *fact = info_find(info, "quota_cpus");

	if (!fact || fact->kind == INFO_MISSING)
		say(f, DOCTOR_UNKNOWN, NULL, "a quota of CPU time is not known");
	else if (fact->kind == INFO_NONE)
		say(f, DOCTOR_OK, NULL, "no quota of CPU time");
	else if (fact->number >= QUOTA_LEAST && fact->number < 2)
		say(f, DOCTOR_NOTE, NULL, "a quota of %.3g CPUs leaves little room to spin",
		    fact->number);
	else if (fact->number < 2)
		say(f, DOCTOR_PROBLEM,
		    "Raise cpu.max (docker --cpus, limits.cpu in Kubernetes) to 1.5 or "
		    "more (2 leaves room), or pin to CPUs instead.",
		    "a quota of %.3g CPUs: what is spun is taken from the work, so waits "
		    "sleep at once",
		    fact->number);
	else
		say(f, DOCTOR_OK, NULL, "a quota of %.3g CPUs, which leaves room to spin",
		    fact->number);
}

static void check_hypervisor(struct doctor_finding *f, const struct info *info)
{
	const char *name = text(info, "hypervisor");

	if (!name)
		say(f, DOCTOR_UNKNOWN, NULL,
		    "whether this is a virtual machine is not known");
	else if (!strcmp(name, "none"))
		say(f, DOCTOR_NOTE, NULL,
		    "this is no virtual machine: a wake is cheaper than in one, and "
		    "there is less to gain");
	else
		say(f, DOCTOR_OK, NULL, "a virtual machine (%s): sleeps are dear here",
		    name);
}

static void check_steal(struct doctor_finding *f, const struct info *info)
{
	static const char advice[] =
		"Ask whoever runs the host for CPUs that are not promised twice.";
	double share;

	if (!number(info, "steal_share", &share))
		say(f, DOCTOR_UNKNOWN, NULL,
		    "how much CPU time the host takes is not known");
	else if (share >= STEAL_HURTS)
		say(f, DOCTOR_PROBLEM, advice,
		    "the host has taken %.1f %% of the CPU time: whoever is waited for is "
		    "often not running, and spins end early",
		    100 * share);
	else if (share >= STEAL_NOTED)
		say(f, DOCTOR_NOTE, advice, "the host has taken %.2f %% of the CPU time",
		    100 * share);
	else
		say(f, DOCTOR_OK, NULL, "the host takes no CPU time");
}

static void check_load(struct doctor_finding *f, const struct info *info)
{
	double load, cpus;

	if (!number(info, "load_1min", &load) || !number(info, "cpus_online", &cpus))
		say(f, DOCTOR_UNKNOWN, NULL, "the load is not known");
	else if (load > cpus)
		say(f, DOCTOR_NOTE, "Measure when it is calm.",
		    "%.1f threads want to run on %.0f CPUs: spinning is held back while "
		    "that lasts",
		    load, cpus);
	else
		say(f, DOCTOR_OK, NULL, "CPUs are free (load %.1f on %.0f)", load, cpus);
}

static bool booted_with(const struct info *info, const char *option)
{
	const char *list = text(info, "boot_options");

	return list && strstr(list, option);
}

static void check_idle(struct doctor_finding *f, const struct info *info)
{
	double poll_ns = 0;

	(void)number(info, "guest_halt_poll_ns", &poll_ns);
	if (booted_with(info, "idle=poll"))
		say(f, DOCTOR_NOTE,
		    "Without idle=poll the library gains as much, and idle CPUs cost "
		    "nothing.",
		    "idle CPUs poll for ever (idle=poll): wakes are cheap already");
	else if (is(info, "idle_driver", "haltpoll") &&
		 is(info, "idle_governor", "haltpoll") && poll_ns > 0)
		say(f, DOCTOR_NOTE, NULL,
		    "idle CPUs poll for up to %.0f us before they halt (haltpoll): a wake "
		    "within that is cheap already",
		    poll_ns / 1000);
	else
		say(f, DOCTOR_OK, NULL, "idle CPUs halt: a wake has to end that");
}

static void check_rseq(struct doctor_finding *f, const struct info *info)
{
	double registered;

	if (!number(info, "rseq_registered", &registered))
		say(f, DOCTOR_UNKNOWN, NULL, "whether rseq is registered is not known");
	else if (registered != 0)
		say(f, DOCTOR_OK, NULL, "a spinner notices when its CPU is taken (rseq)");
	else
		say(f, DOCTOR_PROBLEM,
		    "glibc 2.35 or later on Linux 4.18 or later registers it, unless "
		    "GLIBC_TUNABLES has glibc.pthread.rseq=0.",
		    "rseq is not registered: a spinner does not notice that its CPU was "
		    "taken, and wastes more under load");
}

static void check_clock(struct doctor_finding *f, const struct info *info)
{
	static const char *const fast[] = { "tsc", "kvm-clock",
					    "hyperv_clocksource_tsc_page",
					    "arch_sys_counter", "riscv_clocksource" };
	const char *name = text(info, "clocksource");

	for (size_t i = 0; name && i < sizeof(fast) / sizeof(fast[0]); i++) {
		if (!strcmp(name, fast[i])) {
			say(f, DOCTOR_OK, NULL,
			    "the clock (%s) is read without a system call", name);
			return;
		}
	}
	if (!name)
		say(f, DOCTOR_UNKNOWN, NULL, "the clock source is not known");
	else
		say(f, DOCTOR_PROBLEM,
		    "Find out why the kernel refuses the TSC: dmesg | grep -i tsc.",
		    "each reading of the clock (%s) is a system call, and a spin needs "
		    "some",
		    name);
}

/* A call that does nothing, in ns: the least of some rounds. */
static double call_ns(void)
{
	double least = 1e9;

	for (int round = 0; round < 5; round++) {
		struct timespec begin, end;
		double ns;

		(void)clock_gettime(CLOCK_MONOTONIC, &begin);
		for (int i = 0; i < CALLS; i++)
			(void)getppid();
		(void)clock_gettime(CLOCK_MONOTONIC, &end);
		ns = ((double)(end.tv_sec - begin.tv_sec) * 1e9 +
		      (double)(end.tv_nsec - begin.tv_nsec)) /
		     CALLS;
		least = ns < least ? ns : least;
	}
	return least;
}

/* Nested virtualization cannot be seen from inside, but what it costs can. */
static void check_calls(struct doctor_finding *f, const struct info *info)
{
	double ns;

	if (info_is_saved_tree(info)) {
		say(f, DOCTOR_UNKNOWN, NULL,
		    "how long a system call takes cannot be told from a saved tree");
		return;
	}
	ns = call_ns();
	if (ns > SLOW_CALL_NS)
		say(f, DOCTOR_NOTE, "`ipcwait run --fd` gains less where looks are dear.",
		    "a system call takes %.0f ns: a hypervisor in a hypervisor, a kernel "
		    "that runs in user mode, or a tracer",
		    ns);
	else
		say(f, DOCTOR_OK, NULL, "a system call takes %.0f ns", ns);
}

/* What `ipcwait run` knows and LD_PRELOAD alone does not. */
static void check_filter(struct doctor_finding *f, const struct info *info)
{
	const struct info_fact *fact = info_find(info, "call_filter");

	if (!fact || fact->kind == INFO_MISSING)
		say(f, DOCTOR_UNKNOWN, NULL,
		    "whether a filter of system calls is in force is not known");
	else if (fact->kind == INFO_NONE)
		say(f, DOCTOR_OK, NULL, "no filter of system calls");
	else
		say(f, DOCTOR_NOTE,
		    "Start programs with `ipcwait run`, which tries out what the filter "
		    "allows, rather than with LD_PRELOAD.",
		    "a filter of system calls (%s) is in force: with LD_PRELOAD alone the "
		    "module makes no call that the filter might forbid, and does not wait "
		    "for descriptors",
		    fact->text);
}

static bool names_a_file(void)
{
	const char *named = getenv("IPCWAIT_CALIBRATION");

	return named && *named && strcmp(named, "none") != 0;
}

static void check_calibration(struct doctor_finding *f, const struct info *info)
{
	static const char advice[] = "Run `ipcwait calibrate` when the machine is calm.";
	const struct info_fact *at = info_find(info, "calibration_measured_at");
	double block_ns = 0;

	(void)number(info, "block_cost_ns", &block_ns);
	if (at && at->kind == INFO_TEXT)
		say(f, DOCTOR_OK, NULL,
		    "calibrated at %s: a sleep and its wake cost %.1f us", at->text,
		    block_ns / 1000);
	else if (info_is_saved_tree(info))
		say(f, DOCTOR_UNKNOWN, NULL,
		    "a calibration belongs to a user, and this is a saved tree");
	else if (at && strstr(at->text, "there is no") && names_a_file())
		say(f, DOCTOR_PROBLEM, "Unset it, or run `ipcwait calibrate`.",
		    "IPCWAIT_CALIBRATION names a file that is not there");
	else if (at && strstr(at->text, "there is no"))
		say(f, DOCTOR_NOTE, advice,
		    "there is no saved calibration: programs begin with %.0f us for a "
		    "sleep "
		    "and its wake, and learn",
		    block_ns / 1000);
	else
		say(f, DOCTOR_PROBLEM, advice, "the calibration is not used: %s",
		    at ? at->text : "unknown");
}

static void check_gain(struct doctor_finding *f, const struct info *info)
{
	double block_ns;

	if (!number(info, "block_cost_ns", &block_ns))
		say(f, DOCTOR_UNKNOWN, NULL, "what a sleep and its wake cost is not known");
	else if (!is(info, "block_cost_from", "table") && block_ns < CHEAP_BLOCK_NS)
		say(f, DOCTOR_NOTE, NULL,
		    "a sleep and its wake cost %.1f us only: hand-offs gain, the rest "
		    "little",
		    block_ns / 1000);
	else
		say(f, DOCTOR_OK, NULL,
		    "a sleep and its wake cost %.1f us, a spin that ends "
		    "in time 0.1 us",
		    block_ns / 1000);
}

static void check_preset(struct doctor_finding *f, const struct info *info)
{
	const char *name = text(info, "default_preset");

	if (!name)
		say(f, DOCTOR_UNKNOWN, NULL, "the policy belongs to a process");
	else if (!strcmp(name, "adaptive"))
		say(f, DOCTOR_OK, NULL, "the policy is adaptive");
	else if (!strcmp(name, "block"))
		say(f, DOCTOR_PROBLEM, "Unset IPCWAIT_POLICY.",
		    "IPCWAIT_POLICY=block: nothing spins");
	else
		say(f, DOCTOR_NOTE, "Unset IPCWAIT_POLICY unless you have measured.",
		    "the policy is %s, not adaptive", name);
}

/* The answer to all of it: the library itself was asked. */
static void check_spins(struct doctor_finding *f, const struct info *info)
{
	const char *because = text(info, "spins_here_because");
	double spins;

	if (!number(info, "spins_here", &spins))
		say(f, DOCTOR_UNKNOWN, NULL, "whether a wait spins could not be tried out");
	else if (spins != 0)
		say(f, DOCTOR_OK, NULL, "tried out: %s", because ? because : "it spins");
	else
		say(f, DOCTOR_PROBLEM, NULL, "tried out: a wait does not spin, because %s",
		    because ? because : "of something unknown");
}

/* Beside its waker a thread cannot spin, and each hand-off is a sleep and a switch. */
static void check_place(struct doctor_finding *f, const struct info *info)
{
	struct doctor_place found;

	if (info_is_saved_tree(info)) {
		say(f, DOCTOR_UNKNOWN, NULL,
		    "where woken threads run cannot be told from a saved tree");
		return;
	}
	doctor_place_try(&found);
	if (found.why_not)
		say(f, DOCTOR_UNKNOWN, NULL, "not judged where woken threads run: %s",
		    found.why_not);
	else if (found.beside * 2 > found.wakes)
		say(f, DOCTOR_NOTE,
		    "`ipcwait run` moves threads that wait to idle CPUs, and a linked "
		    "program does with IPCWAIT_PLACE=1. Idle CPUs that poll are chosen: "
		    "haltpoll, idle=poll, or `ipcwait awake` while it holds.",
		    "%u of %u wakes left a thread on its waker's CPU though another was "
		    "idle: in a guest a CPU that has halted counts as preempted, and the "
		    "scheduler does not choose it",
		    found.beside, found.wakes);
	else
		say(f, DOCTOR_OK, NULL,
		    "woken threads get an idle CPU: %u of %u wakes left one on its "
		    "waker's",
		    found.beside, found.wakes);
}

static const struct {
	const char *what;
	void (*check)(struct doctor_finding *f, const struct info *info);
} checks[] = {
	{ "cpus", check_cpus },
	{ "quota", check_quota },
	{ "hypervisor", check_hypervisor },
	{ "steal", check_steal },
	{ "load", check_load },
	{ "idle", check_idle },
	{ "rseq", check_rseq },
	{ "clock", check_clock },
	{ "system_calls", check_calls },
	{ "call_filter", check_filter },
	{ "calibration", check_calibration },
	{ "gain", check_gain },
	{ "policy", check_preset },
	{ "spins", check_spins },
	{ "place", check_place },
};

unsigned doctor_examine(struct doctor_finding all[DOCTOR_FINDINGS_MOST],
			const struct info *info)
{
	const unsigned n = sizeof(checks) / sizeof(checks[0]);

	_Static_assert(sizeof(checks) / sizeof(checks[0]) <= DOCTOR_FINDINGS_MOST, "room");
	for (unsigned i = 0; i < n; i++) {
		all[i] = (struct doctor_finding){ .what = checks[i].what };
		checks[i].check(&all[i], info);
	}
	return n;
}
