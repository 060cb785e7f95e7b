/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include <ipcwait/event.h>

#include "common/event_word.h"
#include "interleave/event_roles.h"
#include "linear/wing_gong.h"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

/* More than all readings of the clock in an execution take, in ns. */
#define LATE_NS 300000

/* After so long a wake under way is stale, in ns. */
#define STALE_NS 2000000

/* What threads share. */
static struct ipcwait_event *event;
static struct shared {
	uint32_t users;
	uint32_t data; /* of the setter, for whoever is let through */
	struct ipcwait_word32 changed[MODEL_THREADS_MAX];
} * shared;

/* Notes of the test's own. Volatile: in the middle of a function other coroutines change them. */
static volatile bool gone;
static volatile bool handling[MODEL_THREADS_MAX];
static volatile uint64_t final; /* the word when it was freed */
static volatile uint64_t
	slept_on[MODEL_THREADS_MAX]; /* the word when the thread fell asleep */
static volatile bool slept[MODEL_THREADS_MAX];
static struct history history;
static struct history_op ops[SPEC_OPS];
static volatile bool healed; /* what a death has left behind has been put right */

static const struct event_script *script(void)
{
	return model_script();
}

static bool resets_itself(void)
{
	return script()->flags & IPCWAIT_AUTO_RESET;
}

static bool waits(enum event_role role)
{
	return role != NOTHING && role <= FINISHES;
}

void event_begin(void)
{
	const struct event_script *s = script();

	engine_spins = s->spins;
	gone = healed = false;
	history_begin(&history, ops, SPEC_OPS);
	event = model_alloc(sizeof(*event));
	if (!s->all_watched)
		model_quiet(&event->window, sizeof(event->window));
	model_name(&event->word, "event.word");
	model_assert(ipcwait_event_init(event, s->flags) == 0);
	/* Of no process yet, as one that was made without a call. */
	event->reserved = 0;
	event->word.v = s->word;
	shared = model_alloc(sizeof(*shared));
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		handling[i] = slept[i] = false;
		if (waits(s->role[i]) || (s->setters_stay && s->role[i] != NOTHING))
			shared->users++;
	}
}

static void free_all(void)
{
	gone = true;
	final = model_peek(&event->word);
	model_free(event);
	model_free(shared);
}

/* The caller needs the event no more; whoever is the last frees it at once. */
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
	int r = ipcwait_event_wait_until(event, deadline);

	model_assert(r != -ETIMEDOUT || model_now() >= deadline);
	model_assert(r != -ETIMEDOUT || !script()->punctual ||
		     model_now() < deadline + LATE_NS);
	return r;
}

static int wait_once(enum event_role role)
{
	uint32_t code = role == TRIES         ? EVENT_TRYWAIT
			: role == WAITS_UNTIL ? EVENT_WAIT_UNTIL
					      : EVENT_WAIT;
	struct history_op *op = history_call(&history, model_thread(), code, 0);
	int r = role == TRIES         ? ipcwait_event_trywait(event)
		: role == WAITS_UNTIL ? wait_until()
				      : ipcwait_event_wait(event);

	history_return(&history, op, r);
	return r;
}

static bool interrupted(int r)
{
	return r == -EINTR && script()->flags & IPCWAIT_INTERRUPTIBLE;
}

static int take(enum event_role role)
{
	int r;

	do
		r = wait_once(role);
	while (r == -EINTR && role == WAITS_OFTEN);
	if (r == 0 && script()->data)
		model_assert(shared->data == 1);
	return r;
}

/* A handler is a thread of its own, for the history: its set is within another operation. */
static unsigned who(void)
{
	unsigned i = model_thread();

	return i < MODEL_THREADS_MAX && handling[i] ? i + MODEL_THREADS_MAX + 1 : i;
}

static void set(void)
{
	struct history_op *op;

	if (script()->data)
		shared->data = 1;
	op = history_call(&history, who(), EVENT_SETS, 0);
	history_return(&history, op, ipcwait_event_set(event));
}

static void reset(void)
{
	struct history_op *op = history_call(&history, model_thread(), EVENT_RESETS, 0);

	history_return(&history, op, ipcwait_event_reset(event));
}

