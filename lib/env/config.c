/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/config.h"
#include "os/file.h"
#include "os/seam.h"

/* Longest number, leading zeros included: a megabyte of them is a mistake. */
#define DIGITS_MOST 18

/* Longest of what is shown of a value, with its end; and of a warning. */
#define SHOWN_BYTES   33
#define WARNING_BYTES 256

/* Those of Linux 6.x: drivers/cpuidle/governors/haltpoll.c. */
static const struct iw_haltpoll haltpoll_defaults = { 200000, 2, 50000, 2 };

static bool take_preset(struct iw_config *c, const char *text)
{
	static const char *const names[] = {
		[IPCWAIT_ADAPTIVE] = "adaptive", [IPCWAIT_LATENCY] = "latency",
		[IPCWAIT_POWER] = "power",       [IPCWAIT_SPIN] = "spin",
		[IPCWAIT_BLOCK] = "block",       [IPCWAIT_HALTPOLL] = "haltpoll",
		[IPCWAIT_TICKS] = "ticks",
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i] && strcmp(text, names[i]) == 0) {
			c->preset = (enum ipcwait_preset)i;
			return true;
		}
	}
	return false;
}

/* Digits only: strtoul() would take signs, blanks and other bases. -1 if it is no number. */
static int64_t number(const char *text)
{
	int64_t n = 0;
	unsigned digits = 0;

	for (; *text >= '0' && *text <= '9'; text++) {
		if (++digits > DIGITS_MOST)
			return -1;
		n = n * 10 + (*text - '0');
	}
	return digits && !*text ? n : -1;
}

static bool take_max_spin(struct iw_config *c, const char *text)
{
	int64_t us = number(text);

	if (us < 1 || us > IW_MAX_SPIN_US_LIMIT)
		return false;
	c->max_spin_us = (uint32_t)us;
	return true;
}

static bool take_spin_budget(struct iw_config *c, const char *text)
{
	int64_t percent = number(text);

	if (percent < 0 || percent > 100)
		return false;
	c->spin_budget_percent = (int32_t)percent;
	return true;
}

/* Longest text of a number in a list. */
#define NUMBER_BYTES 24

/* @n numbers with a comma between two; -1 where there is none. False if that is not all. */
static bool numbers(const char *text, int64_t *list, unsigned n)
{
	char copy[NUMBER_BYTES] = "";

	while (n--) {
		size_t length = strcspn(text, ",");

		if (length >= sizeof(copy))
			return false;
		memcpy(copy, text, length);
		copy[length] = '\0';
		*list++ = number(copy);
		text += length;
		if (n && *text++ != ',')
			return false;
	}
	return !*text;
}

static bool within(int64_t n, int64_t least, int64_t most)
{
	return n >= least && n <= most;
}

static bool take_haltpoll(struct iw_config *c, const char *text)
{
	enum { MOST, GROW, START, SHRINK, PARAMETERS };
	int64_t limit_ns = INT64_C(1000) * IW_MAX_SPIN_US_LIMIT, p[PARAMETERS];

	if (!numbers(text, p, PARAMETERS) || !within(p[MOST], 1, limit_ns) ||
	    !within(p[GROW], 1, IW_HALTPOLL_FACTOR_LIMIT) ||
	    !within(p[START], 0, limit_ns) ||
	    !within(p[SHRINK], 0, IW_HALTPOLL_FACTOR_LIMIT))
		return false;
	c->haltpoll = (struct iw_haltpoll){ (uint32_t)p[MOST], (uint32_t)p[GROW],
					    (uint32_t)p[START], (uint32_t)p[SHRINK] };
	return true;
}

bool iw_config_take_switch(bool *on, const char *text)
{
	int64_t n = number(text);

	if (n != 0 && n != 1)
		return false;
	*on = n == 1;
	return true;
}

static bool take_stats(struct iw_config *c, const char *text)
{
	return iw_config_take_switch(&c->stats, text);
}

static bool take_explain(struct iw_config *c, const char *text)
{
	return iw_config_take_switch(&c->explain, text);
}

