/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include <ipcwait/sem.h>

#include "common/sem_word.h"
#include "interleave/sem_roles.h"
#include "linear/wing_gong.h"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

/* More than all readings of the clock in an execution take, in ns. */
#define LATE_NS 300000

/* After so long wakes under way are stale, in ns. */
#define STALE_NS 2000000

/* What threads share. */
static struct ipcwait_sem *sem, *other;
static struct shared {
	uint32_t users;
	uint32_t data; /* of whoever holds a token */
} * shared;

/* Notes of the test's own. Volatile: in the middle of a function other coroutines change them. */
static volatile bool gone;
static volatile bool handling[MODEL_THREADS_MAX];
static volatile uint64_t final; /* the word when it was freed */
static volatile unsigned begun, posted, taken;
static struct history history;
static struct history_op ops[SPEC_OPS];
static volatile bool healed; /* what a death has left behind has been put right */

static const struct sem_script *script(void)
{
	return model_script();
}

static bool waits(enum role role)
{
	return role != NOTHING && (role < POSTS || role > POSTS_TWO);
}

static struct ipcwait_sem *make_sem(uint64_t word, const char *name)
{
	struct ipcwait_sem *s = model_alloc(sizeof(*s));

	if (!script()->all_watched)
		model_quiet(&s->window, sizeof(s->window));
	model_name(&s->word, name);
	model_assert(ipcwait_sem_init(s, 0, script()->flags) == 0);
	/* Of no process yet, as one that was made without a call. */
	s->reserved = 0;
	s->word.v = word;
	return s;
}

void sem_begin(void)
{
	const struct sem_script *s = script();

	engine_spins = s->spins;
	model_one_cpu = s->one_cpu;
	gone = healed = false;
	history_begin(&history, ops, SPEC_OPS);
	begun = posted = word_value(s->word);
	taken = 0;
	sem = make_sem(s->word, "sem.word");
	other = make_sem(0, "other.word");
	shared = model_alloc(sizeof(*shared));
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		handling[i] = false;
		if (waits(s->role[i]) || (s->posters_stay && s->role[i] != NOTHING))
			shared->users++;
	}
}

static void free_all(void)
{
	gone = true;
	final = model_peek(&sem->word);
	model_free(sem);
	model_free(other);
	model_free(shared);
}

/* The caller needs the semaphore no more; whoever is the last frees it at once. */
static void leave(void)
{
	if (script()->end_frees)
		return;
	if (__atomic_fetch_sub(&shared->users, 1, __ATOMIC_ACQ_REL) == 1)
		free_all();
}

/* It has not expired too soon, nor much too late. */
static int wait_until(void)
{
	int64_t after = script()->deadline_ns ? script()->deadline_ns : SOON_NS;
	int64_t deadline = model_now() + after;
	int r = ipcwait_sem_wait_until(sem, deadline);

	model_assert(r != -ETIMEDOUT || model_now() >= deadline);
	model_assert(r != -ETIMEDOUT || !script()->punctual ||
		     model_now() < deadline + LATE_NS);
	return r;
}

static int wait_once(enum role role)
{
	uint32_t code = role == TRIES         ? SEM_TRYWAIT
			: role == WAITS_UNTIL ? SEM_WAIT_UNTIL
					      : SEM_WAIT;
	struct history_op *op = history_call(&history, model_thread(), code, 0);
	int r = role == TRIES         ? ipcwait_sem_trywait(sem)
		: role == WAITS_UNTIL ? wait_until()
				      : ipcwait_sem_wait(sem);

	taken += r == 0;
	history_return(&history, op, r);
	return r;
}

static bool interrupted(int r)
{
	return r == -EINTR && script()->flags & IPCWAIT_INTERRUPTIBLE;
}

static int take(enum role role)
{
	int r;

	do
		r = wait_once(role);
	while (r == -EINTR && role == WAITS_OFTEN);
	if (r == 0 && script()->data)
		model_assert(shared->data == 1);
	return r;
}

/* A handler is a thread of its own, for the history: its post is within another operation. */
static unsigned who(void)
{
	unsigned i = model_thread();

	return i < MODEL_THREADS_MAX && handling[i] ? i + MODEL_THREADS_MAX + 1 : i;
}

