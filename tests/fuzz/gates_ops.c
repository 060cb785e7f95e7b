/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on barriers, latches and onces, step by step against a model that only knows
 * what their headers promise. While a thread sleeps, or runs the function of a once, others make
 * calls too, and may sleep in turn; a runner may be taken for dead. Results agree, a release beside
 * sleepers makes one system call, and a call that is over leaves the word as if it had never been.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/fake_os.h"
#include "common/fuzz.h"
#include "common/gates_word.h"
#include "fuzz/input.h"

#define CALLS_MOST        64
#define OTHERS_CALLS_MOST 3
#define DEPTH_MOST        4
#define SLEEPS_MOST       6

/* A deadline that is so far away never comes, in ns. */
#define HORIZON_NS INT64_C(1000000000000)

enum kind { BARRIER, LATCH, ONCE, KINDS };

/* One object, and what is known of it. */
struct model {
	enum kind kind;
	union {
		struct ipcwait_barrier barrier;
		struct ipcwait_latch latch;
		struct ipcwait_once once;
		struct {
			struct ipcwait_word64 word;
		};
	};
	unsigned flags;
	bool finished;
	unsigned calls;             /* that have not returned */
	uint32_t parties, count;    /* of barrier and latch */
	uint32_t round, arrived;    /* of the barrier */
	bool done;                  /* of the once */
	const struct pending *runs; /* its function; NULL: nobody does */
	unsigned wakes;             /* system calls */
};

#define OBJECTS 6

/* A call that has not returned. All but the innermost sleep, or run a function. */
struct pending {
	struct pending *outer;
	struct model *m;
	uint32_t thread, round;
	int64_t deadline_ns;
	unsigned sleeps;
	bool asleep, ran;
	int error; /* of the kernel's, that ends a wait */
};

/* Of common/fake_os.c. */
void check_failed(const char *file, int line, const char *what)
{
	(void)file;
	(void)line;
	(void)what;
	__builtin_trap();
}

void check_equal(const char *file, int line, const char *what, long long is, long long want)
{
	if (is != want)
		check_failed(file, line, what);
}

static struct model models[OBJECTS];
static struct pending *innermost;
static struct input *in;

static void make_calls(void);

static unsigned depth(void)
{
	unsigned n = 0;

	for (const struct pending *p = innermost; p; p = p->outer)
		n++;
	return n;
}

static bool somebody_sleeps(const struct model *m, uint32_t round)
{
	for (const struct pending *p = innermost; p; p = p->outer)
		if (p->m == m && p->asleep && (m->kind != BARRIER || p->round == round))
			return true;
	return false;
}

/* What others do meanwhile is done by another thread. */
static void let_others_act(void)
{
	uint32_t was = fake.id;

	fake.id = was + 1;
	make_calls();
	fake.id = was;
}

/* Whatever does not end otherwise is ended by an error, but not what would end by itself. */
static int end_of_sleep(struct pending *p, int64_t deadline_ns)
{
	uint8_t how = take_8(in);
	bool far = deadline_ns - fake.now_ns > HORIZON_NS;

	fake.life = how >= 224 ? IW_DEAD : IW_ALIVE;
	if (++p->sleeps > (far ? SLEEPS_MOST : 2 * SLEEPS_MOST))
		return -ENOSYS;
	if (how % 8 == 0 && !far && fake.now_ns < deadline_ns)
		fake.now_ns = deadline_ns;
	fake.now_ns += (int64_t)how << 12;
	if (deadline_ns <= fake.now_ns)
		return -ETIMEDOUT;
	return how % 8 == 1 ? -EINTR : 0;
}

static int on_wait(const struct fake_call *asked)
{
	struct fake_call call = *asked; /* others sleep too */
	struct pending *p = innermost;
	int r;

	FUZZ_CHECK(p);
	if (*call.word != call.value)
		return -EAGAIN;
	if (call.word == (const uint32_t *)&p->m->word) {
		FUZZ_CHECK(call.private_ == (p->m->flags == IPCWAIT_PRIVATE));
		FUZZ_CHECK(call.deadline_ns <= p->deadline_ns);
		p->asleep = true;
	}
	let_others_act();
	p->asleep = false;
	r = end_of_sleep(p, call.deadline_ns);
	p->error = r == -ENOSYS ? r : 0;
	return r;
}

static void on_wake(void)
{
	for (unsigned i = 0; i < OBJECTS; i++)
		if (fake.wake.word == (const uint32_t *)&models[i].word) {
			models[i].wakes++;
			FUZZ_CHECK(fake.wake.value == UINT32_MAX);
			FUZZ_CHECK(fake.wake.private_ ==
				   (models[i].flags == IPCWAIT_PRIVATE));
		}
}

