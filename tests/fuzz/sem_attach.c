/* SPDX-License-Identifier: MIT */
/*
 * Any 32 bytes as a semaphore that somebody shares, and any calls on it. Each call has a
 * result that its header lists, does to the words what the table in <ipcwait/sem.h> says, and
 * ends. The bytes have red zones around them.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/fake_os.h"
#include "common/fuzz.h"
#include "common/sem_word.h"
#include "fuzz/kernel.h"
#include "fuzz/sem_calls.h"

#define CALLS_MOST 16
#define FINISHED   UINT32_MAX

static struct ipcwait_sem *s;

/* Tokens that others have added and taken during the call. */
static uint32_t added, taken;

/* During a sleep somebody posts, or takes a token. */
static void others(void)
{
	struct sem_call c = { .kind = POST_N,
			      .n = take_8(kernel.in) % 4,
			      .deadline_ns = IPCWAIT_FOREVER };

	if (c.n == 0)
		c.kind = TRYWAIT;
	sem_call_make(&c, s);
	if (c.kind == POST_N && c.result == 0)
		added += c.n;
	else if (c.kind == TRYWAIT && c.result == 0)
		taken++;
}

static bool same(const struct ipcwait_sem *a, const struct ipcwait_sem *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* It was finished, or a later layout has marked it. */
static bool unusable(const struct ipcwait_sem *b)
{
	return b->flags & ~(IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE);
}

/* Sleepers that n tokens more are to wake, by the table, with @wakes under way. */
static uint32_t due(uint64_t w, uint32_t wakes, uint32_t n)
{
	int64_t asleep = (int64_t)word_sleepers(w) - wakes;
	int64_t left = (int64_t)word_value(w) + n - wakes - (w & WORD_SPINNER ? 1 : 0);
	int64_t m = asleep < left ? asleep : left;

	return m > 0 ? (uint32_t)m : 0;
}

/* v,k -> v+n,k+m with one wake of m; doubted wakes count as none. */
static void check_posted(const struct ipcwait_sem *b, uint32_t n, unsigned wakes)
{
	uint64_t w = b->word.v, is = sem_word(s);
	uint32_t woken = wakes ? fake.wake.value : 0, known = word_wakes(is) - woken;

	FUZZ_CHECK(word_value(is) == word_value(w) + n);
	FUZZ_CHECK(word_sleepers(is) == word_sleepers(w) && !(is & WORD_SPINNER));
	FUZZ_CHECK(known == 0 || known == word_wakes(w));
	FUZZ_CHECK(woken == due(w, known, n) && wakes == (woken ? 1 : 0));
	if (!wakes)
		return;
	FUZZ_CHECK(fake.wake.word == (const uint32_t *)&s->word);
	FUZZ_CHECK(fake.wake.private_ == (b->flags & IPCWAIT_PRIVATE));
}

static void check_post(const struct ipcwait_sem *b, const struct sem_call *c,
		       unsigned wakes)
{
	uint64_t w = b->word.v;
	uint32_t n = c->kind == POST ? 1 : c->n;

	if (c->result == 0)
		check_posted(b, n, wakes);
	else
		FUZZ_CHECK(same(s, b) && wakes == 0);
	if (unusable(b) && word_sleepers(w))
		FUZZ_CHECK(c->result == -EINVAL);
	else
		FUZZ_CHECK((c->result == -EOVERFLOW) ==
			   (n > (uint32_t)IPCWAIT_SEM_VALUE_MAX - word_value(w)));
}

/* The waiter leaves nothing behind but what others have done, and what it has learned. */
static void check_wait(const struct ipcwait_sem *b, const struct sem_call *c)
{
	uint64_t w = b->word.v, is = sem_word(s);
	uint32_t tokens = word_value(w) + added - taken;

	FUZZ_CHECK(s->flags == b->flags && s->reserved == b->reserved);
	FUZZ_CHECK((s->window.state.v & 7) == (b->window.state.v & 7));
	FUZZ_CHECK(word_sleepers(is) == word_sleepers(w));
	FUZZ_CHECK(!(is & WORD_SPINNER) || w & WORD_SPINNER);
	FUZZ_CHECK((c->result == 0) == (tokens > 0));
	FUZZ_CHECK(word_value(is) == tokens - (c->result == 0));
	if (c->kind == TRYWAIT)
		FUZZ_CHECK(c->result == 0 || c->result == -EAGAIN);
	else
		FUZZ_CHECK((c->result == -EINVAL) == (unusable(b) && tokens == 0));
	if (c->kind == TRYWAIT || word_value(w) || unusable(b)) {
		struct ipcwait_sem want = *b;

		want.word.v -= word_value(w) ? WORD(1, 0, 0) : 0;
		FUZZ_CHECK(same(s, &want));
	}
}

static void check_init(const struct ipcwait_sem *b, const struct sem_call *c)
{
	bool legal = c->n <= IPCWAIT_SEM_VALUE_MAX &&
		     c->flags <= (IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE);
	struct ipcwait_sem fresh = IPCWAIT_SEM_INIT(c->n);

	fresh.flags = c->flags;
	FUZZ_CHECK(c->result == (legal ? 0 : -EINVAL));
	FUZZ_CHECK(same(s, legal ? &fresh : b));
}

static void check_fini(const struct ipcwait_sem *b, const struct sem_call *c)
{
	bool busy = word_sleepers(b->word.v) || b->word.v & WORD_SPINNER;

	FUZZ_CHECK(c->result == (unusable(b) ? -EINVAL : busy ? -EBUSY : 0));
	if (c->result)
		FUZZ_CHECK(same(s, b));
	else
		FUZZ_CHECK(s->flags == FINISHED && word_value(sem_word(s)) == 0);
}

static void check_preset(const struct ipcwait_sem *b, const struct sem_call *c)
{
	struct ipcwait_sem want = *b;

	FUZZ_CHECK(c->result == (c->n <= IPCWAIT_TICKS ? 0 : -EINVAL));
	if (c->result == 0)
		want.window.state.v = (b->window.state.v & ~7u) | c->n;
	FUZZ_CHECK(same(s, &want));
}

/* The word is only looked at. */
static void check_futex(const struct ipcwait_sem *b, const struct sem_call *c)
{
	if (c->kind == FUTEX_WAKE && c->flags > IPCWAIT_PRIVATE)
		FUZZ_CHECK(c->result == -EINVAL);
	else
		FUZZ_CHECK(c->result != -EINVAL);
	if (!added && !taken)
		FUZZ_CHECK(s->word.v == b->word.v);
	FUZZ_CHECK(s->flags == b->flags && s->reserved == b->reserved);
}

static void check(const struct ipcwait_sem *b, const struct sem_call *c, unsigned wakes)
{
	switch (c->kind) {
	case TRYWAIT:
	case WAIT:
	case WAIT_UNTIL:
		check_wait(b, c);
		break;
	case POST:
	case POST_N:
		check_post(b, c, wakes);
		break;
	case VALUE:
		FUZZ_CHECK((uint32_t)c->result == word_value(b->word.v));
		break;
	case INIT:
		check_init(b, c);
		break;
	case FINI:
		check_fini(b, c);
		break;
	case SET_PRESET:
		check_preset(b, c);
		break;
	case FUTEX_WAIT:
	case FUTEX_WAKE:
		check_futex(b, c);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	/* At one address always: the library keeps those that it has counted waits of. */
	if (!s)
		s = malloc(sizeof(*s));
	FUZZ_CHECK(s);
	kernel_begin(&in);
	kernel.others = others;
	take_bytes(&in, s, sizeof(*s));
	/* Its waiters are of this process: copies of a parent's are for copy_script_test. */
	s->reserved = 0;
	for (unsigned i = 0; i < CALLS_MOST && in.left; i++) {
		struct ipcwait_sem before = *s;
		unsigned wakes = fake.wakes;
		struct sem_call c;

		added = taken = 0;
		sem_call_take(&c, &in, fake.now_ns);
		sem_call_make(&c, s);
		check(&before, &c, fake.wakes - wakes);
	}
	return 0;
}
