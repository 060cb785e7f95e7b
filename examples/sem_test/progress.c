/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 30

#define TO_LINE_START_AND_CLEAR "\r\033[K"

static void draw(const struct progress *p, double fraction)
{
	double done = p->done_seconds + fraction * p->step_seconds;
	double all = p->planned_seconds > done ? p->planned_seconds : done;
	double elapsed = (double)(measure_now_ns() - p->began_ns) / 1e9;
	int full = all > 0 ? (int)(done / all * BAR_WIDTH) : 0;
	char bar[BAR_WIDTH + 1];

	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', (size_t)full);
	bar[BAR_WIDTH] = 0;
	fprintf(stderr, TO_LINE_START_AND_CLEAR "[%s] %.0f s, about %.0f s left  %s", bar,
		elapsed, all - done, p->label);
}

static void tell(struct job_watcher *self, double fraction)
{
	draw((struct progress *)(void *)self, fraction);
}

void progress_init(struct progress *p, bool wanted)
{
	memset(p, 0, sizeof(*p));
	p->watcher.tell = tell;
	p->shown = wanted && isatty(STDERR_FILENO);
}

void progress_begin(struct progress *p, double seconds)
{
	p->planned_seconds = seconds;
	p->began_ns = measure_now_ns();
}

void progress_step(struct progress *p, const char *label, double seconds)
{
	p->done_seconds += p->step_seconds;
	p->step_seconds = seconds;
	snprintf(p->label, sizeof(p->label), "%s", label);
	if (p->shown)
		draw(p, 0);
}

struct job_watcher *progress_watcher(struct progress *p)
{
	return p->shown ? &p->watcher : NULL;
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs(TO_LINE_START_AND_CLEAR, stderr);
}
