/* SPDX-License-Identifier: MIT */
/*
 * What the user sets in the environment, but for IPCWAIT_CALIBRATION, which is read in
 * env/calibration_file.c. A variable that holds anything but a legal value counts as not set,
 * after one line on stderr; so does one that is empty, without. In a program with more rights than
 * its user (secure mode) none is set.
 */
#ifndef IW_ENV_CONFIG_H
#define IW_ENV_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

/* Longest path, with its end. */
#define IW_CONFIG_PATH_BYTES 1024

/* The parameters of the haltpoll preset, with the names that the kernel's governor gives them. */
struct iw_haltpoll {
	uint32_t guest_halt_poll_ns; /* the most */
	uint32_t guest_halt_poll_grow;
	uint32_t guest_halt_poll_grow_start;
	uint32_t guest_halt_poll_shrink;
};

struct iw_config {
	enum ipcwait_preset preset;  /* IPCWAIT_POLICY; IPCWAIT_INHERIT: not set */
	uint32_t max_spin_us;        /* IPCWAIT_MAX_SPIN_US; 0: not set */
	int32_t spin_budget_percent; /* IPCWAIT_SPIN_BUDGET; -1: not set */
	struct iw_haltpoll haltpoll; /* IPCWAIT_HALTPOLL, or the kernel's defaults */
	bool stats;                  /* IPCWAIT_STATS */
	bool explain;                /* IPCWAIT_EXPLAIN */
	bool page;                   /* IPCWAIT_PAGE, read in lib/watch/page.c */
	int8_t place;                /* IPCWAIT_PLACE; -1: not set */
	char record_path
		[IW_CONFIG_PATH_BYTES]; /* IPCWAIT_RECORD, with %p and %%; empty: not set */
};

#define IW_MAX_SPIN_US_LIMIT     100000u
#define IW_HALTPOLL_FACTOR_LIMIT 1000

/* Reads the environment; warns on stderr, once a process, of values it has to ignore. */
void iw_config_read(struct iw_config *c);

/* One line on stderr, once for each counter, also if several threads come. */
void iw_config_warn_once(struct ipcwait_word32 *warnings, const char *what,
			 const char *why);

/* The same of a variable and its value. */
void iw_config_warn_once_of(struct ipcwait_word32 *warnings, const char *name,
			    const char *value, const char *why);

/* One variable. take() returns false for an illegal value and then leaves @c unchanged. */
struct iw_setting {
	const char *name;
	const char *illegal; /* what is wrong with any other value, for people */
	bool (*take)(struct iw_config *c, const char *text);
};

#define IW_SETTINGS 9
extern const struct iw_setting iw_settings[IW_SETTINGS];

/* One more variable, for a part that not every program has; NULL: not set, or in secure mode. */
const char *iw_config_variable(const char *name);

/* "0" or "1". False: @on unchanged. */
bool iw_config_take_switch(bool *on, const char *text);

/* Copy an absolute path that fits and holds no control characters. False: @path unchanged. */
bool iw_config_take_path(char path[IW_CONFIG_PATH_BYTES], const char *text);

#endif
