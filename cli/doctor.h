/* SPDX-License-Identifier: MIT */
/* `ipcwait doctor`: what on this machine would keep the library from helping. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "info.h"

/* The subcommand. Returns an exit status. */
int doctor_main(int argc, char **argv);

enum doctor_verdict {
	DOCTOR_OK,
	DOCTOR_NOTE,    /* worth knowing */
	DOCTOR_PROBLEM, /* nothing, or little, will be gained before it is mended */
	DOCTOR_UNKNOWN, /* it cannot be told here */
};

#define DOCTOR_BYTES 320

struct doctor_finding {
	const char *what; /* of the table of checks, for programs */
	enum doctor_verdict verdict;
	char text[DOCTOR_BYTES];
	const char *advice; /* what to do about it; NULL: nothing */
};

/* Return: how many findings there are, in the order of the checks. @all has room for them. */
#define DOCTOR_FINDINGS_MOST 16
unsigned doctor_examine(struct doctor_finding all[DOCTOR_FINDINGS_MOST],
			const struct info *info);

#endif
