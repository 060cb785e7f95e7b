/* SPDX-License-Identifier: MIT */
#include "run.h"
#include "../common/quantile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The sums behind a score. */
struct sums {
	uint64_t cost_ns, best_ns, spun_ns, waited_ns, sleeps;
};

/* Independent, so that no rule's luck depends on another's draws. */
struct randoms {
	struct random jitter, adversary, timer;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What a wait cost, and how. */
struct bill {
	uint64_t cost_ns, spun_ns;
	bool slept; /* until a wake */
};

static uint64_t timer_late_ns(struct random *r)
{
	double rare = random_unit(r), share = random_unit(r);
	uint64_t most = rare < 0.02 ? TIMER_LATE_RARELY_NS : TIMER_LATE_MOST_NS;

	return TIMER_LATE_LEAST_NS +
	       (uint64_t)(share * (double)(most - TIMER_LATE_LEAST_NS));
}

static struct bill plain_bill(uint64_t spin_ns, uint64_t wait_ns, uint64_t block_ns)
{
	if (wait_ns <= spin_ns)
		return (struct bill){ .cost_ns = wait_ns, .spun_ns = wait_ns };
	return (struct bill){ spin_ns + block_ns, spin_ns, true };
}

/* The first spin of @spin_ns was in vain, then the thread slept and ran again at @awake_ns. */
static struct bill timed_bill(uint64_t spin_ns, const struct timed *t, uint64_t awake_ns,
			      uint64_t wait_ns, uint64_t block_ns)
{
	uint64_t rest_ns = t->until_ns > awake_ns ? t->until_ns - awake_ns : 0;
	struct bill second;

	if (wait_ns <= awake_ns)
		return (struct bill){ spin_ns + block_ns, spin_ns, true };
	second = plain_bill(least(rest_ns, t->spin_ns), wait_ns - awake_ns, block_ns);
	second.cost_ns += spin_ns + TIMER_CPU_NS;
	second.spun_ns += spin_ns;
	return second;
}

/* Add to the sums. Returns the loss. */
static uint64_t account(struct sums *sums, const struct bill *bill, uint64_t wait_ns,
			uint64_t block_ns)
{
	uint64_t best_ns = least(wait_ns, block_ns);

	sums->cost_ns += bill->cost_ns;
	sums->best_ns += best_ns;
	sums->spun_ns += bill->spun_ns;
	sums->waited_ns += wait_ns;
	sums->sleeps += bill->slept;
	return bill->cost_ns > best_ns ? bill->cost_ns - best_ns : 0;
}

static void set_score(struct score *score, const struct sums *sums, size_t n)
{
	score->ratio = sums->best_ns ? (double)sums->cost_ns / (double)sums->best_ns : 1;
	score->spun = sums->waited_ns ? (double)sums->spun_ns / (double)sums->waited_ns : 0;
	score->slept = (double)sums->sleeps / (double)n;
}

/* One wait of the rule, from its choice to what it learns. Returns the loss. */
static uint64_t run_wait(struct sums *sums, const struct rule *rule, void *state,
			 struct randoms *randoms, const struct member *m, size_t i,
			 uint64_t block_ns)
{
	struct outcome o = { .spin_ns = rule->spin_ns(state, &randoms->jitter) };
	struct timed timed = rule->timed ? rule->timed(state) : (struct timed){ 0 };
	uint64_t wait_ns = m->waits_ns
				   ? m->waits_ns[i]
				   : m->strike(i, o.spin_ns, block_ns, &randoms->adversary);
	struct bill bill;

	o.spun = wait_ns <= o.spin_ns;
	o.wait_ns = o.spun || rule->sees_sleep ? wait_ns : o.spin_ns;
	if (o.spun || timed.wake_ns <= o.spin_ns)
		bill = plain_bill(o.spin_ns, wait_ns, block_ns);
	else
		bill = timed_bill(o.spin_ns, &timed,
				  timed.wake_ns + timer_late_ns(&randoms->timer), wait_ns,
				  block_ns);
	rule->learn(state, &o);
	return account(sums, &bill, wait_ns, block_ns);
}

static void renew(const struct rule *rule, union rule_state *state, unsigned site,
		  uint64_t block_ns)
{
	if (rule->renew) {
		rule->renew(state, site);
		return;
	}
	*state = (union rule_state){ 0 };
	rule->init(state, block_ns);
}

/* @losses has room for all waits, or is NULL. */
static void run_member(struct score *score, const struct member *m, const struct rule *rule,
		       uint64_t block_ns, uint64_t seed, uint64_t *losses)
{
	struct randoms randoms = { random_stream(seed, m->name, rule->name),
				   random_stream(seed, m->name, NULL),
				   random_stream(seed, m->name, "timer") };
	union rule_state state = { 0 };
	struct sums sums = { 0 };

	rule->init(&state, block_ns);
	for (size_t i = 0; i < m->n; i++) {
		if (m->life && i % m->life == 0)
			renew(rule, &state, (unsigned)(i / m->life % m->sites), block_ns);
		uint64_t loss_ns = run_wait(&sums, rule, &state, &randoms, m, i, block_ns);

		if (loss_ns > score->loss_ns)
			score->loss_ns = loss_ns;
		if (losses)
			losses[i] = loss_ns;
	}
	set_score(score, &sums, m->n);
}

static void judge(struct verdict *v, const struct suite *s)
{
	size_t counted = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct score *score = &v->scores[i];

		if (score->loss_ns > v->loss_max_ns) {
			v->loss_max_ns = score->loss_ns;
			v->loss_member = i;
		}
		if (s->members[i].kind == ADVERSARIAL)
			continue;
		counted++;
		v->mean += score->ratio;
		v->spun += score->spun;
		v->slept += score->slept;
		if (s->members[i].kind == STATIONARY && score->ratio > v->worst) {
			v->worst = score->ratio;
			v->worst_member = i;
		}
	}
	v->mean /= (double)counted;
	v->spun /= (double)counted;
	v->slept /= (double)counted;
}

