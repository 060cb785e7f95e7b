/* SPDX-License-Identifier: MIT */
/* One line for what belongs together, as tools for stacks of calls take it. */
#include "report.h"
#include "../tools/common/complain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000

/* Longer waits are written as this, the longest that policy_sim reads. */
#define LONGEST_NS UINT64_C(1000000000000)

/* Waits with the same program, site, object and reason. */
struct stack {
	const struct waits_process *process;
	uint64_t site, object;
	unsigned kind, reason;
	uint64_t weight;
};

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_stack(const void *a, const void *b)
{
	const struct stack *p = a, *q = b;
	int r = compare((uintptr_t)p->process, (uintptr_t)q->process);

	if (!r)
		r = compare(p->site, q->site);
	if (!r)
		r = compare(p->object, q->object);
	if (!r)
		r = compare(p->kind, q->kind);
	return r ? r : compare(p->reason, q->reason);
}

static uint64_t weight_of(const struct ipcwait_record_wait *w, enum report_weight weight)
{
	switch (weight) {
	case REPORT_WAITS:
		return 1;
	case REPORT_CPU:
		return w->spun_ns;
	default:
		return waits_length_ns(w);
	}
}

/* What separates stacks and weights must not be in a name. */
static void put_frame(FILE *f, const char *text, char behind)
{
	for (; *text; text++)
		fputc(*text == ';' || *text == ' ' ? '_' : *text, f);
	fputc(behind, f);
}

static void put_object(FILE *f, const struct stack *s)
{
	char name[WAITS_NAME_BYTES], text[REPORT_LABEL_BYTES];

	if (waits_name_of(s->process, s->object, name))
		(void)snprintf(text, sizeof(text), "%s %s", report_kind(s->kind), name);
	else
		(void)snprintf(text, sizeof(text), "%s 0x%" PRIx64, report_kind(s->kind),
			       s->object);
	put_frame(f, text, ';');
}

static void put(FILE *f, const struct stack *s, enum report_weight weight)
{
	uint64_t n = weight == REPORT_WAITS ? s->weight : s->weight / NS_PER_US;
	char place[REPORT_LABEL_BYTES];

	if (!n)
		return;
	waits_place(s->process, s->site, place, sizeof(place));
	put_frame(f, s->process->program[0] ? s->process->program : "unknown", ';');
	put_frame(f, place, ';');
	put_object(f, s);
	put_frame(f, report_reason(s->reason), ' ');
	fprintf(f, "%" PRIu64 "\n", n);
}

void report_write_folded(FILE *f, const struct waits *w, enum report_weight weight)
{
	struct stack *all = calloc(w->n + 1, sizeof(*all));
	size_t n = 0;

	if (!all)
		give_up("no memory");
	for (size_t i = 0; i < w->n; i++) {
		const struct ipcwait_record_wait *is = w->wait[i].is;

		all[i] = (struct stack){ w->wait[i].process, is->site,
					 is->object,         is->kind,
					 is->reason,         weight_of(is, weight) };
	}
	qsort(all, w->n, sizeof(*all), by_stack);
	for (size_t i = 0; i < w->n; i++) {
		if (n && !by_stack(&all[n - 1], &all[i]))
			all[n - 1].weight += all[i].weight;
		else
			all[n++] = all[i];
	}
	for (size_t i = 0; i < n; i++)
		put(f, &all[i], weight);
	free(all);
}

void report_write_waits(FILE *f, const struct waits *w)
{
	fputs("# wait in ns, object\n", f);
	for (size_t i = 0; i < w->n; i++) {
		const struct ipcwait_record_wait *is = w->wait[i].is;
		uint64_t ns = waits_own_ns(is);

		if (is->known && ns)
			fprintf(f, "%14" PRIu64 " %016" PRIx64 "\n",
				ns < LONGEST_NS ? ns : LONGEST_NS, is->object);
	}
}
