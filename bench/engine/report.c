/* SPDX-License-Identifier: MIT */
#include "report.h"
#include "row.h"
#include "../../tools/common/median.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* From this many rounds on, the first and the last are dropped. */
#define ENOUGH_TO_DROP 3

/* Rows shorter than this say nothing about others: the machine counts in 10 ms. */
#define DISTURBED_SECONDS 1

struct report *report_create(unsigned rounds)
{
	struct report *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool drop = rounds >= ENOUGH_TO_DROP;

	if (r == MAP_FAILED)
		return NULL;
	r->rounds = rounds;
	r->first_kept = drop;
	r->n_kept = drop ? rounds - 2 : rounds;
	r->busy_others = NAN;
	return r;
}

void report_columns(struct report *r, const struct column *columns, unsigned n)
{
	memcpy(r->columns, columns, n * sizeof(*columns));
	r->n_columns = n;
}

/* What does not fit is a mistake in this program. */
static unsigned next(unsigned *n, unsigned most)
{
	if (*n == most)
		give_up("more results than there is room for");
	return (*n)++;
}

struct line *report_line(struct report *r, const char *point, const char *variant)
{
	struct line *line = &r->lines[next(&r->n_lines, LINES_MOST)];

	snprintf(line->point, sizeof(line->point), "%s", point);
	snprintf(line->variant, sizeof(line->variant), "%s", variant);
	for (unsigned c = 0; c < COLUMNS_MOST; c++)
		for (unsigned i = 0; i < ROUNDS_MOST; i++)
			line->value[c][i] = NAN;
	return line;
}

struct curve *report_curve(struct report *r, const char *name)
{
	struct curve *curve = &r->curves[next(&r->n_curves, CURVES_MOST)];

	snprintf(curve->name, sizeof(curve->name), "%s", name);
	curve->n = 0;
	return curve;
}

void report_note(struct report *r, const char *format, ...)
{
	char *note = r->notes[next(&r->n_notes, NOTES_MOST)];
	va_list args;

	va_start(args, format);
	vsnprintf(note, sizeof(r->notes[0]), format, args);
	va_end(args);
}

void report_unavailable(struct report *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->unavailable, sizeof(r->unavailable), format, args);
	va_end(args);
}

static struct bar *add_bar(struct report *r, double value, double limit)
{
	struct bar *b = &r->bars[next(&r->n_bars, BARS_MOST)];

	b->value = value;
	b->limit = limit;
	return b;
}

void report_bar(struct report *r, double value, double limit, const char *format, ...)
{
	struct bar *b = add_bar(r, value, limit);
	va_list args;

	va_start(args, format);
	vsnprintf(b->text, sizeof(b->text), format, args);
	va_end(args);
}

void report_bar_at_least(struct report *r, double value, double limit, const char *format,
			 ...)
{
	struct bar *b = add_bar(r, value, limit);
	va_list args;

	b->at_least = true;
	va_start(args, format);
	vsnprintf(b->text, sizeof(b->text), format, args);
	va_end(args);
}

double report_median(const struct report *r, const double *of_rounds)
{
	double v[ROUNDS_MOST];

	memcpy(v, of_rounds + r->first_kept, r->n_kept * sizeof(*v));
	return median(v, r->n_kept);
}

double report_worst(const struct report *r, const double *of_rounds)
{
	double most = of_rounds[0];

	for (unsigned i = 1; i < r->rounds; i++)
		most = fmax(most, of_rounds[i]);
	return most;
}

bool report_disturbed(const struct report *r)
{
	return r->seconds >= DISTURBED_SECONDS && r->busy_others > DISTURBED;
}

bool report_reached(const struct bar *b)
{
	/* Of nothing, as where a pair got no CPU, nothing is said. */
	if (!isfinite(b->value))
		return false;
	return b->at_least ? b->value >= b->limit : b->value <= b->limit;
}