static void post(struct ipcwait_sem *s, uint32_t n)
{
	struct history_op *op;
	int r;

	if (script()->data)
		shared->data = 1;
	begun += n;
	op = s == sem ? history_call(&history, who(), SEM_POST_N, n) : NULL;
	r = ipcwait_sem_post_n(s, n);
	model_assert(r == 0 || (r == -EOVERFLOW && script()->full));
	if (r == 0)
		posted += n;
	else
		begun -= n;
	if (op)
		history_return(&history, op, r);
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

/* Whatever the dead have left, after this one it is put right. */
static void post_late(void)
{
	bool after = deaths() > 0;

	model_elapse(STALE_NS);
	post(sem, 1);
	healed = after;
}

static void hand_over(unsigned i)
{
	if (i == 0) {
		shared->data++;
		post(sem, 1);
		model_assert(ipcwait_sem_wait(other) == 0);
	} else {
		model_assert(take(WAITS) == 0);
		shared->data++;
		model_assert(ipcwait_sem_post(other) == 0);
	}
}

static void act(unsigned i, enum role role)
{
	int r;

	switch (role) {
	case NOTHING:
		break;
	case POSTS_LATE:
		post_late();
		break;
	case POSTS:
	case POSTS_TWO:
		post(sem, role == POSTS ? 1 : 2);
		break;
	case LOCKS:
		model_assert(take(WAITS) == 0);
		shared->data++;
		post(sem, 1);
		break;
	case HANDS_OVER:
		hand_over(i);
		break;
	case WAITS_UNTIL:
		r = take(role);
		model_assert(r == 0 || r == -ETIMEDOUT || interrupted(r));
		break;
	case TRIES:
		r = take(role);
		model_assert(r == 0 || r == -EAGAIN);
		break;
	default:
		r = take(role);
		model_assert(r == 0 || (interrupted(r) && role != WAITS_OFTEN));
	}
}

void sem_thread(unsigned i)
{
	const struct sem_script *s = script();
	bool last = waits(s->role[i]) || s->posters_stay;

	for (unsigned n = 0; n < (s->rounds ? s->rounds : 1); n++)
		act(i, s->role[i]);
	if (s->role[i] == FINISHES)
		model_assert(ipcwait_sem_fini(sem) == 0);
	if (last)
		leave();
}

/* A handler may post wherever the thread was. */
void sem_handler(unsigned i)
{
	handling[i] = true;
	post(sem, 1);
	handling[i] = false;
}

void sem_look(void)
{
	uint64_t w;

	if (gone)
		return;
	w = model_peek(&sem->word);
	model_assert(word_wakes(w) <= word_sleepers(w));
	model_assert(!(w & WORD_SPINNER) || !word_value(w));
	model_assert(word_value(w) + taken <= begun);
}

/*
 * Whoever sleeps, with or without a deadline, sleeps for want of tokens. One that is unpublished,
 * since it could not be counted, will look by itself.
 */
void sem_at_rest(void)
{
	bool unpublished = model_sleepers() > model_sleepers_on(&sem->word);

	model_assert(gone || unpublished || word_value(model_peek(&sem->word)) == 0);
}

/*
 * A process may have died. What <ipcwait/sem.h> promises then: a post that finds the wakes
 * under way stale reaches a sleeper; after the death of a spinner it may take a second one. Then
 * no token lies beside a sleeper any more.
 */
void sem_rescue(void)
{
	unsigned most = script()->spins == ENGINE_SLEEPS ? 1 : 2;

	model_assert((deaths() && !healed) || word_value(model_peek(&sem->word)) == 0);
	for (unsigned n = 0; n < most && model_sleepers(); n++) {
		model_elapse(STALE_NS);
		post(sem, 1);
	}
	healed = deaths() > 0;
}

/*
 * Every operation seems to have happened at one instant, that of the dead perhaps. Not so in weak
 * memory: there a thread may not yet see a token of which nobody has told it.
 */
static void check_history(uint64_t w)
{
	static struct wing_gong *checker;
	static struct spec spec;

	if (model_memory() == MODEL_WEAK)
		return;
	spec = spec_sem(word_value(script()->word), IPCWAIT_SEM_VALUE_MAX);
	if (!checker)
		checker = wing_gong_create(&spec);
	history_return(&history, history_call(&history, model_thread(), SEM_VALUE, 0),
		       word_value(w));
	if (wing_gong_check(checker, history.ops, history.count) == WING_GONG_YES)
		return;
	if (model_tracing())
		wing_gong_print(checker, stdout);
	model_fail(MODEL_ASSERTION, "the history is not linearizable");
}

/* As they were: nobody has asked for the parent's waiters. */
static bool is_copy(uint64_t w)
{
	return script()->flags & IPCWAIT_PRIVATE &&
	       word_sleepers(w) == word_sleepers(script()->word);
}

/* Every token is somewhere. The dead may have posted or taken one without having said so. */
void sem_end(void)
{
	uint64_t w = gone ? final : model_peek(&sem->word);
	unsigned known = word_value(w) + taken;

	model_assert(known <= begun);
	model_assert(known + deaths() >= posted);
	if (!deaths() && !(uint32_t)script()->word)
		model_assert((w & ~WORD(~0u, 0, 0)) == script()->left);
	if (!deaths())
		model_assert(
			(word_sleepers(w) == word_sleepers(script()->left) || is_copy(w)) &&
			!(w & WORD_SPINNER));
	check_history(w);
	if (!gone)
		free_all();
}
