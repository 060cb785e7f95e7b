/* SPDX-License-Identifier: MIT */
#include "sentence.h"
#include "figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* A ratio nearer to 1 than this is "as fast as". */
#define SAME 0.02

struct text {
	char *to;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format,
						      ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->to + t->used, SENTENCE_SIZE - t->used, format, args);
	va_end(args);
	if (n > 0)
		t->used += (size_t)n;
	if (t->used >= SENTENCE_SIZE)
		t->used = SENTENCE_SIZE - 1;
}

static void add_speed(struct text *t, double times_faster)
{
	if (fabs(times_faster - 1) < SAME)
		add(t, "as fast as glibc's sem_t");
	else if (times_faster > 1)
		add(t, "%.*f times faster than glibc's sem_t", times_faster < 2 ? 2 : 1,
		    times_faster);
	else
		add(t, "%.2f times SLOWER than glibc's sem_t", 1 / times_faster);
}

static void add_bound(struct text *t, double times_bound)
{
	double percent = (times_bound - 1) * 100;

	if (percent < 1)
		add(t, "at the bound");
	else if (percent < 100)
		add(t, "within %.0f %% of the bound", ceil(percent));
	else
		add(t, "%.1f times the bound", times_bound);
}

static void add_hand_off(struct text *t, const struct figures *f)
{
	if (!isnan(f->times_faster)) {
		add_speed(t, f->times_faster);
		add(t, " for %.2f of the CPU, ", f->cpu_vs_glibc);
	}
	add_bound(t, f->times_bound);
}

static void add_form(struct text *t, const struct results *r, bool processes)
{
	const struct entry *e = results_find(r, ROW_IPCWAIT, processes);
	const char *form = processes ? "processes" : "threads";
	struct figures f;

	if (!e)
		return;
	figures_of_entry(r, e, &f);
	if (r->options->mode != MODE_HAND_OFF && isnan(f.times_faster))
		return;
	if (r->options->mode == MODE_UNCONTENDED) {
		add(t, "libipcwait: an uncontended post and wait take %.2f of glibc's time",
		    f.seconds_vs_glibc);
		return;
	}
	add(t, t->used ? "; %s: " : "libipcwait, %s: ", form);
	if (r->options->mode == MODE_IDLE)
		add(t, "%.2f of glibc's CPU time per item with waits of %llu us",
		    f.cpu_vs_glibc, (unsigned long long)r->options->idle_us);
	else
		add_hand_off(t, &f);
}

void sentence_write(const struct results *r, char text[SENTENCE_SIZE])
{
	struct text t = { text, 0 };

	text[0] = 0;
	add_form(&t, r, false);
	add_form(&t, r, true);
	if (t.used)
		add(&t, ".");
}
