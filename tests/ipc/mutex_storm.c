/* SPDX-License-Identifier: MIT */
/*
 * Everybody counts the same two numbers up, under a robust mutex. A worker that is killed while
 * it owns the mutex leaves them unequal, or not; whoever comes next is told, and repairs them.
 * What is audited: nobody is ever inside with another, each number agrees with what the workers
 * have noted, and -EOWNERDEAD comes once for each owner that has died.
 */
#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "storm.h"

/* OWNING: certainly the owner. LOCKING, LEAVING: perhaps. INHERITING: the owner, after another
 * who has died, which it may have noted or not. */
enum step { IDLE, LOCKING, INHERITING, OWNING, LEAVING };

/* One heir in so many gives the mutex up, until the round is over. */
#define RESIGN 24

/* In which a mutex must be had, in ns. */
#define LONG_NS INT64_C(100000000000)

/* Dead sleepers with which the mutex goes on, lest they become 65535. */
#define DEAD_MAX 1000

/* The books, for one round. */
static struct {
	uint64_t done;    /* noted by workers that are gone */
	uint64_t owners;  /* who certainly died as such */
	uint64_t perhaps; /* who may have, or may not have noted the one before */
} book;

static int lock(struct region *r, const struct intent *mine, uint64_t n)
{
	if (mine->forever)
		return ipcwait_mutex_lock(&r->mutex);
	if (n % 16 == 0)
		return ipcwait_mutex_trylock(&r->mutex);
	return ipcwait_mutex_lock_until(&r->mutex,
					ipcwait_deadline_in_ns((int64_t)(n >> 8) % 300000));
}

/* True if the mutex is still good for something. */
static bool inherit(struct region *r, struct intent *mine, uint64_t n)
{
	storm_intend(mine, INHERITING);
	r->taken++;
	storm_intend(mine, OWNING);
	(void)guarded_repair(&r->guarded);
	if (n % RESIGN) {
		CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), 0);
		return true;
	}
	storm_intend(mine, LEAVING);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	storm_intend(mine, IDLE);
	return false;
}

/* Some sections are so long that others go to sleep meanwhile. */
static void count_up(struct region *r, struct intent *mine, uint64_t n)
{
	int64_t end = ipcwait_deadline_in_ns((int64_t)(n >> 40) % 4 ? 0 : 30000);

	guarded_begin(&r->guarded);
	while (ipcwait_now_ns() < end)
		continue;
	guarded_end(&r->guarded);
	mine->done++;
}

static void count_and_leave(struct region *r, struct intent *mine, uint64_t n)
{
	storm_intend(mine, OWNING);
	count_up(r, mine, n);
	storm_intend(mine, LEAVING);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	storm_intend(mine, IDLE);
}

static void work_once(struct region *r, struct intent *mine, uint64_t n)
{
	int result;

	mine->forever = n % 4;
	storm_intend(mine, LOCKING);
	result = lock(r, mine, n);
	if (result == 0 || (result == -EOWNERDEAD && inherit(r, mine, n >> 16))) {
		count_and_leave(r, mine, n);
		return;
	}
	storm_intend(mine, IDLE);
	CHECK(result == -EOWNERDEAD || result == -ENOTRECOVERABLE ||
	      (!mine->forever && (result == -ETIMEDOUT || result == -EBUSY)));
}

static void work(struct region *r, unsigned slot)
{
	uint64_t seed = storm_seed();

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE))
		work_once(r, &r->intent[slot], check_random(&seed));
}

static unsigned sleepers(const struct region *r)
{
	return __atomic_load_n(&r->mutex.word.v, __ATOMIC_RELAXED) & 0xffff;
}

static void init(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_init(&r->mutex, IPCWAIT_ROBUST), 0);
}

static void bury(struct region *r, unsigned slot)
{
	const struct intent *its = &r->intent[slot];

	book.done += its->done;
	book.owners += its->step == OWNING || its->step == INHERITING;
	book.perhaps += its->step != OWNING && its->step != IDLE;
}

static void stir(struct region *r)
{
	(void)r;
}

/* The living end by themselves, whoever has died. */
static void await_all(const struct region *r)
{
	while (storm_asleep(r, -1))
		continue;
}

/* Or the last owner has died when nobody was there any more to be told. */
static bool is_lost(struct region *r)
{
	struct intent mine = { .step = IDLE };
	int result = ipcwait_mutex_lock_until(&r->mutex, ipcwait_deadline_in_ns(LONG_NS));

	if (result == -EOWNERDEAD)
		(void)inherit(r, &mine, 1);
	else if (result == -ENOTRECOVERABLE)
		return true;
	else
		CHECK_EQ(result, 0);
	guarded_begin(&r->guarded);
	r->guarded.begun--;
	r->guarded.inside = 0;
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
	return false;
}

static void count_the_deaths(const struct region *r)
{
	CHECK(r->taken <= book.owners + book.perhaps);
	CHECK(r->taken + book.perhaps >= book.owners);
}

/* A dead owner may have counted and not noted it. */
static void count_the_work(const struct region *r)
{
	uint64_t noted = book.done;

	for (unsigned i = 0; i < STORM_WORKERS; i++)
		noted += r->intent[i].done;
	CHECK(r->guarded.done >= noted && r->guarded.done - noted <= book.owners);
}

static void open_new_books(struct region *r)
{
	memset(&book, 0, sizeof(book));
	memset(&r->guarded, 0, sizeof(r->guarded));
	r->taken = 0;
}

static void audit(struct region *r)
{
	bool lost;

	await_all(r);
	lost = is_lost(r);
	count_the_deaths(r);
	count_the_work(r);
	open_new_books(r);
	if (lost || sleepers(r) >= DEAD_MAX)
		init(r);
}

const struct storm mutex_storm = { "mutex", init, work, bury, stir, audit };
