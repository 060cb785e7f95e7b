/* SPDX-License-Identifier: MIT */
#include "verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* A ratio nearer to 1 than this is "as fast as". */
#define SAME 0.02

/* A share of waits that is worth a word: spinning beside whoever one waits for is of no use. */
#define SAME_CPU_NOTED 0.1

/* What a bar applies to. */
enum scene {
	SCENE_HAND_OFF,
	SCENE_ONE_CPU, /* the hand-off where only one CPU is usable */
	SCENE_IDLE,
	SCENE_UNCONTENDED,
};

static const struct rule {
	enum scene scene;
	bool at_least;
	double threads_limit;
	double processes_limit;
	size_t figure;
	const char *text;
} rules[] = {
	{ SCENE_HAND_OFF, false, 1.05, 1.10, offsetof(struct figures, times_ideal),
	  "seconds / (bound + items x round trip)" },
	{ SCENE_HAND_OFF, true, 10, 8, offsetof(struct figures, times_faster),
	  "glibc's seconds / libipcwait's" },
	{ SCENE_HAND_OFF, false, 0.3, 0.3, offsetof(struct figures, cpu_vs_glibc),
	  "libipcwait's CPU-seconds / glibc's" },
	{ SCENE_ONE_CPU, false, 1.03, 1.03, offsetof(struct figures, seconds_vs_glibc),
	  "one CPU: libipcwait's seconds / glibc's" },
	{ SCENE_IDLE, false, 1.10, 1.10, offsetof(struct figures, cpu_vs_glibc),
	  "long waits: CPU of both workers / glibc's" },
	{ SCENE_UNCONTENDED, false, 1.0, 1.0, offsetof(struct figures, seconds_vs_glibc),
	  "post+wait pair: libipcwait's time / glibc's" },
};

#define N_RULES (sizeof(rules) / sizeof(rules[0]))

static enum scene scene_of(const struct results *r)
{
	switch (r->options->mode) {
	case MODE_IDLE:
		return SCENE_IDLE;
	case MODE_UNCONTENDED:
		return SCENE_UNCONTENDED;
	case MODE_HAND_OFF:
		break;
	}
	return r->machine.cpus_usable < 2 ? SCENE_ONE_CPU : SCENE_HAND_OFF;
}

static void judge(const struct rule *rule, const struct figures *f, bool processes,
		  struct bar *bar)
{
	bar->text = rule->text;
	bar->processes = processes;
	bar->at_least = rule->at_least;
	bar->limit = processes ? rule->processes_limit : rule->threads_limit;
	bar->value = *(const double *)(const void *)((const char *)f + rule->figure);
	bar->reached = bar->at_least ? bar->value >= bar->limit : bar->value <= bar->limit;
}

static unsigned bars_of_form(const struct results *r, bool processes, struct bar *bars)
{
	const struct entry *ipcwait = results_find(r, ROW_IPCWAIT, processes);
	struct figures f;
	unsigned n = 0;

	if (!ipcwait || !results_find(r, ROW_GLIBC, processes))
		return 0;
	figures_of_entry(r, ipcwait, &f);
	for (unsigned i = 0; i < N_RULES; i++)
		if (rules[i].scene == scene_of(r))
			judge(&rules[i], &f, processes, &bars[n++]);
	return n;
}

unsigned bars_get(const struct results *r, struct bar bars[BARS_MOST])
{
	unsigned n = bars_of_form(r, false, bars);

	return n + bars_of_form(r, true, bars + n);
}

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
	if (f->same_cpu > SAME_CPU_NOTED)
		add(t, "; %.0f %% of its waits slept as both workers were on the same CPU",
		    f->same_cpu * 100);
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
