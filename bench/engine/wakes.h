/* SPDX-License-Identifier: MIT */
/*
 * Two worlds: wakes cost what they cost on this machine, or next to nothing. An open
 * /dev/cpu_dma_latency with a zero in it keeps idle CPUs awake, so that a wake-up interrupts
 * nothing; closing it undoes that. It needs root, as a rule.
 */
#ifndef WAIT_BENCH_WAKES_H
#define WAIT_BENCH_WAKES_H

#define WAKES_DEVICE "/dev/cpu_dma_latency"

enum wakes {
	WAKES_FOUND, /* as the machine has them */
	WAKES_CHEAP, /* the device is held at 0 */
	WAKES_KINDS,
};

/* "as found", "cheap" */
extern const char *const wakes_names[WAKES_KINDS];

/* From now on wakes are cheap. Return: what wakes_release() takes, or -errno. */
int wakes_hold(void);
void wakes_release(int fd);

/* The idle governor keeps its habits for up to a second after a change. */
void wakes_settle(void);

#endif