static void check_barrier(const struct model *m, uint64_t w)
{
	FUZZ_CHECK(barrier_round(w) == m->round);
	FUZZ_CHECK(barrier_arrived(w) == m->arrived);
	FUZZ_CHECK(m->arrived || !(w & BARRIER_SLEEPS));
	FUZZ_CHECK(barrier_leaving(w) <= m->calls);
}

static void check_word(const struct model *m)
{
	uint64_t w = gate_word(&m->word);

	if (m->finished && m->kind != BARRIER)
		return;
	if (m->kind == BARRIER) {
		check_barrier(m, w);
		FUZZ_CHECK(m->calls || !barrier_leaving(w));
	} else if (m->kind == LATCH) {
		FUZZ_CHECK(latch_count(w) == m->count);
		FUZZ_CHECK(latch_sleepers(w) <= m->calls);
	} else {
		FUZZ_CHECK((w == ONCE_DONE) == m->done);
		FUZZ_CHECK(!once_runner(w) == !m->runs);
	}
}

/* A wait that is over: whether it is @released, and what may have ended it otherwise. */
static void check_result(const struct pending *p, int r, bool released)
{
	if (released)
		FUZZ_CHECK(r == 0);
	else if (r == -ETIMEDOUT)
		FUZZ_CHECK(fake.now_ns >= p->deadline_ns);
	else
		FUZZ_CHECK(r == p->error && r);
}

static void use_barrier(struct pending *p, bool timed)
{
	struct model *m = p->m;
	bool last = m->arrived + 1 == m->parties, beside;
	unsigned wakes = m->wakes;
	int r;

	p->round = m->round;
	beside = somebody_sleeps(m, m->round);
	if (!m->finished)
		m->arrived = last ? 0 : m->arrived + 1;
	m->round += !m->finished && last;
	r = timed ? ipcwait_barrier_wait_until(&m->barrier, p->deadline_ns)
		  : ipcwait_barrier_wait(&m->barrier);
	if (m->finished) {
		FUZZ_CHECK(r == -EINVAL);
	} else if (last) {
		FUZZ_CHECK(r == IPCWAIT_BARRIER_SERIAL);
		FUZZ_CHECK(m->wakes - wakes <= 1);
		FUZZ_CHECK(!beside || m->wakes != wakes);
	} else {
		bool released = m->round != p->round;

		check_result(p, r, released);
		m->arrived -= !released;
	}
}

static void use_latch(struct pending *p, bool timed)
{
	struct model *m = p->m;
	int r = timed ? ipcwait_latch_wait_until(&m->latch, p->deadline_ns)
		      : ipcwait_latch_wait(&m->latch);

	if (m->finished)
		FUZZ_CHECK(r == -EINVAL);
	else
		check_result(p, r, m->count == 0);
}

static void count_down(struct pending *p, bool waits)
{
	struct model *m = p->m;
	uint32_t n = waits ? 1 : take_8(in) % 8;
	bool fits = !m->finished && n <= m->count, opens = fits && n && n == m->count;
	bool beside = somebody_sleeps(m, 0);
	unsigned wakes = m->wakes;
	int r;

	if (fits)
		m->count -= n;
	r = waits ? ipcwait_latch_arrive_and_wait(&m->latch)
		  : ipcwait_latch_count_down(&m->latch, n);
	if (!fits)
		FUZZ_CHECK(r == (m->finished ? -EINVAL : -EOVERFLOW));
	else if (waits && !opens)
		check_result(p, r, m->count == 0);
	else
		FUZZ_CHECK(r == 0);
	if (!waits)
		FUZZ_CHECK(m->wakes - wakes <= opens);
	FUZZ_CHECK(!opens || !beside || m->wakes != wakes);
}

static int run(void *arg)
{
	struct pending *p = arg;
	struct model *m = p->m;
	uint8_t how = take_8(in);

	FUZZ_CHECK(innermost == p && !m->done);
	FUZZ_CHECK(!m->runs || fake.life == IW_DEAD);
	m->runs = p;
	p->ran = true;
	if (how & 1)
		let_others_act();
	/* It may have been taken over meanwhile. */
	if (how & 2 && m->runs == p)
		FUZZ_CHECK(ipcwait_once_run(&m->once, run, p) == -EDEADLK);
	if (how & 4)
		make_calls();
	return how & 8 ? -EIO : 0;
}