bool iw_config_take_path(char path[IW_CONFIG_PATH_BYTES], const char *text)
{
	size_t length = strnlen(text, IW_CONFIG_PATH_BYTES);

	if (*text != '/' || length == IW_CONFIG_PATH_BYTES)
		return false;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			return false;
	memcpy(path, text, length + 1);
	return true;
}

static bool take_page(struct iw_config *c, const char *text)
{
	return iw_config_take_switch(&c->page, text);
}

static bool take_place(struct iw_config *c, const char *text)
{
	bool on = false;

	if (!iw_config_take_switch(&on, text))
		return false;
	c->place = on ? 1 : 0;
	return true;
}

/* A copy: the program may change its environment later. */
static bool take_record(struct iw_config *c, const char *text)
{
	for (const char *at = text; (at = strchr(at, '%')); at += 2)
		if (at[1] != 'p' && at[1] != '%')
			return false;
	return iw_config_take_path(c->record_path, text);
}

const struct iw_setting iw_settings[IW_SETTINGS] = {
	{ "IPCWAIT_POLICY",
	  "not one of adaptive, latency, power, spin, block, haltpoll, ticks",
	  take_preset },
	{ "IPCWAIT_MAX_SPIN_US", "not a number from 1 to 100000", take_max_spin },
	{ "IPCWAIT_SPIN_BUDGET", "not a number from 0 to 100", take_spin_budget },
	{ "IPCWAIT_HALTPOLL",
	  "not four numbers with commas between: ns at most, grow, ns to start with, "
	  "shrink",
	  take_haltpoll },
	{ "IPCWAIT_STATS", "not 0 or 1", take_stats },
	{ "IPCWAIT_EXPLAIN", "not 0 or 1", take_explain },
	{ "IPCWAIT_PAGE", "not 0 or 1", take_page },
	{ "IPCWAIT_PLACE", "not 0 or 1", take_place },
	{ "IPCWAIT_RECORD",
	  "not an absolute path below 1024 bytes of printable text, with %p for the number "
	  "of "
	  "the process",
	  take_record },
};

const char *iw_config_variable(const char *name)
{
	const char *text = secure_getenv(name);

	return text && *text ? text : NULL;
}

/* What the user has set, which may be long or hold control characters. */
static void show(char shown[SHOWN_BYTES], const char *value)
{
	size_t n = 0;

	for (; value[n] && n < SHOWN_BYTES - 1; n++)
		shown[n] = (char)(value[n] < ' ' || value[n] > '~' ? '?' : value[n]);
	shown[n] = '\0';
	if (value[n])
		memcpy(shown + n - 3, "...", 3);
}

void iw_config_warn_once_of(struct ipcwait_word32 *warnings, const char *name,
			    const char *value, const char *why)
{
	char shown[SHOWN_BYTES], what[2 * SHOWN_BYTES];

	show(shown, value);
	(void)snprintf(what, sizeof(what), "%s='%s'", name, shown);
	iw_config_warn_once(warnings, what, why);
}

void iw_config_warn_once(struct ipcwait_word32 *warnings, const char *what, const char *why)
{
	char text[WARNING_BYTES];
	int n = snprintf(text, sizeof(text), "libipcwait: %s ignored: %s\n", what, why);

	/* ORD config.X1: relaxed, no order needed: only tells the first warning. */
	if (ipcwait_impl_add32_relaxed(warnings, 1) == 0 && n > 0)
		iw_file_complain(text, (size_t)n < sizeof(text) ? (size_t)n : 0);
}

void iw_config_read(struct iw_config *c)
{
	static struct ipcwait_word32 warnings[IW_SETTINGS];

	*c = (struct iw_config){ .preset = IPCWAIT_INHERIT,
				 .spin_budget_percent = -1,
				 .place = -1,
				 .haltpoll = haltpoll_defaults };
	for (unsigned i = 0; i < IW_SETTINGS; i++) {
		const char *text = secure_getenv(iw_settings[i].name);

		if (text && *text && !iw_settings[i].take(c, text))
			iw_config_warn_once_of(&warnings[i], iw_settings[i].name, text,
					       iw_settings[i].illegal);
	}
}
