/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on a few semaphores, step by step against a model that only knows what
 * <ipcwait/sem.h> promises: how many tokens there are, who waits, what is finished. While a
 * thread sleeps, or is stopped in a wait, others make calls too and may sleep in turn. Results
 * and values agree, a wait that is over leaves the word as if it had never been, and nobody
 * sleeps beside a token without a wake.
 */
#include <errno.h>

#include "common/fake_os.h"
#include "common/fuzz.h"
#include "common/sem_word.h"
#include "fuzz/kernel.h"
#include "fuzz/sem_calls.h"

#define CALLS_MOST        64
#define OTHERS_CALLS_MOST 4
#define DEPTH_MOST        3

/* One starts with nearly all tokens that it can have. The last lies 4 bytes off its place. */
enum { EMPTY, SOME, FULL, MISALIGNED, SEMS };

#define PLACE_BYTES 64

struct model {
	struct ipcwait_sem *sem;
	uint32_t tokens;
	unsigned flags;
	unsigned waiters; /* calls that may sleep and have not returned */
	unsigned wakes;   /* system calls */
	bool finished;
};

/* A call that has not returned. */
struct pending {
	struct pending *outer;
	struct model *m;
	struct sem_call c;
};

static _Alignas(PLACE_BYTES) char memory[SEMS * PLACE_BYTES];
static struct model models[SEMS];
static struct pending *innermost;

static bool misaligned(const struct model *m)
{
	return m == &models[MISALIGNED];
}

static bool waits(const struct sem_call *c)
{
	return c->kind == WAIT || c->kind == WAIT_UNTIL || c->kind == TRYWAIT;
}

static unsigned depth(void)
{
	unsigned n = 0;

	for (const struct pending *p = innermost; p; p = p->outer)
		n++;
	return n;
}

/* With nobody in a wait the word is the tokens and nothing else. */
static void check_word(const struct model *m)
{
	uint64_t w = sem_word(m->sem);

	FUZZ_CHECK(word_value(w) == m->tokens);
	if (m->finished)
		return;
	if (m->waiters == 0)
		FUZZ_CHECK(w == WORD(m->tokens, 0, 0));
	FUZZ_CHECK(word_sleepers(w) <= m->waiters && word_wakes(w) <= word_sleepers(w));
}

/* What its header leaves to the caller: nobody else uses the semaphore. */
static bool allowed(const struct model *m, const struct sem_call *c)
{
	uint64_t w = sem_word(m->sem);

	switch (c->kind) {
	case INIT:
		return m->waiters == 0;
	case FINI:
		return m->waiters == 0 || word_sleepers(w) || w & WORD_SPINNER;
	case EXPLAIN:
	case STAMP:
		return !misaligned(m);
	case SET_PRESET:
		return true;
	default:
		return !misaligned(m) || IW_TEST_MISALIGNED;
	}
}

static void after_wait(struct model *m, const struct sem_call *c)
{
	if (c->result == 0)
		FUZZ_CHECK(m->tokens-- > 0);
	else
		FUZZ_CHECK(m->tokens == 0);
	if (c->kind == TRYWAIT)
		FUZZ_CHECK(c->result == 0 || c->result == -EAGAIN);
	else
		FUZZ_CHECK((c->result == -EINVAL) ==
			   (c->result && (m->finished || misaligned(m))));
}

/* A misaligned semaphore has no sleepers, so posts of it need not be refused. */
static void after_post(struct model *m, const struct sem_call *c, unsigned wakes)
{
	uint32_t n = c->kind == POST ? 1 : c->n;
	bool fits = n <= IPCWAIT_SEM_VALUE_MAX - m->tokens;

	FUZZ_CHECK(c->result == (m->finished ? -EINVAL : fits ? 0 : -EOVERFLOW));
	FUZZ_CHECK(m->wakes - wakes <= (c->result == 0 && m->waiters ? 1 : 0));
	if (m->wakes != wakes)
		FUZZ_CHECK(fake.wake.private_ == (m->flags & IPCWAIT_PRIVATE));
	if (c->result == 0)
		m->tokens += n;
}

