/* SPDX-License-Identifier: MIT */
#include "interleave/made_roles.h"

#include <errno.h>
#include <string.h>

#include <ipcwait/event.h>
#include <ipcwait/sem.h>
#include <ipcwait/wait_any.h>

#include "common/eventcount_word.h"
#include "common/sem_word.h"
#include "interleave/made_notes.h"
#include "interleave/made_objects.h"
#include "interleave/queue_segments.h"
#include "interleave/rcu.h"
#include "queue/channel.h"

/* Here, so that the checker can be told of its static data. */
#include "engine/sleep.c"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 5000000

#define WAITS_MOST 3

static struct shared {
	struct ipcwait_sem a;
	struct ipcwait_event e;
	struct ipcwait_window window;
	/* Others may copy to or from them. */
	struct made_elem elem[MODEL_THREADS_MAX + 1][2];
} * shared;

static struct ipcwait_queue *queue;
static struct ipcwait_channel *ring, *meeting;

static const struct made_script *script(void)
{
	return model_script();
}

static bool is_made(char name)
{
	return name == 'q' || name == 'r' || name == 'm' || name == 's';
}

static bool is_there(char name)
{
	return strchr(script()->objects, name);
}

static struct ipcwait_channel *channel(char name)
{
	if (name == 's')
		return made_shared();
	return name == 'r' ? ring : meeting;
}

static struct made_elem *desk(void)
{
	return shared->elem[model_thread()];
}

static int64_t soon(void)
{
	return model_now() + SOON_NS;
}

static void put(char name)
{
	struct made_elem *elem = desk();
	unsigned value;

	if (name == 'a') {
		notes_posted(name);
		model_assert(ipcwait_sem_post(&shared->a) == 0);
	} else if (name == 'e') {
		notes_posted(name);
		model_assert(ipcwait_event_set(&shared->e) == 0);
	} else {
		value = notes_new(name, elem);
		notes_put(name, value,
			  name == 'q' ? ipcwait_queue_push(queue, elem)
				      : ipcwait_channel_send(channel(name), elem));
	}
}

static void put_until(char name)
{
	struct made_elem *elem = desk();
	unsigned value = notes_new(name, elem);
	int64_t deadline = soon();
	int r = ipcwait_channel_send_until(channel(name), elem, deadline);

	model_assert(r != -ETIMEDOUT || model_now() >= deadline);
	notes_put(name, value, r);
}

static void put_two(char name)
{
	struct made_elem *elem = desk();
	unsigned first = notes_new(name, &elem[0]), second = notes_new(name, &elem[1]);
	int64_t n = name == 'q' ? ipcwait_queue_push_n(queue, elem, 2)
				: ipcwait_channel_send_n(channel(name), elem, 2,
							 IPCWAIT_FOREVER);

	notes_put(name, first, n > 0 ? 0 : (int)n);
	notes_put(name, second, n == 2 ? 0 : -EPIPE);
}

static int try_elem(char name)
{
	bool was_ended = notes_ended(name);
	struct made_elem *elem = desk();
	int r = name == 'q' ? ipcwait_queue_trypop(queue, elem)
			    : ipcwait_channel_tryrecv(channel(name), elem);

	notes_got(name, was_ended, elem, r);
	return r;
}

static int get_elem(char name, int64_t deadline_ns)
{
	bool was_ended = notes_ended(name);
	struct made_elem *elem = desk();
	int r;

	if (deadline_ns != IPCWAIT_FOREVER)
		r = name == 'q'
			    ? ipcwait_queue_pop_until(queue, elem, deadline_ns)
			    : ipcwait_channel_recv_until(channel(name), elem, deadline_ns);
	else
		r = name == 'q' ? ipcwait_queue_pop(queue, elem)
				: ipcwait_channel_recv(channel(name), elem);
	model_assert(r != -EAGAIN);
	model_assert(r != -ETIMEDOUT || model_now() >= deadline_ns);
	notes_got(name, was_ended, elem, r);
	return r;
}

static int get(char name, int64_t deadline_ns)
{
	int r;

	if (is_made(name))
		return get_elem(name, deadline_ns);
	r = name == 'a' ? ipcwait_sem_wait_until(&shared->a, deadline_ns)
			: ipcwait_event_wait_until(&shared->e, deadline_ns);
	if (r == 0)
		notes_taken(name);
	return r;
}

static int try(char name)
{
	int r;

	if (is_made(name))
		return try_elem(name);
	r = name == 'a' ? ipcwait_sem_trywait(&shared->a)
			: ipcwait_event_trywait(&shared->e);
	if (r == 0)
		notes_taken(name);
	return r;
}

