/* SPDX-License-Identifier: MIT */
/* Whether the scheduler gives a woken thread a CPU that is idle, tried out in 0.1 s. */
#ifndef CLI_DOCTOR_PLACE_H
#define CLI_DOCTOR_PLACE_H

struct doctor_place {
	const char *why_not; /* it cannot be told; NULL: it can */
	unsigned wakes;      /* of a thread that slept, while another CPU was idle */
	unsigned beside;     /* of these, after which it ran on its waker's CPU */
};

void doctor_place_try(struct doctor_place *p);

#endif
