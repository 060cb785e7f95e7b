/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include <ipcwait/event.h>
#include <ipcwait/eventcount.h>
#include <ipcwait/futex.h>
#include <ipcwait/sem.h>
#include <ipcwait/wait_any.h>

#include "common/eventcount_word.h"
#include "common/sem_word.h"
#include "interleave/wait_any_roles.h"

/* Here, so that the checker can be told of its static data. */
#include "engine/sleep.c"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 5000000

/* After so long wakes under way are stale, in ns. */
#define STALE_NS 2000000

/* What threads share. */
static struct shared {
	struct ipcwait_sem a, b;
	struct ipcwait_event e, m;
	struct ipcwait_eventcount c;
	uint32_t w;
	uint32_t condition; /* of c */
	uint32_t users;
	uint32_t data; /* of whoever holds a token */
	struct ipcwait_window window;
} * shared;

/* Notes of the test's own. Volatile: in the middle of a function other coroutines change them. */
static volatile bool gone;
static volatile uint64_t final[2];                    /* a and b when they were freed */
static volatile unsigned begun[2], posted[2], got[2]; /* tokens of a and b */
static volatile bool told[128]; /* of w, e, m, c there was something */

static const struct any_script *script(void)
{
	return model_script();
}

static bool waits(enum any_deed deed)
{
	return deed == ANY_WAITS || deed == ANY_WAITS_UNTIL || deed == ANY_WAITS_ALONE;
}

static struct ipcwait_sem *sem(unsigned i)
{
	return i ? &shared->b : &shared->a;
}

static void begin_sem(unsigned i)
{
	struct ipcwait_sem *s = sem(i);

	model_assert(ipcwait_sem_init(s, 0, script()->flags[i]) == 0);
	s->word.v = script()->word[i];
	model_quiet(&s->window, sizeof(s->window));
	begun[i] = posted[i] = word_value(script()->word[i]);
	got[i] = 0;
}

static void begin_objects(void)
{
	begin_sem(0);
	begin_sem(1);
	model_assert(ipcwait_event_init(&shared->e, IPCWAIT_AUTO_RESET) == 0);
	/* Not for the first time: it has a past. */
	model_assert(ipcwait_event_set(&shared->m) == 0);
	model_assert(ipcwait_event_reset(&shared->m) == 0);
	model_quiet(&shared->e.window, sizeof(shared->e.window));
	model_quiet(&shared->m.window, sizeof(shared->m.window));
	model_quiet(&shared->c.window, sizeof(shared->c.window));
	model_name(&shared->a.word, "a");
	model_name(&shared->b.word, "b");
	model_name(&shared->e.word, "e");
	model_name(&shared->m.word, "m");
	model_name(&shared->c.word, "c");
	model_name(&shared->w, "w");
	for (unsigned i = 0; i < sizeof(told); i++)
		told[i] = false;
}

