/* SPDX-License-Identifier: MIT */
/*
 * What is learned once about the machine and the process's configuration, and then only read.
 * It takes files and the environment, which no wait may touch: the program may have locked
 * itself out of the one, or guard the other with the very lock that is waited for. So it is
 * gathered when the library is loaded; what takes neither, the counter's rate and the CPU's own
 * answers, is added by the first wait that is not satisfied at once.
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
	uint32_t cpus; /* that the process may use, as far as its first thread can tell */
	uint32_t
		quota_hundredths; /* of a CPU, by its control groups; 0: no limit is known */
	bool virtual_machine;
	bool dedicated;  /* the hypervisor promises not to take vCPUs away */
	bool monitor;    /* a spin may rest until its cache line is written to */
	bool calibrated; /* there is a saved calibration, and it is believed */
	bool observed;   /* config.explain, or config.record_path is set */
	bool movable;    /* there is a second CPU that a thread could be moved to */
	struct iw_config config;
	struct ipcwait_calibration calibration;
};

/*
 * With a smaller quota, in hundredths of a CPU, a spinner and the thread it waits for would
 * use it up together, and then both stop for tens of milliseconds.
 */
#define IW_QUOTA_LEAST 150

static inline bool iw_rationed(const struct iw_facts *facts)
{
	return facts->quota_hundredths && facts->quota_hundredths < IW_QUOTA_LEAST;
}

/* Threads may be moved unless IPCWAIT_PLACE says no. Set before the library's constructors run. */
extern bool iw_place_is_default;

/*
 * The facts, completed by the first caller. Threads that come meanwhile complete a copy of their
 * own, and the first to finish wins, so nobody waits and a fork cannot cut the work in half.
 * NULL if a great many did so at once: then there are no facts yet. No system calls, but in a
 * program that waits before the library's constructors have run. Not async-signal-safe.
 */
const struct iw_facts *iw_facts(void);

/*
 * For tests, before the first call of iw_facts(): leave it to that call to gather everything, in
 * the world that the test has made by then.
 */
void iw_facts_forget(void);

/* The facts if they have been gathered already, else NULL. */
const struct iw_facts *iw_facts_known(void);

#endif
