/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "watch/record.c"

#include <stdlib.h>

#include "os/file.h"

#define PATH "/record"

/* Lines that scenarios may write to, from the first on and up to the one beyond the last. */
#define FIRST_LINES 8
#define LAST_LINES  4

static char text[(IW_RECORD_LINES + 1) * LINE_BYTES];
static struct ipcwait_word32 used;
static struct ipcwait_window window;

/* Notes of the test's own. */
static volatile unsigned files, complaints, waits;
static volatile bool fails;

void iw_file_complain(const char *complaint, size_t size)
{
	(void)complaint;
	(void)size;
	complaints++;
}

int iw_trace_file_create(struct iw_trace_file *t, const char *path, size_t bytes)
{
	(void)path;
	model_assert(bytes == IW_RECORD_LINES * LINE_BYTES);
	files++;
	fails = model_choose(2, "the file cannot be made") == 1;
	if (fails)
		return -EACCES;
	t->text = text;
	model_point();
	t->used = &used;
	return 0;
}

static char *line(unsigned n)
{
	return text + (size_t)n * LINE_BYTES;
}

static void begin(void)
{
	model_share(&state, sizeof(state));
	model_share(&file, sizeof(file));
	model_share(&used, sizeof(used));
	model_name(&state, "state");
	model_name(&file, "file");
	model_name(&used, "used");
	memset(line(0), '\n', (size_t)FIRST_LINES * LINE_BYTES);
	memset(line(IW_RECORD_LINES + 1 - LAST_LINES), '\n',
	       (size_t)LAST_LINES * LINE_BYTES);
	files = complaints = waits = 0;
}

/* Every wait is of another length. */
static void record(void)
{
	iw_record_wait(PATH, &window, ++waits);
}

static void begin_open(void)
{
	begin();
	state.v = OPEN;
	file = (struct iw_trace_file){ text, &used };
}

/* There is room for two more. */
static void begin_nearly_full(void)
{
	begin_open();
	used.v = IW_RECORD_LINES - LAST_LINES + 1;
}

static void record_twice(unsigned i)
{
	(void)i;
	record();
	record();
}

static bool written(unsigned n)
{
	return *line(n) != '\n';
}

/* No wait is on two lines, and none is without end. Returns how many lines there are. */
static unsigned count_lines(unsigned from, unsigned to)
{
	unsigned seen = 0, n = 0;

	for (unsigned i = from; i < to; i++) {
		unsigned long wait = strtoul(line(i), NULL, BASE);

		if (!written(i))
			continue;
		model_assert(wait && wait <= waits && !(seen >> wait & 1));
		model_assert(line(i)[LINE_BYTES - 1] == '\n');
		seen |= 1u << wait;
		n++;
	}
	return n;
}

static void one_file(void)
{
	model_assert(files == 1 && complaints == fails);
	model_assert(written(0) == !fails);
	model_assert(count_lines(1, FIRST_LINES) == used.v);
	model_assert(fails ? used.v == 0 : used.v >= 1);
	model_assert(state.v == (fails ? FAILED : OPEN));
}

static void all_lines(void)
{
	model_assert(files == 0 && count_lines(1, FIRST_LINES) == waits);
}

static void nothing_beyond(void)
{
	unsigned end = IW_RECORD_LINES;

	model_assert(count_lines(end - 2, end) == 2);
	model_assert(!written(end - 3) && !written(end));
	model_assert(used.v < IW_RECORD_LINES + 3);
}

const struct model_scenario engine_record[] = {
	{ .name = "record: the file is made",
	  .threads = 3,
	  .about = "by one thread; nobody uses it before it is complete, or if it cannot "
		   "be made",
	  .begin = begin,
	  .thread = record_twice,
	  .end = one_file,
	  .search = { .bound = 2,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "record: lines are dealt",
	  .threads = 3,
	  .about = "every wait has a line, none has two",
	  .begin = begin_open,
	  .thread = record_twice,
	  .end = all_lines,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "record: the file is full",
	  .threads = 3,
	  .about = "nothing is written beyond its end, and the count does not run away",
	  .begin = begin_nearly_full,
	  .thread = record_twice,
	  .end = nothing_beyond,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
