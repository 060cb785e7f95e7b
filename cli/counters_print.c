/* SPDX-License-Identifier: MIT */
#include "counters.h"

#include <inttypes.h>

/* So many reasons are named, and none that is rarer than one in a hundred. */
#define REASONS_SHOWN 3

static void print_kind(FILE *f, const char *name, const struct ipcwait_kind_stats *k)
{
	fprintf(f,
		"  %-10s %11" PRIu64 " %11" PRIu64 " %11" PRIu64 " %11" PRIu64
		" %11.0f %11.0f\n",
		name, counters_waits(k), k->spun, k->slept, k->expired + k->interrupted,
		(double)k->spun_useful_ns / 1e3, (double)k->spun_wasted_ns / 1e3);
}

static void print_table(FILE *f, const struct counters *c)
{
	fprintf(f, "  %-10s %11s %11s %11s %11s %11s %11s\n", "", "waits", "spun", "slept",
		"gave up", "us spun", "us in vain");
	for (unsigned i = 0; i < IPCWAIT_KIND_COUNT; i++)
		if (counters_any(&c->kind[i]))
			print_kind(f, counters_kind(i), &c->kind[i]);
}

/* With three digits or four. */
void counters_print_time(FILE *f, uint64_t ns)
{
	double us = (double)ns / 1e3;

	if (us < 1e4)
		fprintf(f, "%.0f us", us);
	else if (us < 1e7)
		fprintf(f, "%.0f ms", us / 1e3);
	else
		fprintf(f, "%.0f s", us / 1e6);
}

static void print_gain(FILE *f, const struct ipcwait_kind_stats *all)
{
	uint64_t ended = all->spun + all->slept;

	if (!ended) {
		fputs("  No wait came to an end that had to wait.\n", f);
		return;
	}
	fprintf(f,
		"  %" PRIu64 " of %" PRIu64 " waits (%.0f %%) ended without a sleep, for ",
		all->spun, ended, 100.0 * (double)all->spun / (double)ended);
	counters_print_time(f, all->spun_useful_ns + all->spun_wasted_ns);
	fputs(" of spinning in all.\n", f);
}

/* The most frequent reason that is not in @shown; 0: there is none. */
static unsigned next_reason(const struct counters *c, const bool *shown)
{
	uint64_t most = 0;
	unsigned best = 0;

	for (unsigned i = 0; i < IPCWAIT_REASON_COUNT; i++) {
		if (counters_reason(i) && !shown[i] && c->reasons[i] > most) {
			most = c->reasons[i];
			best = i;
		}
	}
	return best;
}

static void print_reasons(FILE *f, const struct counters *c)
{
	bool shown[IPCWAIT_REASON_COUNT] = { false };
	uint64_t all = 0;

	for (unsigned i = 0; i < IPCWAIT_REASON_COUNT; i++)
		all += counters_reason(i) ? c->reasons[i] : 0;
	for (unsigned n = 0; n < REASONS_SHOWN; n++) {
		unsigned next = next_reason(c, shown);

		if (!next || c->reasons[next] * 100 < all)
			break;
		shown[next] = true;
		fprintf(f, "%s %s (%.0f %%)",
			n ? "," : "  Reasons to sleep:", counters_reason(next),
			100.0 * (double)c->reasons[next] / (double)all);
	}
	if (all)
		fputs(".\n", f);
}

/* How often a waiter was beside its waker, where it can only sleep. */
static void print_beside(FILE *f, const struct counters *c)
{
	uint64_t waits = counters_waits(&c->all);
	uint64_t beside = c->reasons[IPCWAIT_REASON_SAME_CPU];

	if (!waits)
		return;
	fprintf(f,
		"  %" PRIu64 " of %" PRIu64
		" waits (%.0f %%) began on the CPU of their waker.\n",
		beside, waits, 100.0 * (double)beside / (double)waits);
}

static void print_moves(FILE *f, const struct counters *c)
{
	const uint64_t *moves = c->moves;
	uint64_t ended =
		moves[COUNTERS_KEPT] + moves[COUNTERS_BACK] + moves[COUNTERS_UNDONE];

	if (!moves[COUNTERS_APART] && !ended)
		return;
	fprintf(f,
		"  Threads moved to another CPU: %" PRIu64 ", of which %" PRIu64
		" stayed (it paid), %" PRIu64 " went back, %" PRIu64 " undone",
		moves[COUNTERS_APART], moves[COUNTERS_KEPT], moves[COUNTERS_BACK],
		moves[COUNTERS_UNDONE]);
	if (moves[COUNTERS_APART] > ended)
		fprintf(f, ", %" PRIu64 " not decided", moves[COUNTERS_APART] - ended);
	fputs(".\n", f);
}

void counters_print(FILE *f, const struct counters *c)
{
	if (counters_any(&c->all))
		print_table(f, c);
	print_gain(f, &c->all);
	print_reasons(f, c);
	print_beside(f, c);
	print_moves(f, c);
}

static void write_kind(struct json *j, const char *key, const struct ipcwait_kind_stats *k)
{
	json_open(j, key, '{');
	for (unsigned i = 0; i < COUNTERS_EVENTS; i++)
		json_whole(j, counters_event(i), counters_value(k, i));
	json_close(j, '}');
}

void counters_write(struct json *j, const struct counters *c)
{
	write_kind(j, "all", &c->all);
	json_open(j, "kinds", '{');
	for (unsigned i = 0; i < IPCWAIT_KIND_COUNT; i++)
		if (counters_any(&c->kind[i]))
			write_kind(j, counters_kind(i), &c->kind[i]);
	json_close(j, '}');
	json_open(j, "reasons", '{');
	for (unsigned i = 0; i < IPCWAIT_REASON_COUNT; i++)
		if (counters_reason(i) && c->reasons[i])
			json_whole(j, counters_reason(i), c->reasons[i]);
	json_close(j, '}');
	json_open(j, "moves", '{');
	for (unsigned i = 0; i < COUNTERS_MOVES; i++)
		json_whole(j, counters_move((enum counters_move)i), c->moves[i]);
	json_close(j, '}');
}
