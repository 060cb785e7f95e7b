/* SPDX-License-Identifier: MIT */
/* `ipcwait awake`: idle CPUs that poll, while that pays. */
#ifndef CLI_AWAKE_H
#define CLI_AWAKE_H

#include "awake_policy.h"
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
	uint64_t wake_ns;              /* of a halted CPU */
	const char *wake_from;         /* where that is from */
	uint64_t spinner_ns,
		polled_ns; /* of one with a spinner, that polls; 0: not known */
};

/* What will be done about it, and why not more. */
struct awake_choice {
	bool qos;
	uint64_t spinner_cpus;
	const char *qos_not, *spinner_not; /* NULL: it is possible */
	const char *nothing; /* NULL: at least one is possible, and may help */
	char text[352], qos_text[160], spinner_text[160]; /* what they point to */
};

/* The subcommand. Returns an exit status. */
int awake_main(int argc, char **argv);

void awake_machine_read(struct awake_machine *m);
void awake_choose(struct awake_choice *c, const struct awake_machine *m,
		  const struct awake_options *o);

/* On stdout, for people. */
void awake_print_status(const struct awake_machine *m, const struct awake_choice *c,
			const struct awake_options *o);

/*
 * Half the wakes of a thread that had been asleep for 30 us took this long or less, in ns; 0 if
 * that cannot be measured. Some 10 ms. Threads on CPUs @a and @b.
 */
uint64_t awake_probe_ns(unsigned a, unsigned b);

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
	int64_t last_ns;
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
