/* SPDX-License-Identifier: MIT */
/*
 * What is learned once about the machine and the process's configuration, and then only
 * read. Gathering takes up to half a millisecond, so it waits for the first
 * contended wait; nothing happens at load time but one look at the clock (env/tick.c) and two
 * loads that find libc's rseq area (os/rseq.c).
 */
#ifndef IW_ENV_FACTS_H
#define IW_ENV_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/calibration.h>

#include "env/config.h"
#include "env/tick.h"

struct iw_facts {
	struct iw_tick_rate rate;
	uint32_t cpus; /* that the process may use, as far as its first waiter can tell */
	uint32_t
		quota_hundredths; /* of a CPU, by its control groups; 0: no limit is known */
	bool virtual_machine;
	bool dedicated;  /* the hypervisor promises not to take vCPUs away */
	bool monitor;    /* a spin may rest until its cache line is written to */
	bool calibrated; /* there is a saved calibration, and it is believed */
	bool observed;   /* config.explain, or config.record_path is set */
	struct iw_config config;
	struct ipcwait_calibration calibration;
};

/*
 * The facts, gathered by the first caller. Threads that come meanwhile gather for
 * themselves, and the first to finish wins, so nobody waits and a fork cannot cut a
 * gathering in half. NULL if a great many did so at once: then there are no facts yet.
 * Not async-signal-safe.
 */
const struct iw_facts *iw_facts(void);

/* The facts if they have been gathered already, else NULL. */
const struct iw_facts *iw_facts_known(void);

#endif
