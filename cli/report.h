/* SPDX-License-Identifier: MIT */
/* `ipcwait report`: what is in a record of waits, for people and for programs. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "waits_sum.h"

#include <stdio.h>

#define REPORT_LABEL_BYTES 160

/* A record and its sums by what was asked for. */
struct report {
	const struct waits *waits;
	struct waits_sums sums;
	enum waits_by by;
	size_t shown;    /* rows at most */
	bool histograms; /* of each row */
};

/* The subcommand. Returns an exit status. */
int report_main(int argc, char **argv);

/* The forms of output. */
void report_print(FILE *f, const struct report *r);
void report_write_json(FILE *f, const struct report *r);
void report_write_html(FILE *f, const struct report *r);

enum report_weight { REPORT_WAITS, REPORT_TIME, REPORT_CPU };

/* "program;call site;object;why weight", for flamegraph.pl and speedscope; times in us. */
void report_write_folded(FILE *f, const struct waits *w, enum report_weight weight);

/* "length in ns, address of the object", for policy_sim. */
void report_write_waits(FILE *f, const struct waits *w);

/* "7.5 us", in up to seven columns. */
#define REPORT_TIME_BYTES 24
const char *report_time(char text[REPORT_TIME_BYTES], uint64_t ns);

/* "sem", "" for what is not known. */
const char *report_kind(unsigned kind);

/* "window_over"; "no sleep" for 0. */
const char *report_reason(unsigned reason);

#endif
