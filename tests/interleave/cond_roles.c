/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include <ipcwait/cond.h>

#include "common/cond_word.h"
#include "interleave/cond_roles.h"
#include "sync/cond_wait.h"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

/* After so long the wake of somebody who was released is missed, in ns. */
#define MISSED_NS 2000000

#define SIGNALS_MAX 8

/* What threads share. */
static struct ipcwait_cond *cond, *other;
static struct ipcwait_mutex *mutex, *unlocked;
static struct shared {
	uint32_t users;
	uint32_t items, turn;
	uint32_t data; /* of whoever signals */
} * shared;

enum phase { OUT, IN, RELEASED, EXPIRED };

/* Notes of the test's own. Volatile: in the middle of a function other coroutines change them. */
static volatile bool gone, rescued;
static volatile enum phase phase[MODEL_THREADS_MAX];
static volatile unsigned begun, handled; /* signals, and those nobody waits for */
static volatile unsigned released;       /* waits that returned 0 */
static volatile unsigned
	found[SIGNALS_MAX]; /* by each: a mask of those who waited then ... */
static volatile unsigned
	known[SIGNALS_MAX]; /* ... and of those who had come when it was over */
static volatile bool exact; /* only signals have released anybody */

static const struct cond_script *script(void)
{
	return model_script();
}

static struct ipcwait_cond *make_cond(const char *word, const char *arrivals)
{
	struct ipcwait_cond *c = model_alloc(sizeof(*c));

	if (!script()->all_watched)
		model_quiet(&c->window, sizeof(c->window));
	model_name(&c->word, word);
	model_name(&c->arrivals, arrivals);
	model_assert(ipcwait_cond_init(c, script()->flags) == 0);
	/* Of no process yet, as one that was made without a call. */
	c->reserved = 0;
	return c;
}

static struct ipcwait_mutex *make_mutex(const char *name)
{
	struct ipcwait_mutex *m = model_alloc(sizeof(*m));

	model_quiet(&m->window, sizeof(m->window));
	/* The checker sees four bytes as one: these two are of different owners. */
	model_quiet(&m->flags, sizeof(m->flags) + sizeof(m->count));
	model_name(&m->word, name);
	model_assert(ipcwait_mutex_init(m, script()->mutex_flags) == 0);
	return m;
}

void cond_begin(void)
{
	const struct cond_script *s = script();

	engine_spins = s->spins;
	gone = rescued = false;
	exact = !s->deep;
	begun = handled = released = 0;
	for (unsigned k = 0; k < SIGNALS_MAX; k++)
		found[k] = known[k] = 0;
	cond = make_cond("word", "arrivals");
	other = make_cond("other word", "other arrivals");
	mutex = make_mutex("mutex");
	unlocked = make_mutex("unlocked mutex");
	cond_fabricate(cond, s->word, s->arrivals);
	shared = model_alloc(sizeof(*shared));
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		phase[i] = OUT;
		shared->users += s->role[i] != NOTHING && s->role[i] < SIGNALS;
	}
}

static void free_cond(void)
{
	gone = true;
	model_free(cond);
}

static void free_all(void)
{
	if (!gone)
		free_cond();
	model_free(other);
	model_free(mutex);
	model_free(unlocked);
	model_free(shared);
}

/* A waiter needs nothing more; whoever is the last frees it all at once. */
static void leave(void)
{
	if (script()->end_frees)
		return;
	if (__atomic_fetch_sub(&shared->users, 1, __ATOMIC_ACQ_REL) == 1)
		free_all();
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

static unsigned waiting(void)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (phase[i] == IN && !model_dead(i))
			mask |= 1u << i;
	return mask;
}

static void lock(void)
{
	int r = ipcwait_mutex_lock(mutex);

	if (r == -EOWNERDEAD)
		r = ipcwait_mutex_consistent(mutex);
	model_assert(r == 0);
}

static void unlock(void)
{
	model_assert(ipcwait_mutex_unlock(mutex) == 0);
}

/* With the mutex; returns with it. */
static int wait_until(int64_t deadline)
{
	int r = deadline == IPCWAIT_FOREVER
			? ipcwait_cond_wait(cond, mutex)
			: ipcwait_cond_wait_until(cond, mutex, deadline);

	if (r == -EOWNERDEAD)
		r = ipcwait_mutex_consistent(mutex);
	model_assert(r == 0 || (r == -ETIMEDOUT && model_now() >= deadline));
	return r;
}

