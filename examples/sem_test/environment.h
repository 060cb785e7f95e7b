/* SPDX-License-Identifier: MIT */
/*
 * Where the figures were measured. Nothing here needs privileges; what cannot be read is
 * "not available".
 */
#ifndef SEM_TEST_ENVIRONMENT_H
#define SEM_TEST_ENVIRONMENT_H

struct environment {
	char hypervisor[64]; /* its name, "yes, name not available", "none seen" */
	char cpu[80];
	char kernel[96];
	char clock[32];
	char idle_driver[32];
	char idle_governor[32];
	char idle_states[96];
	char guest_halt_poll_ns
		[24];          /* how long the guest's idle loop polls before it halts */
	char load_average[24]; /* of the last minute, when the program began */
	unsigned cpus_usable;
	unsigned cpus_online;
};

void environment_read(struct environment *e);

#endif
