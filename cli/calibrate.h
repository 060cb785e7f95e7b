/* SPDX-License-Identifier: MIT */
#ifndef CLI_CALIBRATE_H
#define CLI_CALIBRATE_H

#include <ipcwait/calibration.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What the user asked for. */
struct options {
	bool thorough;
	bool no_save, force;
	const char *json; /* path, "-" or NULL */
	const char *svg;  /* path or NULL */
};

/* What came of it. */
struct calibrate_result {
	const struct options *options;
	struct ipcwait_calibration before, now;
	double seconds;
	double other_cpus; /* that other programs kept busy meanwhile; negative: unknown */
	int saved;         /* 0, or the negative errno of saving; only unless no_save */
	bool refused;      /* it was not saved, as it was disturbed */
	char path[PATH_MAX];
};

/* The subcommand. Returns an exit status. */
int calibrate_main(int argc, char **argv);

/* More that other programs keep busy is a disturbance. */
#define CALIBRATE_CPUS 0.1

/* Something else ran, or most of what was measured had to be thrown away: do not believe it. */
static inline bool calibrate_disturbed(const struct calibrate_result *r)
{
	return r->other_cpus > CALIBRATE_CPUS ||
	       r->now.samples_discarded > r->now.samples_used;
}

/* Its three forms of output; the last returns 0, or -EINVAL after a message. */
void calibrate_print(FILE *f, const struct calibrate_result *r);
void calibrate_write_json(FILE *f, const struct calibrate_result *r);
int calibrate_draw(FILE *f, const struct calibrate_result *r);

/* "one L3 cache" */
const char *calibrate_distance(uint32_t distance);

#endif