static void wait_once(unsigned i, int64_t deadline)
{
	bool twice = script()->mutex_flags & IPCWAIT_RECURSIVE;
	int r;

	lock();
	if (twice)
		lock();
	phase[i] = IN;
	r = wait_until(deadline);
	phase[i] = r == 0 ? RELEASED : EXPIRED;
	released += r == 0;
	if (r == 0 && script()->data)
		model_assert(shared->data == 1);
	if (twice)
		unlock();
	unlock();
	if (script()->mutex_flags & IPCWAIT_ROBUST) {
		/* It is still good for something. */
		lock();
		unlock();
	}
	leave();
}

static void consume(void)
{
	for (unsigned n = script()->rounds ? script()->rounds : 1; n; n--) {
		lock();
		while (!shared->items)
			(void)wait_until(IPCWAIT_FOREVER);
		shared->items--;
		unlock();
	}
	leave();
}

static void produce(unsigned items)
{
	for (unsigned n = script()->rounds ? script()->rounds : 1; n; n--) {
		lock();
		shared->items += items;
		unlock();
		model_assert((items > 1 ? ipcwait_cond_broadcast(cond)
					: ipcwait_cond_signal(cond)) == 0);
	}
}

static void misuse(void)
{
	model_assert(ipcwait_cond_wait(cond, unlocked) == -EPERM);
	leave();
}

static unsigned entered(void)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (phase[i] != OUT)
			mask |= 1u << i;
	return mask;
}

/* So many others wait from now on, and have left nothing else behind. */
static void come(uint32_t n)
{
	if (!n)
		return;
	(void)ipcwait_impl_add64_relaxed(&cond->arrivals, COND_ARRIVALS(0, 0, n));
	(void)ipcwait_impl_add32_release(&cond->out, n);
}

/* Returns with the mutex when enough threads wait. */
static void await_waiters(void)
{
	unsigned enough = script()->enough ? script()->enough : 1;

	while (!begun && (unsigned)__builtin_popcount(entered()) < enough && !deaths())
		model_pause();
	lock();
}

static void signal_waiters(unsigned n, bool inside)
{
	for (; n; n--) {
		unsigned k;

		await_waiters();
		k = begun;
		found[k] = waiting();
		known[k] = UINT32_MAX;
		begun++;
		if (!inside)
			unlock();
		if (script()->data)
			shared->data = 1;
		model_assert(ipcwait_cond_signal(cond) == 0);
		known[k] = entered();
		if (inside)
			unlock();
	}
}

/* As preload/after_unlock.c: between unlock and wake all may go, and the memory with them. */
static void signal_later(void)
{
	struct iw_due_wake due = { 0 };

	await_waiters();
	found[begun] = waiting();
	known[begun++] = UINT32_MAX;
	if (script()->data)
		shared->data = 1;
	iw_cond_signal_due(cond, &due);
	unlock();
	if (iw_is_due(&due))
		iw_make_wake(&due);
}

static void find_all(void)
{
	await_waiters();
	exact = false;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (waiting() & 1u << i)
			found[begun++] = 1u << i;
	if (script()->data)
		shared->data = 1;
}

static void broadcast(void)
{
	find_all();
	unlock();
	model_assert(ipcwait_cond_broadcast(cond) == 0);
}

static void broadcast_later(void)
{
	struct iw_due_wake due = { 0 };

	find_all();
	iw_cond_broadcast_due(cond, &due);
	unlock();
	if (iw_is_due(&due))
		iw_make_wake(&due);
}

static void end_it(void)
{
	await_waiters();
	exact = false;
	model_assert(ipcwait_cond_broadcast(cond) == 0);
	model_assert(ipcwait_cond_fini(cond) == 0);
	free_cond();
	unlock();
}

/* Once somebody has a ticket. */
static void leap(void)
{
	uint64_t a;

	do {
		model_pause();
		a = model_peek(&cond->arrivals);
	} while (a >> 32 == script()->arrivals >> 32 || arrivals_spinner(a));
	come(script()->leap);
}

