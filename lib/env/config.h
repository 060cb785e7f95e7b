/* SPDX-License-Identifier: MIT */
#ifndef IW_ENV_CONFIG_H
#define IW_ENV_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>

/* What the user set in the environment. Zero: not set, or set to nonsense. */
struct iw_config {
	enum ipcwait_preset preset; /* IPCWAIT_POLICY */
	uint32_t max_spin_us;       /* IPCWAIT_MAX_SPIN_US */
};

#define IW_MAX_SPIN_US_LIMIT 100000u

/* Reads the environment; warns on stderr, once a process, of values it has to ignore. */
struct iw_config iw_config_read(void);

/* The parsers by themselves. False: not a legal value, *@value unchanged. */
bool iw_config_parse_preset(const char *text, enum ipcwait_preset *value);
bool iw_config_parse_max_spin_us(const char *text, uint32_t *value);

#endif
