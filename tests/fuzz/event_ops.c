/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on two events and an event count, and while a call sleeps other threads make
 * calls too, which may sleep in turn. Beside each object a model of it says what a call returns;
 * with nobody in a wait nothing of any wait is left in the word.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/event_word.h"
#include "common/eventcount_word.h"
#include "common/fake_os.h"
#include "common/fuzz.h"
#include "fuzz/kernel.h"

#define CALLS_MOST        64
#define OTHERS_CALLS_MOST 4
#define DEPTH_MOST        3

enum { MANUAL, AUTO, COUNT, OBJECTS };

enum kind { WAIT, WAIT_UNTIL, TRYWAIT, SET, RESET, IS_SET, AGAIN, FINI, KINDS };

struct model {
	bool set;         /* of an event */
	unsigned waiters; /* calls that may sleep and have not returned */
	unsigned wakes;   /* system calls */
	bool finished;
};

/* A call that has not returned. */
struct pending {
	struct pending *outer;
	unsigned object;
	bool waits;
	bool open; /* a manual event was set, an event count notified, since it began */
};

static struct ipcwait_event events[2];
static struct ipcwait_eventcount count;
static struct model models[OBJECTS];
static struct pending *innermost;
static bool in_other_call; /* than a wait */

static const void *word_of(unsigned object)
{
	return object == COUNT ? (const void *)&count.word : &events[object].word;
}

static unsigned depth(void)
{
	unsigned n = 0;

	for (const struct pending *p = innermost; p; p = p->outer)
		n++;
	return n;
}

/* Whoever waits has seen that. */
static void open_to_all(unsigned object)
{
	for (struct pending *p = innermost; p; p = p->outer)
		if (p->object == object && p->waits)
			p->open = true;
}

/* Not in the middle of a call that is no wait: the model follows when it returns. */
static void check_words(void)
{
	if (in_other_call)
		return;
	for (unsigned i = 0; i < COUNT; i++) {
		uint64_t w = event_word(&events[i]);

		if (models[i].finished)
			continue;
		FUZZ_CHECK((w & EVENT_SET) == models[i].set);
		FUZZ_CHECK(event_sleepers(w) <= models[i].waiters);
		if (!models[i].waiters)
			FUZZ_CHECK(event_state(w) == models[i].set);
	}
	FUZZ_CHECK(models[COUNT].finished ||
		   ec_gone(ec_word(&count)) <= ec_line(ec_word(&count)));
	if (!models[COUNT].waiters && !models[COUNT].finished)
		FUZZ_CHECK(!ec_busy(ec_word(&count)));
}

static int wait_for(unsigned object, enum kind kind, int64_t deadline_ns)
{
	if (object == COUNT)
		return ipcwait_eventcount_commit(&count, ipcwait_eventcount_prepare(&count),
						 deadline_ns);
	return kind == WAIT ? ipcwait_event_wait(&events[object])
			    : ipcwait_event_wait_until(&events[object], deadline_ns);
}

static void after_wait(struct model *m, const struct pending *p, int r)
{
	bool there = p->object == COUNT ? p->open : m->set || p->open;

	if (m->finished)
		FUZZ_CHECK(r == -EINVAL);
	else
		FUZZ_CHECK((r == 0) == there || in_other_call);
	if (p->object == AUTO && r == 0)
		m->set = false;
}

static void make_wait(unsigned object, enum kind kind)
{
	struct pending p = { .outer = innermost, .object = object, .waits = true };
	int64_t deadline_ns = kind == WAIT_UNTIL ? take_deadline(kernel.in, fake.now_ns)
						 : IPCWAIT_FOREVER;
	struct kernel_call call;
	int r;

	innermost = &p;
	models[object].waiters++;
	kernel_enter(&call, deadline_ns);
	call.long_spins = true;
	r = wait_for(object, kind, deadline_ns);
	kernel_leave(&call, r);
	models[object].waiters--;
	innermost = p.outer;
	after_wait(&models[object], &p, r);
}

static int init(unsigned object, unsigned flags)
{
	return object == COUNT ? ipcwait_eventcount_init(&count, flags)
			       : ipcwait_event_init(
					 &events[object],
					 flags | (object == AUTO ? IPCWAIT_AUTO_RESET : 0));
}

/* Only where nobody else uses it. */
static void begin_again(unsigned object)
{
	unsigned flags = take_8(kernel.in) & IPCWAIT_PRIVATE;

	if (models[object].waiters)
		return;
	FUZZ_CHECK(init(object, flags) == 0);
	models[object].set = models[object].finished = false;
}