static void take_turns(unsigned i)
{
	struct ipcwait_cond *mine = i ? other : cond, *others = i ? cond : other;

	for (unsigned n = script()->rounds; n; n--) {
		lock();
		while (shared->turn != i)
			model_assert(ipcwait_cond_wait(mine, mutex) == 0);
		shared->turn = !i;
		model_assert(ipcwait_cond_signal(others) == 0);
		unlock();
	}
}

void cond_thread(unsigned i)
{
	switch (script()->role[i]) {
	case WAITS:
		wait_once(i, IPCWAIT_FOREVER);
		break;
	case WAITS_UNTIL:
		wait_once(i, model_now() + SOON_NS);
		break;
	case CONSUMES:
		consume();
		break;
	case MISUSES:
		misuse();
		break;
	case SIGNALS:
	case SIGNALS_TWICE:
	case SIGNALS_THRICE:
		signal_waiters(script()->role[i] - SIGNALS + 1, false);
		break;
	case SIGNALS_INSIDE:
		signal_waiters(1, true);
		break;
	case SIGNALS_ANYWAY:
		handled++;
		model_assert(ipcwait_cond_signal(cond) == 0);
		break;
	case SIGNALS_LATER:
		signal_later();
		break;
	case BROADCASTS:
		broadcast();
		break;
	case BROADCASTS_LATER:
		broadcast_later();
		break;
	case PRODUCES:
		produce(1);
		break;
	case PRODUCES_TWO:
		produce(2);
		break;
	case LEAPS:
		leap();
		break;
	case TAKES_TURNS:
		take_turns(i);
		break;
	case ENDS:
		end_it();
		break;
	default:
		break;
	}
}

/* Anywhere, in whatever call. */
void cond_handler(unsigned i)
{
	(void)i;
	if (gone)
		return;
	handled++;
	model_assert(ipcwait_cond_signal(cond) == 0);
}

void cond_look(void)
{
	uint64_t w, a;
	uint32_t gone_bits;

	if (gone)
		return;
	w = model_peek(&cond->word);
	a = model_peek(&cond->arrivals);
	gone_bits = w >> 40 & 0xffff;
	model_assert((uint32_t)(a >> 32) - (uint32_t)w < 1u << 31);
	model_assert(!(gone_bits & 1) || (gone_bits == 0xffff && w >> 56));
	if (exact)
		model_assert(released <= begun + handled);
}

/*
 * Every signal that has found @i waiting released somebody: not one that came when it was over,
 * nor one that gave up. A stranger and a dead one may each have used up one.
 */
static void check_signals_of(unsigned i)
{
	unsigned signals = 0, who = 0, n = 0;

	for (unsigned k = 0; k < begun && k < SIGNALS_MAX; k++) {
		if (found[k] >> i & 1) {
			signals++;
			who |= known[k] ? known[k] : found[k];
		}
	}
	for (unsigned k = 0; k < MODEL_THREADS_MAX; k++)
		n += who >> k & 1 && phase[k] == RELEASED;
	model_assert(n + script()->strangers + deaths() >= signals);
}

/* Nobody can run. Then whoever still waits does so rightly, and a broadcast reaches it. */
void cond_at_rest(void)
{
	unsigned mask = gone ? 0 : waiting();

	/* Some are on their way: the real mutex's sleepers wake by themselves. */
	if (mask && model_sleepers() > model_sleepers_on(&cond->word))
		return;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (mask >> i & 1 && !rescued)
			check_signals_of(i);
	if (!mask || !script()->rescues)
		return;
	model_assert(!rescued);
	rescued = true;
	exact = false;
	model_elapse(MISSED_NS);
	model_assert(ipcwait_cond_broadcast(cond) == 0);
}

void cond_died(unsigned process)
{
	(void)process;
	cond_mutex_died(mutex);
}

/* Nobody waits any more, and everybody has said so. */
void cond_end(void)
{
	const struct cond_script *s = script();
	bool others = s->strangers || s->deep || s->leap;

	if (gone && !s->end_frees)
		return;
	if (!gone && !deaths()) {
		model_assert(cond_inside(cond) == 0);
		model_assert(others || cond_tickets(cond) == 0);
		model_assert(others || ipcwait_cond_fini(cond) == 0);
	}
	free_all();
}
