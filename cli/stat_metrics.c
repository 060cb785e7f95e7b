/* SPDX-License-Identifier: MIT */
/*
 * The OpenMetrics text format, which Prometheus and its node exporter's textfile collector read.
 * Names and units as their guides want them: seconds, "_total", no figure that a query can work
 * out.
 */
#include "stat.h"
#include "../tools/common/complain.h"
#include "../tools/common/foreign_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

/* What a counter of a kind is in a family, and the label that tells it from the others there. */
static const struct event {
	size_t at;
	const char *family, *label, *value;
} events[] = {
#define EVENT(member, family, label, value)                                       \
	{                                                                         \
		offsetof(struct ipcwait_kind_stats, member), family, label, value \
	}
	EVENT(spun, "waits", "end", "spun"),
	EVENT(slept, "waits", "end", "slept"),
	EVENT(expired, "gave_up", "by", "expired"),
	EVENT(interrupted, "gave_up", "by", "interrupted"),
	EVENT(futex_waits, "futex_calls", "call", "wait"),
	EVENT(futex_wakes, "futex_calls", "call", "wake"),
	EVENT(wakes_avoided, "wakes_avoided", NULL, NULL),
	EVENT(spun_useful_ns, "spun_seconds", "end", "useful"),
	EVENT(spun_wasted_ns, "spun_seconds", "end", "wasted"),
	EVENT(slept_ns, "slept_seconds", NULL, NULL),
	EVENT(preempted, "spins_ended", "by", "preempted"),
	EVENT(stolen, "spins_ended", "by", "stolen"),
	EVENT(timed_sleeps, "timed_sleeps", NULL, NULL),
#undef EVENT
};

#define EVENTS (sizeof(events) / sizeof(events[0]))

