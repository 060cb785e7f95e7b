/* SPDX-License-Identifier: MIT */
/*
 * A wait of length X under a rule that spins for T: if X <= T it ends X after it began, else the
 * thread sleeps, and runs again when what a wake takes has passed after X. What is left out: that a
 * thread which runs later also begins its next wait later, and lets others wait for it.
 */
#include "replay.h"

#include <stdlib.h>

/* As in the library: a wake that took longer was not the machine's. */
#define LATE_NS_MOST 1000000

/*
 * Waits on one object after the other, so that a rule can begin anew with each, and copies of a
 * program beside each other.
 */
static int by_program(const void *a, const void *b)
{
	const struct waits_wait *p = a, *q = b;

	if (p->process->first != q->process->first)
		return p->process->first->index < q->process->first->index ? -1 : 1;
	if (p->process != q->process)
		return p->process->index < q->process->index ? -1 : 1;
	if (p->is->object != q->is->object)
		return p->is->object < q->is->object ? -1 : 1;
	return (p->is > q->is) - (p->is < q->is);
}

static uint64_t late_ns(const struct ipcwait_record_wait *w)
{
	uint64_t took_ns = (uint64_t)w->spun_ns + w->slept_ns;

	return took_ns > w->length_ns ? took_ns - w->length_ns : 0;
}

static bool is_known(const struct ipcwait_record_wait *w)
{
	return w->known && !w->error;
}

static bool is_sample(const struct ipcwait_record_wait *w)
{
	return is_known(w) && w->reason && w->length_ns && late_ns(w) &&
	       late_ns(w) < LATE_NS_MOST;
}

const struct waits_process *replay_learned(const struct waits *w)
{
	const struct waits_process *most = NULL;

	for (size_t i = 0; i < w->processes; i++) {
		const struct waits_process *p = w->process[i];

		if (p->block_ns && (!most || p->samples >= most->samples))
			most = p;
	}
	return most;
}

/* The mean, as it is to be multiplied: a few that are very late are a part of the whole. */
uint64_t replay_late_ns(const struct waits *w)
{
	uint64_t sum_ns = 0, n = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (!is_sample(w->wait[i].is))
			continue;
		sum_ns += late_ns(w->wait[i].is);
		n++;
	}
	return n ? sum_ns / n : 0;
}

struct replay_bill replay_recorded(const struct waits *w)
{
	struct replay_bill b = { 0 };

	for (size_t i = 0; i < w->n; i++) {
		const struct ipcwait_record_wait *is = w->wait[i].is;

		if (!is_known(is))
			continue;
		b.waits++;
		b.slept += is->reason != 0;
		b.spun_ns += is->spun_ns;
		b.late_ns += is->reason ? late_ns(is) : 0;
	}
	return b;
}

static void begin(const struct rule *rule, union rule_state *state, uint64_t block_ns)
{
	*state = (union rule_state){ 0 };
	rule->init(state, block_ns);
}

/* A new object, of a site that a rule can tell from others. */
static void renew(const struct rule *rule, union rule_state *state, uint64_t site,
		  uint64_t block_ns)
{
	if (rule->renew) {
		rule->renew(state, (unsigned)(site ^ site >> 32));
		return;
	}
	begin(rule, state, block_ns);
}

/*
 * What call sites have taught goes on in copies by fork(2), and ends with the program. The copies
 * of one program come one after the other here, so each goes on from the last.
 */
static bool forgets(const struct waits_wait *last, const struct waits_wait *now)
{
	return !last || last->process->first != now->process->first;
}

static void replay_wait(struct replay_bill *b, const struct rule *rule,
			union rule_state *state, struct random *random, uint64_t length_ns,
			const struct replay_price *price)
{
	struct outcome o = { .spin_ns = rule->spin_ns(state, random) };

	o.spun = length_ns <= o.spin_ns;
	o.wait_ns = o.spun || rule->sees_sleep ? length_ns : o.spin_ns;
	b->waits++;
	b->spun_ns += o.spun ? length_ns : o.spin_ns;
	if (!o.spun) {
		b->slept++;
		b->late_ns += price->late_ns;
	}
	rule->learn(state, &o);
}

void replay_sort(struct waits *w)
{
	if (w->n)
		qsort(w->wait, w->n, sizeof(*w->wait), by_program);
}

struct replay_bill replay_under(const struct waits *w, const struct rule *rule,
				const struct replay_price *price)
{
	struct random random = random_stream(1, rule->name, "replay");
	const struct waits_wait *last = NULL;
	struct replay_bill b = { 0 };
	union rule_state state;

	for (size_t i = 0; i < w->n; i++) {
		const struct waits_wait *now = &w->wait[i];

		if (!is_known(now->is))
			continue;
		if (forgets(last, now))
			begin(rule, &state, price->block_ns);
		if (!last || last->process != now->process ||
		    last->is->object != now->is->object)
			renew(rule, &state, now->is->site, price->block_ns);
		replay_wait(&b, rule, &state, &random, waits_own_ns(now->is), price);
		last = now;
	}
	return b;
}
