/* SPDX-License-Identifier: MIT */
/* `ipcwait awake`: idle CPUs that poll, while that pays. */
#ifndef CLI_AWAKE_H
#define CLI_AWAKE_H

#include "awake_policy.h"
#include "awake_trial.h"
#include "run.h"

/* Of one CPU. A pair that hands over always keeps one of its two CPUs at work: docs/awake.md */
#define AWAKE_BUDGET_PERCENT 100u

/* What a child has in its environment: the process that watches for it. */
#define AWAKE_VARIABLE "IPCWAIT_AWAKE_BY"

#define AWAKE_DEVICE "/dev/cpu_dma_latency"

enum awake_backend { AWAKE_BACKEND_AUTO, AWAKE_BACKEND_QOS, AWAKE_BACKEND_SPINNER };

struct awake_options {
	enum awake_backend backend;
	unsigned budget_percent;
	bool explain;
	bool alone; /* there is no program: a no is the end */
};

/* What this machine, and the groups and masks of this process, have to offer. */
struct awake_machine {
	unsigned online, usable;       /* CPUs */
	unsigned cpu[AWAKE_CPUS_MOST]; /* the first of those that are online */
	unsigned watched;              /* so many */
	uint64_t usable_mask;          /* of these */
	bool idle_poll;                /* on the kernel's command line */
	double quota_cpus;             /* 0: no limit */
	char driver[64];               /* of idling; "": none */
	bool counters;                 /* how long CPUs idle is told */
	bool poll;                     /* they can poll */
	int device_error;              /* why it cannot be opened; 0: it can */
	int64_t requested_us;          /* by all who hold the device; -1: not known */
	unsigned first, second;   /* the two between which wakes are tried, as places in
					* cpu[]; the same: there is one */
	struct awake_trial trial; /* the last, or the one that is under way */
	const char *known_from;   /* where what it knew before is from */
	uint64_t table_ns;        /* what is taken where nothing is known */
	struct awake_wakes wakes; /* what it has come to */
	const char *wake_from;    /* where the wake of a halted CPU is from */
};

/* What will be done about it, and why not more. */
struct awake_choice {
	bool qos;
	uint64_t spinner_cpus;
	const char *qos_not, *spinner_not; /* NULL: it is possible */
	const char *nothing; /* NULL: at least one is possible, and may help */
	bool again;          /* a trial said so, or could not say: another one may differ */
	char text[352], qos_text[160], spinner_text[160]; /* what they point to */
};

/* The subcommand. Returns an exit status. */
int awake_main(int argc, char **argv);

/*
 * With a trial, which begins no round after @most_ns. Return: 0; the trial is not over: the pause
 * before its next round, in ns.
 */
uint64_t awake_machine_read(struct awake_machine *m, int64_t most_ns);

/*
 * Another trial. awake_machine_round() is one round of it, some 12 ms in which a CPU is busy.
 * Return: the pause before the next round, in ns; 0: it is over. @m has what it has come to.
 */
void awake_machine_ask(struct awake_machine *m);
uint64_t awake_machine_round(struct awake_machine *m);
void awake_choose(struct awake_choice *c, const struct awake_machine *m,
		  const struct awake_options *o);

/* On stdout, for people. */
void awake_print_status(const struct awake_machine *m, const struct awake_choice *c,
			const struct awake_options *o);

/*
 * One round of the trial: wakes of a thread that slept for 30 us on the CPU at place @b, by one at
 * place @a. In @w is 0 for what is not measured, or was disturbed.
 */
void awake_probe_round(const struct awake_machine *m, unsigned a, unsigned b,
		       struct awake_wakes *w);

/* How often a CPU has begun to idle, and in its first state. All 0 where that is not counted. */
struct awake_idles {
	uint64_t all, polls;
};

void awake_idles_read(const struct awake_machine *m, unsigned cpu, struct awake_idles *n);

/* What the CPUs do. */
struct awake_sampler;

/* NULL after one line on stderr. */
struct awake_sampler *awake_sampler_open(const struct awake_machine *m);
void awake_sampler_close(struct awake_sampler *s);

/* From the last call to this one, at @now_ns. Which counts are wanted depends on the mode. */
void awake_sampler_read(struct awake_sampler *s, enum awake_mode mode, int64_t now_ns,
			struct awake_sample *sample);

/* Where the counters are coarse: no two samples nearer than this. */
uint64_t awake_sampler_least_ns(const struct awake_sampler *s);

/* The request of the kernel. Return: 0, or a negative errno. */
int awake_hold_begin(int *fd);
void awake_hold_end(int *fd);

/* The threads that spin. */
struct awake_spinners;

/* On the CPUs of *@mask, in which those stay that have got one. NULL: none has. */
struct awake_spinners *awake_spinners_make(const struct awake_machine *m, uint64_t *mask);
void awake_spinners_set(struct awake_spinners *s, uint64_t mask);

/* They end, and @s with them. */
void awake_spinners_end(struct awake_spinners *s);

/* What they did since the last call, added to @sample. */
void awake_spinners_read(struct awake_spinners *s, struct awake_sample *sample);

/* The loop, as something to be done beside a program. */
struct awake {
	struct run_watch watch;
	struct awake_options options;
	struct awake_machine machine;
	struct awake_choice choice;
	struct awake_policy policy;
	struct awake_sampler *sampler;
	struct awake_spinners *spinners; /* NULL: not made yet */
	struct awake_sample sample;
	int64_t ask_at;   /* the next round of a trial, or the next trial; 0: none */
	bool asking;      /* a trial is under way */
	unsigned asked;   /* trials since the start */
	uint64_t cost_ns; /* of a sample */
	int device;       /* -1: not held */
};

/*
 * Return: 0; -EINVAL: it does nothing, after one line on stderr that says why. There is nothing to
 * close then.
 */
int awake_open(struct awake *a, const struct awake_options *o);
void awake_close(struct awake *a);

#endif