static const struct family {
	const char *name, *help;
} families[] = {
	{ "waits", "Waits that had to wait: that spun only, and others." },
	{ "gave_up",
	  "Waits that a time-out or a signal ended, of those that did not spin only." },
	{ "futex_calls", "System calls to sleep and to wake." },
	{ "wakes_avoided", "Wakes of sleepers that needed no system call." },
	{ "spun_seconds", "CPU time spent spinning, by what came of it." },
	{ "slept_seconds", "Time asleep, where the clock was read." },
	{ "spins_ended", "Spins in vain that lost their CPU." },
	{ "timed_sleeps", "Sleeps on a timer, to spin only the rest." },
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

static void begin(FILE *f, const char *name, const char *type, const char *text)
{
	size_t length = strlen(name);

	fprintf(f, "# TYPE ipcwait_%s %s\n", name, type);
	if (length > 8 && !strcmp(name + length - 8, "_seconds"))
		fprintf(f, "# UNIT ipcwait_%s seconds\n", name);
	fprintf(f, "# HELP ipcwait_%s %s\n", name, text);
}

/*
 * A label's value, with what has a meaning there escaped. The format is UTF-8, and a text with
 * anything else is refused as a whole.
 */
static void label(FILE *f, const char *key, const char *value)
{
	char piece[FOREIGN_NAME_PIECE];

	fprintf(f, "%s=\"", key);
	while (*value) {
		char first = *value;

		value = foreign_name_take_utf8(piece, value);
		if (first == '\n')
			fputs("\\n", f);
		else if (first == '"' || first == '\\')
			fprintf(f, "\\%c", first);
		else
			fputs(piece, f);
	}
	fputc('"', f);
}

static void process_labels(FILE *f, const struct watched_process *p)
{
	fprintf(f, "{pid=\"%ld\",uid=\"%lu\",", (long)p->pid, (unsigned long)p->uid);
	label(f, "program", p->program);
}

/* Whole where it counts, with its unit a second where it is a time. */
static void value(FILE *f, uint64_t n, bool time)
{
	if (time)
		fprintf(f, "} %.9f\n", (double)n / NS_PER_S);
	else
		fprintf(f, "} %" PRIu64 "\n", n);
}

/*
 * Who sleeps and gives up leaves slept. So what is written as slept is all that did not only spin,
 * and the series grows: but for a few waits that were being counted when they were read, and where
 * a copy of the library is unloaded.
 */
static uint64_t value_of(const struct ipcwait_kind_stats *k, const struct event *e)
{
	if (e->at == offsetof(struct ipcwait_kind_stats, slept))
		return counters_waits(k) - k->spun;
	return counters_value(k, (unsigned)(e->at / sizeof(uint64_t)));
}

static void write_kind(FILE *f, const struct watched_process *p, unsigned kind,
		       const struct event *e)
{
	fprintf(f, "ipcwait_%s_total", e->family);
	process_labels(f, p);
	fputc(',', f);
	label(f, "kind", counters_kind(kind));
	if (e->label) {
		fputc(',', f);
		label(f, e->label, e->value);
	}
	value(f, value_of(&p->counters.kind[kind], e), strstr(e->family, "_seconds"));
}

static void write_family(FILE *f, const struct watched *w, const struct family *family)
{
	begin(f, family->name, "counter", family->help);
	for (unsigned i = 0; i < w->processes; i++)
		for (unsigned k = 0; k < IPCWAIT_KIND_COUNT; k++)
			for (unsigned e = 0; e < EVENTS; e++)
				if (counters_any(&w->process[i].counters.kind[k]) &&
				    !strcmp(events[e].family, family->name))
					write_kind(f, &w->process[i], k, &events[e]);
}

static void write_reasons(FILE *f, const struct watched *w)
{
	begin(f, "sleeps", "counter", "Waits that slept, by why.");
	for (unsigned i = 0; i < w->processes; i++) {
		const struct watched_process *p = &w->process[i];

		for (unsigned r = 0; r < IPCWAIT_REASON_COUNT; r++) {
			if (!counters_reason(r) || !p->counters.reasons[r])
				continue;
			fputs("ipcwait_sleeps_total", f);
			process_labels(f, p);
			fputc(',', f);
			label(f, "reason", counters_reason(r));
			value(f, p->counters.reasons[r], false);
		}
	}
}

static void write_moves(FILE *f, const struct watched *w)
{
	begin(f, "moves", "counter",
	      "Moves of waiting threads away from their waker's CPU.");
	for (unsigned i = 0; i < w->processes; i++) {
		const struct watched_process *p = &w->process[i];

		if (!p->counters.moves[COUNTERS_APART])
			continue;
		fputs("ipcwait_moves_total", f);
		process_labels(f, p);
		value(f, p->counters.moves[COUNTERS_APART], false);
	}
}

static void write_moves_ended(FILE *f, const struct watched *w)
{
	begin(f, "moves_ended", "counter",
	      "Moves that were judged, by what became of them.");
	for (unsigned i = 0; i < w->processes; i++) {
		const struct watched_process *p = &w->process[i];

		for (unsigned m = COUNTERS_BACK; m < COUNTERS_MOVES; m++) {
			if (!p->counters.moves[COUNTERS_APART])
				continue;
			fputs("ipcwait_moves_ended_total", f);
			process_labels(f, p);
			fputc(',', f);
			label(f, "end", counters_move((enum counters_move)m));
			value(f, p->counters.moves[m], false);
		}
	}
}

static void write_costs(FILE *f, const struct watched *w)
{
	begin(f, "block_cost_seconds", "gauge", "What a sleep and its wake cost.");
	for (unsigned i = 0; i < w->processes; i++) {
		const struct watched_process *p = &w->process[i];

		if (!p->block_ns)
			continue;
		fputs("ipcwait_block_cost_seconds", f);
		process_labels(f, p);
		value(f, p->block_ns, true);
	}
}

static void write_object(FILE *f, const struct watched *w, const struct watched_row *r,
			 const char *family, const char *end, uint64_t n)
{
	fprintf(f, "ipcwait_object_%s_total", family);
	process_labels(f, watched_process_of(w, r));
	fputc(',', f);
	label(f, "object", r->name);
	fprintf(f, ",address=\"0x%" PRIx64 "\",", r->address);
	label(f, "end", end);
	value(f, n, strstr(family, "_seconds"));
}

/* What the labels tell apart: not the pages of a process, nor what becomes U+FFFD. */
static int by_labels(const void *a, const void *b)
{
	const struct watched_row *p = a, *q = b;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (p->uid != q->uid)
		return p->uid < q->uid ? -1 : 1;
	return (p->address > q->address) - (p->address < q->address);
}

static void add(struct watched_row *to, const struct watched_row *r)
{
	to->waits += r->waits;
	to->spun += r->spun;
	to->spun_useful_ns += r->spun_useful_ns;
	to->spun_wasted_ns += r->spun_wasted_ns;
}

/*
 * Those with a name only: the others come and go, and each would be a series of its own. There is
 * one for each address, because a text with a series twice is refused as a whole.
 */
static unsigned named_rows(const struct watched *w, struct watched_row **rows)
{
	unsigned n = 0, kept = 0;
	struct watched_row *r = calloc(w->rows[PAGE_OBJECTS] + 1, sizeof(*r));

	if (!r)
		give_up("no memory");
	for (unsigned i = 0; i < w->rows[PAGE_OBJECTS]; i++)
		if (w->row[PAGE_OBJECTS][i].name[0])
			r[n++] = w->row[PAGE_OBJECTS][i];
	qsort(r, n, sizeof(*r), by_labels);
	for (unsigned i = 0; i < n; i++) {
		if (kept && !by_labels(&r[kept - 1], &r[i]))
			add(&r[kept - 1], &r[i]);
		else
			r[kept++] = r[i];
	}
	*rows = r;
	return kept;
}

static void write_objects(FILE *f, const struct watched *w)
{
	struct watched_row *r;
	unsigned n = named_rows(w, &r);

	begin(f, "object_waits", "counter", "Waits on a named object, by how they ended.");
	for (unsigned i = 0; i < n; i++) {
		write_object(f, w, &r[i], "waits", "spun", r[i].spun);
		write_object(f, w, &r[i], "waits", "slept", r[i].waits - r[i].spun);
	}
	begin(f, "object_spun_seconds", "counter",
	      "CPU time spent spinning on a named object.");
	for (unsigned i = 0; i < n; i++) {
		write_object(f, w, &r[i], "spun_seconds", "useful", r[i].spun_useful_ns);
		write_object(f, w, &r[i], "spun_seconds", "wasted", r[i].spun_wasted_ns);
	}
	free(r);
}

void stat_write_metrics(FILE *f, const struct watched *w)
{
	for (unsigned i = 0; i < FAMILIES; i++)
		write_family(f, w, &families[i]);
	write_reasons(f, w);
	write_moves(f, w);
	write_moves_ended(f, w);
	write_costs(f, w);
	write_objects(f, w);
	fputs("# EOF\n", f);
}