static struct ipcwait_waitable waitable(char name)
{
	switch (name) {
	case 'q':
		return (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_QUEUE,
						  .object = queue };
	case 'a':
		return (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM,
						  .object = &shared->a };
	case 'e':
		return (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_EVENT,
						  .object = &shared->e };
	default:
		return (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_CHANNEL,
						  .object = channel(name) };
	}
}

/* Which of what, or an error. */
static int wait_any(const char *what, int64_t deadline_ns)
{
	struct ipcwait_waitable set[WAITS_MOST];
	unsigned n = 0;
	int r;

	for (; what[n]; n++)
		set[n] = waitable(what[n]);
	r = ipcwait_wait_any(set, n, deadline_ns, &shared->window);
	model_assert(r < (int)n);
	model_assert(r >= 0 || (r == -ETIMEDOUT && model_now() >= deadline_ns));
	if (r >= 0 && !is_made(what[r]))
		notes_taken(what[r]);
	return r;
}

/* Of one object that was there. Not -EAGAIN if nobody else takes of it, but as said above. */
static int take(char name)
{
	bool excused = !script()->sole || notes_under_way(name);
	int r = is_made(name) ? try_elem(name) : 0;

	model_assert(r != -EAGAIN || excused || notes_under_way(name));
	return r;
}

/* Returns what it took, or 0. */
static char take_any(const char *what, int64_t deadline_ns)
{
	int r = wait_any(what, deadline_ns), tried;

	while (r >= 0) {
		tried = take(what[r]);
		if (!tried && script()->gives_back)
			put(what[r]);
		if (tried != -EAGAIN)
			return what[r];
		/* The one that is faster goes on first. */
		model_pause();
		r = wait_any(what, deadline_ns);
	}
	return 0;
}

static void look_at(const char *what, int64_t deadline_ns)
{
	int r = wait_any(what, deadline_ns);

	if (r >= 0 && !is_made(what[r]))
		put(what[r]);
}

/* Leaves out what is at its end. */
static void drain_all(const char *what)
{
	char left[WAITS_MOST + 1];
	unsigned n;

	for (;;) {
		n = 0;
		for (const char *c = what; *c; c++)
			if (!notes_ended(*c))
				left[n++] = *c;
		left[n] = 0;
		if (!n || (n == 1 && !is_made(left[0])))
			return;
		(void)take_any(left, IPCWAIT_FOREVER);
	}
}

static void close_it(char name)
{
	notes_closing(name);
	model_assert((name == 'q' ? ipcwait_queue_close(queue)
				  : ipcwait_channel_close(channel(name))) == 0);
	notes_closed(name);
}

/* With one after the other of what. */
static void act_on(enum made_deed deed, char name)
{
	switch (deed) {
	case MADE_GETS:
		(void)get(name, IPCWAIT_FOREVER);
		break;
	case MADE_GETS_UNTIL:
		(void)get(name, soon());
		break;
	case MADE_TRIES:
		(void)try(name);
		break;
	case MADE_PUTS:
		put(name);
		break;
	case MADE_PUTS_TWO:
		put_two(name);
		break;
	case MADE_PUTS_UNTIL:
		put_until(name);
		break;
	default:
		close_it(name);
	}
}

static void act(enum made_deed deed, const char *what)
{
	switch (deed) {
	case MADE_NOTHING:
		break;
	case MADE_TAKES:
		(void)take_any(what, IPCWAIT_FOREVER);
		break;
	case MADE_TAKES_UNTIL:
		(void)take_any(what, soon());
		break;
	case MADE_LOOKS:
		look_at(what, IPCWAIT_FOREVER);
		break;
	case MADE_LOOKS_UNTIL:
		look_at(what, soon());
		break;
	case MADE_DRAINS:
		drain_all(what);
		break;
	default:
		for (; *what; what++)
			act_on(deed, *what);
	}
}

void made_thread(unsigned i)
{
	for (unsigned k = 0; k < MADE_DEEDS_MAX; k++)
		act(script()->does[i][k].deed, script()->does[i][k].what);
}

static void begin_shared(void)
{
	shared = model_alloc(sizeof(*shared));
	memset(shared, 0, sizeof(*shared));
	model_assert(ipcwait_event_init(&shared->e, IPCWAIT_AUTO_RESET) == 0);
	model_quiet(&shared->window, sizeof(shared->window));
	model_quiet(&shared->a.window, sizeof(shared->a.window));
	model_quiet(&shared->e.window, sizeof(shared->e.window));
	model_name(&shared->a.word, "a");
	model_name(&shared->e.word, "e");
}

