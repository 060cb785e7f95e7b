/* SPDX-License-Identifier: MIT */
/*
 * Where figures were measured. Nothing here needs privileges; what cannot be read is
 * "not available".
 */
#ifndef TOOLS_MACHINE_H
#define TOOLS_MACHINE_H

struct json;

struct machine {
	char hypervisor[64]; /* its name, "yes, name not available", "none seen" */
	char cpu[80];
	char kernel[96];
	char clock_source[32];
	char idle_driver[32];
	char idle_governor[32];
	char idle_states[96];
	char guest_halt_poll_ns
		[32];          /* how long the guest polls before its idle loop halts */
	char load_average[32]; /* of the last minute */
	unsigned cpus_usable;
	unsigned cpus_online;
};

void machine_read(struct machine *m);

/* As members of the object that is open. */
void machine_write(struct json *j, const struct machine *m);

/* CPU seconds of all CPUs so far, to 10 ms. */
struct machine_time {
	double busy_s;
	double stolen_s; /* by the host; 0 where the kernel does not count it */
};

/* Return: 0, or -1: not available. */
int machine_time_read(struct machine_time *t);

/* CPU seconds of what getrusage() knows as @who; 0 if it knows nothing. */
double machine_own_seconds(int who);

#endif
