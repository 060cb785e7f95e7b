/* SPDX-License-Identifier: MIT */
#include "bars.h"
#include "figures.h"

#include <stddef.h>

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
	return r->environment.cpus_usable < 2 ? SCENE_ONE_CPU : SCENE_HAND_OFF;
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
