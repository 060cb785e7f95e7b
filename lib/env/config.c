/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/config.h"
#include "os/file.h"
#include "os/seam.h"

static const struct {
	const char *name;
	enum ipcwait_preset preset;
} presets[] = {
	{ "adaptive", IPCWAIT_ADAPTIVE }, { "latency", IPCWAIT_LATENCY },
	{ "power", IPCWAIT_POWER },       { "spin", IPCWAIT_SPIN },
	{ "block", IPCWAIT_BLOCK },
};

bool iw_config_parse_preset(const char *text, enum ipcwait_preset *value)
{
	for (unsigned i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		if (strcmp(text, presets[i].name) == 0) {
			*value = presets[i].preset;
			return true;
		}
	}
	return false;
}

/* Digits only: strtoul() would take signs, blanks and other bases. */
bool iw_config_parse_max_spin_us(const char *text, uint32_t *value)
{
	uint32_t n = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		n = n * 10 + (uint32_t)(*text - '0');
		if (n > IW_MAX_SPIN_US_LIMIT)
			return false;
	}
	if (n == 0)
		return false;
	*value = n;
	return true;
}

/* The value itself is not printed: it may be long or hold control characters. */
static void warn(const char *name, const char *allowed)
{
	char text[160];
	int n = snprintf(text, sizeof(text), "libipcwait: %s ignored: not %s\n", name,
			 allowed);

	iw_file_complain(text, n > 0 && (size_t)n < sizeof(text) ? (size_t)n : 0);
}

struct iw_config iw_config_read(void)
{
	static struct ipcwait_word32 readings;
	struct iw_config c = { IPCWAIT_INHERIT, 0 };
	const char *preset = secure_getenv("IPCWAIT_POLICY");
	const char *max_spin = secure_getenv("IPCWAIT_MAX_SPIN_US");
	/* ORD config.X1: relaxed, no order needed: only tells the first reading. */
	bool first = ipcwait_impl_add32_relaxed(&readings, 1) == 0;

	if (preset && !iw_config_parse_preset(preset, &c.preset) && first)
		warn("IPCWAIT_POLICY", "one of adaptive, latency, power, spin, block");
	if (max_spin && !iw_config_parse_max_spin_us(max_spin, &c.max_spin_us) && first)
		warn("IPCWAIT_MAX_SPIN_US", "a number from 1 to 100000");
	return c;
}