static void use_once(struct pending *p)
{
	struct model *m = p->m;
	bool was_done = m->done, within = m->runs && m->runs->thread == p->thread;
	int r = ipcwait_once_run(&m->once, run, p);

	if (m->finished) {
		FUZZ_CHECK(r == -EINVAL);
	} else if (was_done || within) {
		FUZZ_CHECK(r == (was_done ? 0 : -EDEADLK));
	} else if (m->runs == p) {
		FUZZ_CHECK(r == 0 || r == -EIO);
		m->runs = NULL;
		m->done = r == 0;
	} else {
		/* Somebody else has done it, or taken it over. */
		FUZZ_CHECK((r == 0 && m->done) || p->ran || (r && r == p->error));
	}
}

static void begin_and_end(struct model *m)
{
	uint32_t n = take_8(in) % 4;
	unsigned flags = take_8(in) & IPCWAIT_PRIVATE;
	bool fini = take_8(in) & 1;
	int r;

	/* Their headers leave it to the caller that nobody else uses the object. */
	if (m->calls)
		return;
	if (fini) {
		r = m->kind == BARRIER ? ipcwait_barrier_fini(&m->barrier)
		    : m->kind == LATCH ? ipcwait_latch_fini(&m->latch)
				       : ipcwait_once_fini(&m->once);
		FUZZ_CHECK(r == (m->finished ? -EINVAL : 0));
		m->finished = true;
		return;
	}
	r = m->kind == BARRIER ? ipcwait_barrier_init(&m->barrier, n, flags)
	    : m->kind == LATCH ? ipcwait_latch_init(&m->latch, n, flags)
			       : ipcwait_once_init(&m->once, flags);
	FUZZ_CHECK(r == (m->kind == BARRIER && !n ? -EINVAL : 0));
	if (r)
		return;
	m->flags = flags;
	m->parties = m->count = n;
	m->round = 0;
	m->finished = m->done = false;
}

/* Calls that wait for nobody. */
static void ask(struct model *m)
{
	int r;

	if (m->kind != LATCH)
		return;
	r = ipcwait_latch_trywait(&m->latch);
	FUZZ_CHECK(r == (m->count || m->finished ? -EAGAIN : 0));
	if (!m->finished)
		FUZZ_CHECK((uint32_t)ipcwait_latch_count(&m->latch) == m->count);
}

static void make_call(void)
{
	struct pending p = { .outer = innermost,
			     .m = &models[take_8(in) % OBJECTS],
			     .thread = fake.id,
			     .deadline_ns = INT64_MAX };
	uint8_t how = take_8(in);
	bool counts = p.m->kind == LATCH && how % 8 < 5;
	bool timed = how & 8 && p.m->kind != ONCE && !counts;

	if (timed)
		p.deadline_ns = take_deadline(in, fake.now_ns);
	innermost = &p;
	errno = 4711;
	if (how % 8 == 0) {
		begin_and_end(p.m);
	} else if (how % 8 == 1) {
		ask(p.m);
	} else {
		p.m->calls++;
		if (p.m->kind == BARRIER)
			use_barrier(&p, timed);
		else if (counts)
			count_down(&p, how % 8 == 2);
		else if (p.m->kind == LATCH)
			use_latch(&p, timed);
		else
			use_once(&p);
		p.m->calls--;
	}
	FUZZ_CHECK(errno == 4711);
	innermost = p.outer;
	for (unsigned i = 0; i < OBJECTS; i++)
		check_word(&models[i]);
}

static void make_calls(void)
{
	if (depth() < DEPTH_MOST)
		for (unsigned n = take_8(in) % (OTHERS_CALLS_MOST + 1); n; n--)
			make_call();
}

static void begin(void)
{
	memset(models, 0, sizeof(models));
	innermost = NULL;
	fake_reset();
	fake.on_wait = on_wait;
	fake.on_wake = on_wake;
	fake.allowed.count = take_8(in) & 1 ? 1 : 2;
	fake.step_ns = 400;
	for (unsigned i = 0; i < OBJECTS; i++) {
		struct model *m = &models[i];

		m->kind = (enum kind)(i % KINDS);
		m->parties = m->count = 2 + i / KINDS;
		if (m->kind == BARRIER)
			FUZZ_CHECK(ipcwait_barrier_init(&m->barrier, m->parties, 0) == 0);
		if (m->kind == LATCH)
			FUZZ_CHECK(ipcwait_latch_init(&m->latch, m->count, 0) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input all = { data, size };

	in = &all;
	begin();
	for (unsigned i = 0; i < CALLS_MOST && in->left; i++)
		make_call();
	return 0;
}