static void look_whether_set(void)
{
	struct history_op *op = history_call(&history, model_thread(), EVENT_IS_SET, 0);
	bool is_set = ipcwait_event_is_set(event);

	history_return(&history, op, is_set);
	if (is_set && script()->data)
		model_assert(shared->data == 1);
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

/* Whatever the dead have left, after this one it is put right. */
static void set_late(void)
{
	bool after = deaths() > 0;

	model_elapse(STALE_NS);
	set();
	healed = after;
}

/* Relaxed: what orders it is the event. */
static void change(unsigned i)
{
	ipcwait_impl_store32_relaxed(&shared->changed[i], 1);
	set();
}

static bool all_changed(void)
{
	bool all = true;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (script()->role[i] == CHANGES)
			all = all && ipcwait_impl_load32_relaxed(&shared->changed[i]);
	return all;
}

static void collect(bool resets)
{
	for (;;) {
		if (resets)
			reset();
		if (all_changed())
			return;
		model_assert(take(WAITS) == 0);
	}
}

/* As soon as something has happened: whoever is counted is let through, however short it is. */
static void pulse(void)
{
	while (ipcwait_impl_load64_relaxed(&event->word) == script()->word)
		model_pause();
	set();
	reset();
}

/* Then it needs the event no more, but for whoever waits for that. */
static void pass_on(void)
{
	bool taken = take(TRIES) == 0;

	leave();
	if (taken)
		set();
}

static void act(unsigned i, enum event_role role)
{
	int r;

	switch (role) {
	case NOTHING:
		break;
	case SETS:
		set();
		break;
	case SETS_LATE:
		set_late();
		break;
	case CHANGES:
		change(i);
		break;
	case PULSES:
		pulse();
		break;
	case RESETS:
		reset();
		break;
	case LOOKS:
		look_whether_set();
		break;
	case COLLECTS:
	case RESETS_AND_LOOKS:
		collect(role == RESETS_AND_LOOKS);
		break;
	case PASSES_ON:
		pass_on();
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

void event_thread(unsigned i)
{
	const struct event_script *s = script();
	bool last = waits(s->role[i]) || s->setters_stay;

	for (unsigned n = 0; n < (s->rounds ? s->rounds : 1); n++)
		act(i, s->role[i]);
	if (s->role[i] == FINISHES)
		model_assert(ipcwait_event_fini(event) == 0);
	if (last && s->role[i] != PASSES_ON)
		leave();
}

/* A handler may set wherever the thread was. */
void event_handler(unsigned i)
{
	handling[i] = true;
	set();
	handling[i] = false;
}

void event_look(void)
{
	uint64_t w;

	if (gone)
		return;
	w = model_peek(&event->word);
	model_assert(!(w & EVENT_WAKE) || event_sleepers(w));
	model_assert(!(w & EVENT_SPINNER) || (!(w & EVENT_SET) && resets_itself()));
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		if (model_asleep(i) && !slept[i])
			slept_on[i] = w;
		slept[i] = model_asleep(i);
	}
}

/* Nobody sleeps beside an event that is set, nor has it been set during a sleep if manual. */
static bool stranded(unsigned i, uint64_t w)
{
	if (!model_asleep(i))
		return false;
	return w & EVENT_SET || (!resets_itself() && (w ^ slept_on[i]) & EVENT_EPOCHS);
}

static bool anybody_stranded(void)
{
	uint64_t w = model_peek(&event->word);

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (stranded(i, w))
			return true;
	return false;
}

/* One that is unpublished, since there was no room, will look by itself. */
void event_at_rest(void)
{
	bool unpublished = model_sleepers() > model_sleepers_on(&event->word);

	model_assert(gone || unpublished || !anybody_stranded());
}

/*
 * A process may have died. What <ipcwait/event.h> promises then: a set that finds the wake under
 * way stale reaches a sleeper; after the death of a spinner it may take a second one.
 */
void event_rescue(void)
{
	unsigned most = script()->spins == ENGINE_SLEEPS ? 1 : 2;

	model_assert((deaths() && !healed) || !anybody_stranded());
	for (unsigned n = 0; n < most && model_sleepers(); n++) {
		model_elapse(STALE_NS);
		set();
	}
	healed = deaths() > 0;
}

/* Not in weak memory: there a thread may not yet see a set of which nobody has told it. */
static void check_history(void)
{
	static struct wing_gong *checker;
	static struct spec spec;

	if (model_memory() == MODEL_WEAK)
		return;
	spec = spec_event(resets_itself(), script()->word & EVENT_SET);
	if (!checker)
		checker = wing_gong_create(&spec);
	if (wing_gong_check(checker, history.ops, history.count) == WING_GONG_YES)
		return;
	if (model_tracing())
		wing_gong_print(checker, stdout);
	model_fail(MODEL_ASSERTION, "the history is not linearizable");
}

void event_end(void)
{
	uint64_t w = gone ? final : model_peek(&event->word);

	/* Nobody has left anything behind; but a wake may be under way to a stranger. */
	if (script()->copy)
		model_assert(event_sleepers(w) == event_sleepers(script()->word) ||
			     !event_sleepers(w));
	else if (!deaths() && event_sleepers(script()->word))
		model_assert(event_sleepers(w) == event_sleepers(script()->word));
	else if (!deaths() && event_sleepers(w) != UINT16_MAX)
		model_assert(!(event_state(w) & ~EVENT_SET));
	check_history();
	if (!gone)
		free_all();
}
