/* SPDX-License-Identifier: MIT */
#ifndef POLICY_SIM_OPTIONS_H
#define POLICY_SIM_OPTIONS_H

#include "suite.h"

#include <stdbool.h>

#define BLOCKS_MOST 8

struct options {
	uint64_t blocks_us[BLOCKS_MOST];
	size_t n_blocks;
	uint64_t seed;
	size_t n_waits; /* of each synthetic member; 0: there are none */
	uint32_t rules; /* a bit for each of rules[] */
	const char *trace_paths[TRACES_MOST];
	size_t n_traces;
	const char *json_path, *svg_path; /* NULL for none */
	bool suite, members, check;
};

/* Return: 0; 1 if help was asked for and given; -EINVAL after one line on stderr. */
int options_parse(struct options *o, int argc, char **argv);

#endif
