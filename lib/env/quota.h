/* SPDX-License-Identifier: MIT */
/*
 * The share of the CPUs that the process's control groups may use. When it is used up, every
 * thread stops until the next period, 0.1 s as a rule: a spinning thread spends what the
 * thread that it waits for would need.
 */
#ifndef IW_ENV_QUOTA_H
#define IW_ENV_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "env/cgroup.h"
#include "env/tick.h"

struct iw_quota {
	uint32_t hundredths; /* CPUs times 100; 0: none known */
	bool throttled;      /* the groups were stopped in the last second */
};

/* iw_quota.hundredths, and the top bit if throttled. */
extern struct ipcwait_word32 iw_quota_word;

#define IW_QUOTA_THROTTLED 0x80000000u

/* As it was when it was read last. */
static inline struct iw_quota iw_quota(void)
{
	/* ORD quota.X1: relaxed, hint: all of it is in this word, and a stale one is legal. */
	uint32_t word = ipcwait_impl_load32_relaxed(&iw_quota_word);

	return (struct iw_quota){ word & ~IW_QUOTA_THROTTLED, word & IW_QUOTA_THROTTLED };
}

/*
 * Read it again if that is due: ten times a second, by one thread at a time while the others
 * go on. The groups themselves are looked for once a second.
 */
void iw_quota_refresh(const struct iw_tick_rate *rate, uint64_t now);

/* What is kept between two readings. All zero to begin with. */
struct iw_quota_watch {
	struct iw_cgroup_names names;
	struct iw_cgroup_places places;
	bool found, counted; /* places and throttled are of these groups */
	bool stopped;        /* there was a stop, and stopped_at is its time */
	uint64_t found_at;   /* ticks */
	uint64_t read_at;    /* ticks */
	uint64_t stopped_at; /* ticks */
	uint64_t throttled;  /* iw_cgroup_limits.throttled at the last reading */
};

/* One reading by itself, for tests. */
struct iw_quota iw_quota_watch(struct iw_quota_watch *w, const char *root,
			       const struct iw_tick_rate *rate, uint64_t now);

#endif