static void after_init(struct model *m, const struct sem_call *c)
{
	bool legal = !misaligned(m) && c->n <= IPCWAIT_SEM_VALUE_MAX &&
		     c->flags <= (IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE);

	FUZZ_CHECK(c->result == (legal ? 0 : -EINVAL));
	if (!legal)
		return;
	m->tokens = c->n;
	m->flags = c->flags;
	m->finished = false;
}

static void after_fini(struct model *m, const struct sem_call *c)
{
	bool refused = m->finished || misaligned(m);

	FUZZ_CHECK(c->result == (refused ? -EINVAL : m->waiters ? -EBUSY : 0));
	if (c->result)
		return;
	m->finished = true;
	m->tokens = 0;
}

static void after(struct model *m, const struct sem_call *c, unsigned wakes)
{
	switch (c->kind) {
	case TRYWAIT:
	case WAIT:
	case WAIT_UNTIL:
		after_wait(m, c);
		break;
	case POST:
	case POST_N:
		after_post(m, c, wakes);
		break;
	case VALUE:
		FUZZ_CHECK((uint32_t)c->result == m->tokens);
		break;
	case INIT:
		after_init(m, c);
		break;
	case FINI:
		after_fini(m, c);
		break;
	case SET_PRESET:
		FUZZ_CHECK((c->result == 0) == (!misaligned(m) && c->n <= IPCWAIT_TICKS));
		break;
	case FUTEX_WAIT:
	case FUTEX_WAKE:
		FUZZ_CHECK((c->result == -EINVAL) ==
			   ((c->kind == FUTEX_WAKE && c->flags > IPCWAIT_PRIVATE) ||
			    (misaligned(m) && c->kind == FUTEX_WAIT && c->with_window)));
		break;
	default:
		break;
	}
}

static void make_call(void)
{
	struct pending p = { .outer = innermost, .m = &models[take_8(kernel.in) % SEMS] };
	struct model *m = p.m;
	unsigned wakes = m->wakes;

	sem_call_take(&p.c, kernel.in, fake.now_ns);
	if (depth() >= DEPTH_MOST && (waits(&p.c) || p.c.kind == FUTEX_WAIT))
		p.c.kind = TRYWAIT;
	if (!allowed(m, &p.c))
		return;
	innermost = &p;
	m->waiters += waits(&p.c);
	sem_call_make(&p.c, m->sem);
	m->waiters -= waits(&p.c);
	innermost = p.outer;
	after(m, &p.c, wakes);
	for (unsigned i = 0; i < SEMS; i++)
		check_word(&models[i]);
}

/* What happens beside a call other than a wait is not in the model. */
static void others_while_stopped(void)
{
	if (innermost && waits(&innermost->c))
		make_call();
}

/* A thread sleeps: if it is the only one, it needs a wake for any token that is left. */
static void others_while_asleep(void)
{
	struct pending *sleeper = innermost;
	struct model *m = sleeper->m;
	unsigned wakes = m->wakes;

	for (unsigned n = take_8(kernel.in) % (OTHERS_CALLS_MOST + 1); n; n--)
		make_call();
	FUZZ_CHECK(innermost == sleeper);
	if (waits(&sleeper->c) && m->waiters == 1 && m->tokens)
		FUZZ_CHECK(m->wakes != wakes);
}

static void on_wake(void)
{
	for (unsigned i = 0; i < SEMS; i++)
		if (fake.wake.word == (const uint32_t *)&models[i].sem->word)
			models[i].wakes++;
}

static void begin(struct input *in)
{
	static const uint32_t tokens[SEMS] = { 0, 2, IPCWAIT_SEM_VALUE_MAX - 1, 0 };

	memset(memory, 0, sizeof(memory));
	innermost = NULL;
	kernel_begin(in);
	for (unsigned i = 0; i < SEMS; i++) {
		char *place = memory + (size_t)i * PLACE_BYTES + (i == MISALIGNED ? 4 : 0);

		models[i] = (struct model){ .sem = (struct ipcwait_sem *)(void *)place,
					    .tokens = tokens[i],
					    .flags = take_8(in) & IPCWAIT_PRIVATE };
		models[i].sem->word.v = WORD(tokens[i], 0, 0);
		models[i].sem->flags = models[i].flags;
	}
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
