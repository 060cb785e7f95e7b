/* SPDX-License-Identifier: MIT */
#include "matrix.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define RUNS_MOST 100

static int set_rows(struct matrix *m, char *list)
{
	char *rest = list;

	for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
		if (!*name || m->n_rows == ROWS_MOST)
			return complain("--rows: want 1 to %d names with commas between",
					ROWS_MOST);
		m->row[m->n_rows++] = name;
	}
	return 0;
}

static int set_runs(struct matrix *m, const char *text)
{
	uint64_t n;

	if (number_parse(text, 1, RUNS_MOST, &n))
		return complain("--runs is '%s', but must be a number from 1 to %d",
				shown(text, -1), RUNS_MOST);
	m->runs = (unsigned)n;
	return 0;
}

/* sem_test judges its own arguments, and its complaint comes out as the error of the row. */
static int set(struct matrix *m, const char *name, char *value)
{
	const char **text = !strcmp(name, "--sem-test") ? &m->sem_test
			    : !strcmp(name, "--info")   ? &m->info
			    : !strcmp(name, "--dir")    ? &m->dir
			    : !strcmp(name, "--items")  ? &m->items
			    : !strcmp(name, "--loops")  ? &m->loops
							: NULL;
	if (!strcmp(name, "--rows"))
		return set_rows(m, value);
	if (!strcmp(name, "--runs"))
		return set_runs(m, value);
	if (!text)
		return complain("unknown option '%s'", shown(name, -1));
	*text = value;
	return 0;
}

int matrix_parse(struct matrix *m, int argc, char **argv)
{
	int r = 0;

	*m = (struct matrix){ .sem_test = "/sem_test",
			      .dir = "/tmp",
			      .items = "2000",
			      .loops = "2000",
			      .runs = 1 };
	for (int i = 1; i < argc && !r; i++) {
		if (!strcmp(argv[i], "--guest"))
			m->guest = true;
		else if (i + 1 == argc)
			r = complain("'%s' is unknown or needs a value",
				     shown(argv[i], -1));
		else {
			r = set(m, argv[i], argv[i + 1]);
			i++;
		}
	}
	return r;
}