static size_t waits_counted(const struct suite *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->members[i].kind == ADVERSARIAL ? 0 : s->members[i].n;
	return n;
}

static int verdict_init(struct verdict *v, const struct suite *s, const char *name)
{
	*v = (struct verdict){ .name = name };
	v->scores = calloc(s->n, sizeof(*v->scores));
	return v->scores ? 0 : -ENOMEM;
}

int run_rule(struct verdict *v, const struct suite *s, const struct rule *rule,
	     uint64_t seed)
{
	size_t room = waits_counted(s), n = 0;
	uint64_t *losses = calloc(room, sizeof(*losses));

	if (!losses || verdict_init(v, s, rule->name)) {
		free(losses);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct member *m = &s->members[i];
		bool counted = m->kind != ADVERSARIAL;

		run_member(&v->scores[i], m, rule, s->block_ns, seed,
			   counted ? losses + n : NULL);
		n += counted ? m->n : 0;
	}
	judge(v, s);
	v->loss_p50_ns = quantile(losses, n, 0.5);
	v->loss_p99_ns = quantile(losses, n, 0.99);
	free(losses);
	return 0;
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * The best threshold is 0 or one of the waits. With the waits in order, the cost of the
 * i-th as threshold is what those up to it last, and it plus B for each of the others.
 */
static uint64_t best_threshold(const uint64_t *sorted, size_t n, uint64_t block_ns)
{
	uint64_t best_cost_ns = block_ns * n, best_ns = 0, below_ns = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t cost_ns;

		below_ns += sorted[i];
		cost_ns = below_ns + (sorted[i] + block_ns) * (n - 1 - i);
		if (cost_ns < best_cost_ns) {
			best_cost_ns = cost_ns;
			best_ns = sorted[i];
		}
	}
	return best_ns;
}

static int hindsight_of_member(struct score *score, const struct member *m,
			       uint64_t block_ns)
{
	uint64_t *sorted = calloc(m->n, sizeof(*sorted));
	struct sums sums = { 0 };
	uint64_t spin_ns;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, m->waits_ns, m->n * sizeof(*sorted));
	qsort(sorted, m->n, sizeof(*sorted), by_length);
	spin_ns = best_threshold(sorted, m->n, block_ns);
	free(sorted);
	for (size_t i = 0; i < m->n; i++) {
		struct bill bill = plain_bill(spin_ns, m->waits_ns[i], block_ns);
		uint64_t loss_ns = account(&sums, &bill, m->waits_ns[i], block_ns);

		if (loss_ns > score->loss_ns)
			score->loss_ns = loss_ns;
	}
	set_score(score, &sums, m->n);
	return 0;
}

int run_hindsight(struct verdict *v, const struct suite *s)
{
	int r = verdict_init(v, s, "hindsight");

	for (size_t i = 0; i < s->n && !r; i++)
		if (s->members[i].kind != ADVERSARIAL)
			r = hindsight_of_member(&v->scores[i], &s->members[i], s->block_ns);
	if (r)
		verdict_destroy(v);
	else
		judge(v, s);
	return r;
}

void verdict_destroy(struct verdict *v)
{
	free(v->scores);
	*v = (struct verdict){ 0 };
}
