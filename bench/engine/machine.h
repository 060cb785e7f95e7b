/* SPDX-License-Identifier: MIT */
/*
 * Where the figures were measured, and how busy it was. Nothing here needs privileges; what
 * cannot be read is "not available".
 */
#ifndef WAIT_BENCH_MACHINE_H
#define WAIT_BENCH_MACHINE_H

struct machine {
	char cpu[80];
	char kernel[96];
	char clock_source[32];
	char idle_driver[32];
	char idle_governor[32];
	char guest_halt_poll_ns[32];
	char load_average[32]; /* of the last minute */
	unsigned cpus_usable;
	unsigned cpus_online;
	unsigned clock_cost_ns; /* of one reading */
};

void machine_read(struct machine *m);

/* CPU seconds, busy or stolen, of all CPUs so far, to 10 ms; negative: not available. */
double machine_cpu_seconds(void);

/* CPU seconds of this program's processes that have ended, and been waited for. */
double machine_own_cpu_seconds(void);

#endif
