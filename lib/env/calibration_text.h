/* SPDX-License-Identifier: MIT */
/*
 * The saved calibration as text, one fact a line, always in this order:
 *
 *	ipcwait-calibration 1
 *	boot 5b1c9e20-7f43-4d18-9a6e-2c04d7b8f135      the key: five lines, free text
 *	kernel 6.1.0-18-amd64
 *	cpu ...
 *	idle ...
 *	affinity ...
 *	measured_at_s 1764000000                       the single figures
 *	...
 *	pair 3 0 1 112                                 distance, CPUs, line_ns; then its ages:
 *	age 5000 15100 16800 22100 8100 32 0           as struct ipcwait_wake_latency
 *	...
 *	end 0c51b3a9                                   FNV-1a of all lines above
 *
 * Pure functions: no file and no clock. What is read is believed only as a whole, and only if
 * every line is there and every number is one that a calibration can give.
 */
#ifndef IW_ENV_CALIBRATION_TEXT_H
#define IW_ENV_CALIBRATION_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ipcwait/calibration.h>

#include "env/calibration_rules.h"

/* Longest line, without its end, and longest text that can be written. */
#define IW_CALIBRATION_LINE_BYTES 160
#define IW_CALIBRATION_TEXT_BYTES 8192

enum iw_calibration_key_part {
	IW_KEY_BOOT,
	IW_KEY_KERNEL,
	IW_KEY_CPU,
	IW_KEY_IDLE,
	IW_KEY_AFFINITY,
	IW_KEY_PARTS,
};

/*
 * What a calibration holds for. One that differs in any part is of no use, nor is any where the
 * machine does not tell which boot this is. Plain ASCII.
 */
#define IW_KEY_UNKNOWN "-"
struct iw_calibration_key {
	char part[IW_KEY_PARTS][128];
};

enum iw_calibration_verdict {
	IW_CALIBRATION_GOOD,
	IW_CALIBRATION_OTHER,   /* of another machine, boot or version of the format */
	IW_CALIBRATION_DAMAGED, /* not what this library writes */
};

struct iw_calibration_parser {
	const struct iw_calibration_key *key;
	struct ipcwait_calibration *c;
	char line[IW_CALIBRATION_LINE_BYTES + 1];
	unsigned length; /* of the line so far */
	unsigned lines;  /* complete ones */
	uint32_t sum;    /* of the complete ones */
	bool other, ended, damaged;
};

/* Returns the length of the text, or -EINVAL if @c holds what no calibration can. */
int iw_calibration_format(char text[IW_CALIBRATION_TEXT_BYTES],
			  const struct iw_calibration_key *key,
			  const struct ipcwait_calibration *c);

/* Feed any number of bytes at a time. *@c is filled in, and of use if the verdict is GOOD. */
void iw_calibration_parse_begin(struct iw_calibration_parser *p,
				const struct iw_calibration_key *key,
				struct ipcwait_calibration *c);
void iw_calibration_parse(struct iw_calibration_parser *p, const char *bytes, size_t n);
enum iw_calibration_verdict iw_calibration_parse_end(const struct iw_calibration_parser *p);

/* FNV-1a in 32 bits, to go on from @sum. Tells damage, not malice. */
#define IW_FNV_BEGIN UINT32_C(2166136261)
uint32_t iw_fnv(uint32_t sum, const void *bytes, size_t n);

/* Where the lines are, and what they begin with. */
#define IW_CALIBRATION_MAGIC   "ipcwait-calibration "
#define IW_CALIBRATION_VERSION "1"
#define IW_LINE_KEY            1u
#define IW_LINE_FIGURES        (IW_LINE_KEY + IW_KEY_PARTS)
#define IW_LINE_PAIRS          (IW_LINE_FIGURES + IW_FIGURES)
#define IW_LINES_PER_PAIR      (1u + IPCWAIT_IDLE_AGES)
extern const char *const iw_calibration_key_names[IW_KEY_PARTS];

#endif