static void end(unsigned object)
{
	struct model *m = &models[object];
	int r;

	/* Waiters that spin cannot be seen by it. */
	if (m->waiters)
		return;
	r = object == COUNT ? ipcwait_eventcount_fini(&count)
			    : ipcwait_event_fini(&events[object]);
	FUZZ_CHECK(r == (m->finished ? -EINVAL : 0));
	m->finished = true;
	m->set = false;
}

static void set_event(unsigned object)
{
	struct model *m = &models[object];

	FUZZ_CHECK(ipcwait_event_set(&events[object]) == (m->finished ? -EINVAL : 0));
	if (m->finished)
		return;
	m->set = true;
	if (object == MANUAL)
		open_to_all(object);
}

static void notify(uint32_t n)
{
	struct model *m = &models[COUNT];

	FUZZ_CHECK(ipcwait_eventcount_notify(&count, n) == (m->finished ? -EINVAL : 0));
	if (!m->finished)
		open_to_all(COUNT);
}

static void call_event(unsigned object, enum kind kind)
{
	struct ipcwait_event *e = &events[object];
	struct model *m = &models[object];
	bool was = m->set;

	switch (kind) {
	case TRYWAIT:
		FUZZ_CHECK(ipcwait_event_trywait(e) == (was ? 0 : -EAGAIN));
		m->set = was && object == MANUAL;
		break;
	case SET:
		set_event(object);
		break;
	case RESET:
		FUZZ_CHECK(ipcwait_event_reset(e) == 0);
		m->set = false;
		break;
	default:
		FUZZ_CHECK(ipcwait_event_is_set(e) == was);
	}
}

/* What does not sleep makes one system call at most. */
static void make_call(void)
{
	unsigned object = take_8(kernel.in) % OBJECTS;
	enum kind kind = take_8(kernel.in) % KINDS;
	unsigned wakes = fake.wakes;

	if (kind <= WAIT_UNTIL) {
		if (depth() < DEPTH_MOST)
			make_wait(object, kind);
		check_words();
		return;
	}
	in_other_call = true;
	if (kind == AGAIN)
		begin_again(object);
	else if (kind == FINI)
		end(object);
	else if (object != COUNT)
		call_event(object, kind);
	else
		notify(kind == SET     ? 1
		       : kind == RESET ? UINT32_MAX
				       : take_8(kernel.in) % 4);
	in_other_call = false;
	FUZZ_CHECK(fake.wakes - wakes <= 1);
	check_words();
}

/* What happens beside a call other than a wait is not in the model. */
static void others_while_stopped(void)
{
	if (innermost && !in_other_call)
		make_call();
}

/* A thread sleeps: if it is the only one, it needs a wake for what is there. */
static void others_while_asleep(void)
{
	struct pending *sleeper = innermost;
	struct model *m = &models[sleeper->object];
	unsigned wakes = m->wakes;

	for (unsigned n = take_8(kernel.in) % (OTHERS_CALLS_MOST + 1); n; n--)
		make_call();
	FUZZ_CHECK(innermost == sleeper);
	if (sleeper->object != COUNT && m->waiters == 1 && (m->set || sleeper->open))
		FUZZ_CHECK(m->wakes != wakes);
}

static void on_wake(void)
{
	for (unsigned i = 0; i < OBJECTS; i++)
		if (fake.wake.word == word_of(i))
			models[i].wakes++;
}

static void begin(struct input *in)
{
	innermost = NULL;
	in_other_call = false;
	kernel_begin(in);
	for (unsigned i = 0; i < OBJECTS; i++) {
		models[i] = (struct model){ 0 };
		FUZZ_CHECK(init(i, take_8(in) & IPCWAIT_PRIVATE) == 0);
	}
	/* The ends of what is counted are near. */
	event_fabricate(&events[MANUAL], EVENT_EPOCHS - EVENT_EPOCH(take_8(in) % 4));
	ec_fabricate(&count, EC_WORD(0u - take_8(in) % 4, 0x7ff - take_8(in) % 4, 0, 0, 0));
	kernel.others = others_while_asleep;
	kernel.others_stop = others_while_stopped;
	kernel.long_spins = true;
	fake.on_wake = on_wake;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	begin(&in);
	for (unsigned i = 0; i < CALLS_MOST && in.left; i++)
		make_call();
	return 0;
}