static void begin_made(void)
{
	const struct made_script *s = script();

	queue = NULL;
	ring = meeting = NULL;
	if (is_there('q')) {
		queue = made_queue(s->queue_flags);
		made_queue_line(queue)->word.v = s->line;
	}
	if (is_there('r'))
		ring = made_channel(s->capacity ? s->capacity : 2);
	if (is_there('m'))
		meeting = made_channel(0);
	if (is_there('s'))
		made_shared_begin(s->capacity ? s->capacity : 2);
}

void made_begin(void)
{
	const struct made_script *s = script();

	engine_spins = s->spins;
	model_lacks_waitv = s->lacks_waitv;
	model_share(&absent, sizeof(absent));
	segments_begin(s->slots ? s->slots : 2);
	rcu_begin();
	made_desks_begin();
	notes_begin();
	begin_shared();
	begin_made();
	for (const char *c = s->filled; c && *c; c++)
		put(*c);
}

static struct ipcwait_eventcount *line_of(char name)
{
	return name == 'q' ? made_queue_line(queue) : channel(name)->elements;
}

/* In line when it began, and for good unless all are notified. */
static unsigned strangers(char name)
{
	return name == 'q' ? ec_line(script()->line) : 0;
}

void made_look(void)
{
	for (const char *c = script()->objects; *c; c++) {
		uint64_t w = model_peek(&line_of(*c)->word);
		unsigned asleep = model_sleepers_on(&line_of(*c)->word);

		model_assert(ec_gone(w) <= ec_line(w));
		/* As long as nobody was notified, whoever sleeps is in line. */
		model_assert((uint32_t)w || asleep + strangers(*c) <= ec_line(w));
	}
}

/* An element that may be taken, or the end. */
static bool has(char name)
{
	uint64_t lo, hi;

	if (name == 'm')
		return notes_is_closed('m') || channel('m')->ops->ready(channel('m'));
	model_assert((name == 'q' ? ipcwait_queue_length(queue, &lo, &hi)
				  : ipcwait_channel_length(channel(name), &lo, &hi)) == 0);
	return hi || notes_is_closed(name);
}

/* Somebody sleeps on what is there. */
void made_at_rest(void)
{
	for (const char *c = script()->objects; *c; c++)
		model_assert(!model_sleepers_on(&line_of(*c)->word) || !has(*c));
	model_assert(!model_sleepers_on(&shared->a.word) ||
		     !word_value(model_peek(&shared->a.word)));
	model_assert(!model_sleepers_on(&shared->e.word) ||
		     !(model_peek(&shared->e.word) & IPCWAIT_IMPL_EVENT_SET));
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

/*
 * As above, but a process may have died that would have told of it: then who sleeps looks again by
 * itself. If there is nothing, it was never put in, or is lost, and a token is what ends the waits.
 */
void made_rescue(void)
{
	if (!deaths()) {
		made_at_rest();
		return;
	}
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		model_assert(!model_asleep(i) || model_sleeps_until(i) != INT64_MAX);
	if (!has('s'))
		put('a');
}

/* Whoever is in line is a stranger, and what was put in is there. */
static void end_of(char name)
{
	uint64_t w = model_peek(&line_of(name)->word);
	int r;

	model_assert(deaths() || ec_line(w) - ec_gone(w) ==
					 (notes_is_closed(name) ? 0 : strangers(name)));
	if (deaths())
		made_shared_bury();
	do
		r = try_elem(name);
	while (r == 0);
	model_assert(r == (notes_is_closed(name) ? -EPIPE : -EAGAIN));
	model_assert(notes_is_closed(name) || !has(name));
	if (name == 'q')
		ipcwait_queue_destroy(queue);
	else if (name == 's')
		made_shared_end();
	else
		ipcwait_channel_destroy(channel(name));
}

void made_end(void)
{
	for (const char *c = script()->objects; *c; c++)
		end_of(*c);
	model_assert(word_value(model_peek(&shared->a.word)) + deaths() >= notes_left('a'));
	notes_end(deaths());
	model_assert(deaths() || ipcwait_sem_fini(&shared->a) == 0);
	model_assert(ipcwait_event_fini(&shared->e) == 0);
	made_desks_end();
	rcu_end();
	model_assert(!segments_left());
	model_free(shared);
}