void any_begin(void)
{
	const struct any_script *s = script();

	engine_spins = s->spins;
	model_lacks_waitv = s->lacks_waitv;
	model_share(&absent, sizeof(absent));
	gone = false;
	shared = model_alloc(sizeof(*shared));
	model_quiet(&shared->window, sizeof(shared->window));
	begin_objects();
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (waits(s->role[i].deed) ||
		    (s->posters_stay && s->role[i].deed != ANY_NOTHING))
			shared->users++;
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

static void finish_all(void)
{
	for (unsigned i = 0; i < 2; i++)
		model_assert(word_sleepers(script()->word[i]) ||
			     ipcwait_sem_fini(sem(i)) == 0);
	model_assert(ipcwait_event_fini(&shared->e) == 0);
	model_assert(ipcwait_event_fini(&shared->m) == 0);
	model_assert(ipcwait_eventcount_fini(&shared->c) == 0);
}

/* Nobody is counted any more, but those who were killed. */
static void free_all(void)
{
	for (unsigned i = 0; i < 2; i++)
		final[i] = model_peek(&sem(i)->word);
	if (!deaths())
		finish_all();
	gone = true;
	model_free(shared);
}

/* The caller needs the objects no more; whoever is the last frees them at once. */
static void leave(void)
{
	if (__atomic_fetch_sub(&shared->users, 1, __ATOMIC_ACQ_REL) == 1)
		free_all();
}

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Something for one thread, or for all that wait for m. */
static void post(char name)
{
	unsigned i = name == 'b';

	told[(unsigned)name] = true;
	switch (name) {
	case 'w':
		__atomic_store_n(&shared->w, 1, __ATOMIC_RELEASE);
		model_assert(ipcwait_futex_wake(&shared->w, 1, 0) >= 0);
		break;
	case 'c':
		__atomic_store_n(&shared->condition, 1, __ATOMIC_RELEASE);
		model_assert(ipcwait_eventcount_notify(&shared->c, 1) == 0);
		break;
	case 'e':
		model_assert(ipcwait_event_set(&shared->e) == 0);
		break;
	case 'm':
		model_assert(ipcwait_event_set(&shared->m) == 0);
		break;
	default:
		begun[i]++;
		model_assert(ipcwait_sem_post(sem(i)) == 0);
		posted[i]++;
	}
}

/* A wait has ended with this object. */
static void note(char name)
{
	if (name == 'a' || name == 'b') {
		got[name == 'b']++;
		model_assert(!script()->data || shared->data == 1);
		return;
	}
	model_assert(told[(unsigned)name]);
	if (name != 'm')
		post(name);
}

static struct ipcwait_waitable waitable(char name)
{
	switch (name) {
	case 'w':
		return (struct ipcwait_waitable){ .object = &shared->w };
	case 'c':
		return (struct ipcwait_waitable){
			.type = IPCWAIT_WAITABLE_EVENTCOUNT,
			.object = &shared->c,
			.expected = ipcwait_eventcount_prepare(&shared->c),
		};
	case 'e':
	case 'm':
		return (struct ipcwait_waitable){
			.type = IPCWAIT_WAITABLE_EVENT,
			.object = name == 'e' ? &shared->e : &shared->m,
		};
	default:
		return (struct ipcwait_waitable){
			.type = IPCWAIT_WAITABLE_SEM,
			.object = sem(name == 'b'),
		};
	}
}

/* What it got. Whoever has prepared looks at the condition once more. */
static int wait_any(const char *what, int64_t deadline_ns)
{
	struct ipcwait_waitable set[MODEL_WORDS_MAX];
	const char *count = strchr(what, 'c');
	int n = 0, r;

	for (; what[n]; n++)
		set[n] = waitable(what[n]);
	r = count && load(&shared->condition)
		    ? (int)(count - what)
		    : ipcwait_wait_any(set, (unsigned)n, deadline_ns,
				       script()->own_window ? NULL : &shared->window);
	model_assert(r < n);
	if (r < 0)
		return r;
	note(what[r]);
	if (script()->gives_back && (what[r] == 'a' || what[r] == 'b'))
		post(what[r]);
	return r;
}

static void wait_until(const char *what)
{
	int64_t deadline = model_now() + SOON_NS;
	int r = wait_any(what, deadline);

	model_assert(r >= 0 || (r == -ETIMEDOUT && model_now() >= deadline));
}

static int wait_alone(char name)
{
	uint64_t key;

	switch (name) {
	case 'w':
		return load(&shared->w) ? 0
					: ipcwait_futex_wait(&shared->w, 0, IPCWAIT_FOREVER,
							     &shared->window, 0);
	case 'c':
		key = ipcwait_eventcount_prepare(&shared->c);
		return load(&shared->condition) ? 0
						: ipcwait_eventcount_commit(
							  &shared->c, key, IPCWAIT_FOREVER);
	case 'e':
	case 'm':
		return ipcwait_event_wait(name == 'e' ? &shared->e : &shared->m);
	default:
		return ipcwait_sem_wait(sem(name == 'b'));
	}
}

static void wait_by_itself(char name)
{
	int r;

	do
		r = wait_alone(name);
	while (r == -EAGAIN);
	model_assert(r == 0);
	note(name);
}

/* A wake that means nothing, or a set of m that does not last. */
static void wake(char name)
{
	while (!model_sleepers())
		model_pause();
	told[(unsigned)name] = true;
	if (name == 'w') {
		model_assert(ipcwait_futex_wake(&shared->w, 1, 0) == 1);
		return;
	}
	model_assert(ipcwait_event_set(&shared->m) == 0);
	model_assert(ipcwait_event_reset(&shared->m) == 0);
}

static void act(const struct any_role *role)
{
	const char *what = role->what;
	int r;

	switch (role->deed) {
	case ANY_WAITS:
		r = wait_any(what, IPCWAIT_FOREVER);
		model_assert(r >= 0);
		break;
	case ANY_WAITS_UNTIL:
		wait_until(what);
		break;
	case ANY_WAITS_ALONE:
		wait_by_itself(*what);
		break;
	case ANY_TRIES:
		for (; *what; what++)
			if (ipcwait_sem_trywait(sem(*what == 'b')) == 0)
				note(*what);
		break;
	case ANY_WAKES:
		wake(*what);
		break;
	default:
		if (script()->data)
			shared->data = 1;
		for (; *what; what++)
			post(*what);
	}
}

void any_thread(unsigned i)
{
	const struct any_role *role = &script()->role[i];

	act(role);
	if (waits(role->deed) || script()->posters_stay)
		leave();
}

static void look_at_count(uint64_t w)
{
	unsigned line = w >> 43 & 0x3ff, left = w >> 53 & 0xf;

	model_assert(left <= line);
}

void any_look(void)
{
	for (unsigned i = 0; i < 2 && !gone; i++) {
		uint64_t w = model_peek(&sem(i)->word);

		model_assert(word_wakes(w) <= word_sleepers(w));
		model_assert(!(w & WORD_SPINNER) || !word_value(w));
		model_assert(word_value(w) + got[i] <= begun[i]);
	}
	look_at_count(gone ? 0 : model_peek(&shared->c.word));
}

static bool sleeps_beside(const void *word, bool there)
{
	return there && model_sleepers_on(word);
}

/* Somebody sleeps on what is there. */
static bool forgotten(void)
{
	return sleeps_beside(&shared->a.word, word_value(model_peek(&shared->a.word))) ||
	       sleeps_beside(&shared->b.word, word_value(model_peek(&shared->b.word))) ||
	       sleeps_beside(&shared->e.word,
			     model_peek(&shared->e.word) & IPCWAIT_IMPL_EVENT_SET) ||
	       sleeps_beside(&shared->m.word, told['m']) ||
	       sleeps_beside(&shared->w, told['w']) ||
	       sleeps_beside(&shared->c.word, told['c']);
}

void any_at_rest(void)
{
	model_assert(gone || !forgotten());
}

/* A process may have died: a post that finds the wakes under way stale reaches whoever sleeps. */
void any_rescue(void)
{
	model_assert(deaths() || !forgotten());
	for (unsigned i = 0; i < 2; i++) {
		if (!model_sleepers_on(&sem(i)->word))
			continue;
		model_elapse(STALE_NS);
		post(i ? 'b' : 'a');
		model_assert(!model_sleepers_on(&sem(i)->word));
	}
}

/* Every token is somewhere, and nobody is counted who has gone. */
void any_end(void)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t w = gone ? final[i] : model_peek(&sem(i)->word);
		uint64_t before = script()->word[i];
		unsigned known = word_value(w) + got[i];

		model_assert(known <= begun[i] && known + deaths() >= posted[i]);
		model_assert(deaths() || (word_sleepers(w) == word_sleepers(before) &&
					  !(w & WORD_SPINNER)));
	}
	if (!gone)
		free_all();
}
