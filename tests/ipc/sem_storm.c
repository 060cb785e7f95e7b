/* SPDX-License-Identifier: MIT */
/*
 * Tokens go round between semaphores. A worker that is killed while it takes or posts a token
 * leaves one token in doubt, for it may have done so or not; any other token is exactly where
 * the books say. Nobody is killed while the books are audited.
 */
#include <errno.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "storm.h"

enum step { IDLE, TAKING, HOLDING, POSTING };

#define TOKENS 2

/* Dead sleepers with which a semaphore goes on, lest they become 65535. */
#define DEAD_MAX 1000

/* The books, for one round. */
static struct {
	unsigned tokens;                /* that there are */
	unsigned doubts;                /* of these, that may be gone */
	unsigned dead[REGION_SEMS];     /* killed while they took from it, in all */
	unsigned sleepers[REGION_SEMS]; /* dead ones that it counted when the round began */
} book;

static int take(struct intent *mine, struct ipcwait_sem *s, uint64_t n)
{
	if (mine->forever)
		return ipcwait_sem_wait(s);
	if (n % 16 == 0)
		return ipcwait_sem_trywait(s);
	return ipcwait_sem_wait_until(s,
				      ipcwait_deadline_in_ns((int64_t)(n >> 8) % 300000));
}

/* Half of the workers carry tokens one way, half the other, or all would lie in one place. */
static void choose(struct intent *mine, unsigned slot, uint64_t n)
{
	mine->from = slot % REGION_SEMS;
	mine->to = (slot + 1) % REGION_SEMS;
	mine->forever = n % 8;
}

static void work(struct region *r, unsigned slot)
{
	struct intent *mine = &r->intent[slot];
	uint64_t seed = storm_seed();

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		uint64_t n = check_random(&seed);
		int result;

		choose(mine, slot, n);
		storm_intend(mine, TAKING);
		result = take(mine, &r->sem[mine->from], n);
		storm_intend(mine, result ? IDLE : HOLDING);
		CHECK(result == 0 || result == -ETIMEDOUT || result == -EAGAIN);
		if (result)
			continue;
		if (__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE))
			break;
		storm_intend(mine, POSTING);
		CHECK_EQ(ipcwait_sem_post(&r->sem[mine->to]), 0);
		storm_intend(mine, IDLE);
	}
}

static void post(struct region *r, unsigned sem)
{
	CHECK_EQ(ipcwait_sem_post(&r->sem[sem]), 0);
}

static void begin(struct region *r)
{
	book.tokens = TOKENS;
	book.doubts = 0;
	for (unsigned i = 0; i < TOKENS; i++)
		post(r, i % REGION_SEMS);
}

/*
 * What it held is posted for it. Of two tokens in doubt one is made up for: few tokens are to
 * stay few, and not to become none.
 */
static void bury(struct region *r, unsigned slot)
{
	const struct intent *its = &r->intent[slot];
	bool doubt = its->step == TAKING || its->step == POSTING;
	bool made_up = doubt && book.doubts++ % 2;

	if (its->step == HOLDING || made_up)
		post(r, its->to);
	book.tokens += made_up;
	if (its->step == TAKING)
		book.dead[its->from]++;
}

static void stir(struct region *r)
{
	for (unsigned i = 0; i < REGION_SEMS; i++)
		post(r, i);
	book.tokens += REGION_SEMS;
}

/*
 * Somebody may sleep beside a token that a dead process was told of: until the next post, if no
 * wake is fresh. It reaches as many as there are tokens, but for one that a mark promises to a
 * spinner. (One who slept on a timer of the library's may have been there before.)
 */
static void bring_home(struct region *r, unsigned sem)
{
	unsigned asleep = storm_asleep(r, (int)sem);

	while (asleep) {
		uint64_t w = sem_word(&r->sem[sem]);
		unsigned tokens = word_value(w) + (w & WORD_SPINNER ? 0 : 1);
		unsigned before = asleep;

		region_let_wakes_go_stale();
		post(r, sem);
		book.tokens++;
		asleep = storm_asleep(r, (int)sem);
		CHECK(before - asleep >= (tokens < before ? tokens : before));
	}
}

/* All the living are at home, so whoever is counted is dead. */
static void count_the_dead(struct region *r, unsigned sem)
{
	uint64_t w = sem_word(&r->sem[sem]);
	bool any = word_sleepers(w) || w & WORD_SPINNER;

	CHECK(word_sleepers(w) >= book.sleepers[sem]);
	CHECK(word_sleepers(w) - book.sleepers[sem] <= book.dead[sem]);
	CHECK(word_wakes(w) <= word_sleepers(w));
	CHECK_EQ(ipcwait_sem_fini(&r->sem[sem]), any ? -EBUSY : 0);
	book.dead[sem] = 0;
	book.sleepers[sem] = word_sleepers(w);
	if (any && word_sleepers(w) < DEAD_MAX)
		return;
	CHECK_EQ(ipcwait_sem_init(&r->sem[sem], word_value(w), 0), 0);
	book.sleepers[sem] = 0;
}

/* Every token that nobody is in doubt about is in a semaphore, or was in hand at the end. */
static void count_the_tokens(const struct region *r)
{
	unsigned found = 0;

	for (unsigned i = 0; i < REGION_SEMS; i++)
		found += (unsigned)ipcwait_sem_value(&r->sem[i]);
	for (unsigned i = 0; i < STORM_WORKERS; i++)
		found += r->intent[i].step == HOLDING;
	CHECK(found <= book.tokens && found + book.doubts >= book.tokens);
}

static void open_new_books(struct region *r)
{
	for (unsigned i = 0; i < REGION_SEMS; i++)
		while (ipcwait_sem_trywait(&r->sem[i]) == 0)
			continue;
	begin(r);
}

static void audit(struct region *r)
{
	for (unsigned i = 0; i < REGION_SEMS; i++)
		bring_home(r, i);
	count_the_tokens(r);
	for (unsigned i = 0; i < REGION_SEMS; i++)
		count_the_dead(r, i);
	open_new_books(r);
}

const struct storm sem_storm = { "sem", begin, work, bury, stir, audit };
