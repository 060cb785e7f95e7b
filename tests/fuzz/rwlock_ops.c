/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on reader-writer locks, step by step against a model that only knows what
 * <ipcwait/rwlock.h> promises: who reads, who writes, who waits. While a thread sleeps others make
 * calls, and may sleep in turn. Results agree, nobody sleeps beside a lock that it could have
 * without a wake, and when nobody waits the word is what the state table says. Of one of the
 * locks all bytes are the input's: then results are what the header lists, and calls end.
 */
#include <errno.h>
#include <stdio.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/fake_os.h"
#include "common/fuzz.h"
#include "common/rwlock_word.h"
#include "fuzz/input.h"
#include "os/sharing.h"
#include "os/thread.h"
#include "sync/rwlock_word.h"

#define CALLS_MOST        64
#define OTHERS_CALLS_MOST 4
#define DEPTH_MOST        4
#define LOCKS             3
#define WILD              2

/* Deadlines that somebody waits for, at most, in ns; alarms, naps and surprises until then. */
#define PATIENCE_NS INT64_C(60000000)
#define SLEEPS_MOST 300

/* No waiter is overdue before it has waited for this time, in ns. */
#define OVERDUE_NS INT64_C(4000000)

/* The longest nap of a writer, in ns, with some readings of the clock. */
#define NAP_NS INT64_C(110000)

/* Roll calls after which the word is as before them. */
#define EPOCHS 4

/* Looks of who finds another at its parent's waiters, and the time between them, in ns. */
#define LOOKS_MOST 100
#define LOOK_NS    INT64_C(100000)

enum kind {
	RDLOCK,
	TRYRDLOCK,
	WRLOCK,
	TRYWRLOCK,
	RDUNLOCK,
	WRUNLOCK,
	UNLOCK,
	INIT,
	FINI,
	KINDS
};

struct model {
	struct ipcwait_rwlock lock;
	unsigned flags;
	unsigned readers;
	bool written, finished;
	unsigned reading, writing; /* calls that may sleep and have not returned */
	unsigned wakes, rolls;     /* system calls; those of them that call the roll */
};

/* A call that has not returned. All but the innermost sleep. */
struct pending {
	struct pending *outer;
	struct model *m;
	enum kind kind;
	int64_t deadline_ns, began_ns;
	unsigned sleeps, looks;
	bool miscounted;
	int error; /* of the kernel's, that ends a wait */
};

static struct model models[LOCKS];
static struct pending *innermost;
static struct input *in;

/* The ones of check.c end the process behind libFuzzer's back. */
void check_failed(const char *file, int line, const char *what)
{
	(void)fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	__builtin_trap();
}

void check_equal(const char *file, int line, const char *what, long long is, long long want)
{
	if (is != want)
		check_failed(file, line, what);
}

bool __wrap_iw_memory_is_shared(const void *address);

/* Of its own memory a process has to believe what is written. */
bool __wrap_iw_memory_is_shared(const void *address)
{
	return address == &models[WILD].lock;
}

static bool wild(const struct model *m)
{
	return m == &models[WILD];
}

static unsigned depth(void)
{
	unsigned n = 0;

	for (const struct pending *p = innermost; p; p = p->outer)
		n++;
	return n;
}

static bool waits(enum kind kind)
{
	return kind == RDLOCK || kind == WRLOCK;
}

static bool writes(enum kind kind)
{
	return kind == WRLOCK || kind == TRYWRLOCK;
}

/* With nobody in a wait the word is who holds it and nothing else. */
static void check_word(const struct model *m)
{
	uint64_t w = rwlock_word(&m->lock) & ~WORD_EPOCH;

	if (wild(m) || m->finished)
		return;
	FUZZ_CHECK(word_readers(w) == m->readers && !!(w & WORD_WRITER) == m->written);
	FUZZ_CHECK(word_rsleepers(w) <= m->reading && word_wsleepers(w) <= m->writing);
	/* A waiter that has missed EPOCHS roll calls takes itself for counted. */
	FUZZ_CHECK(word_may_be(w) || m->rolls >= EPOCHS);
	if (!m->reading && !m->writing)
		FUZZ_CHECK(w == (m->written ? WORD_WRITER : WORD(m->readers, 0, 0)));
}

/* A writer that waits for the lock may be overdue. With @any: a writer or a reader. */
static bool one_is_overdue(const struct model *m, bool any)
{
	for (const struct pending *p = innermost; p; p = p->outer)
		if (p->m == m && (any || writes(p->kind)) &&
		    fake.now_ns - p->began_ns >= OVERDUE_NS)
			return true;
	return false;
}

/*
 * A call may fail while another thread holds the lock. It may also fail while an overdue writer
 * waits, and the call of a writer while an overdue reader waits.
 */
static bool in_the_way(const struct model *m, enum kind kind)
{
	if (m->written || (writes(kind) && m->readers))
		return true;
	return one_is_overdue(m, writes(kind));
}

static void after_lock(struct model *m, const struct pending *p, int r)
{
	if (m->finished) {
		FUZZ_CHECK(r == -EINVAL);
		return;
	}
	if (r == 0) {
		FUZZ_CHECK(!m->written && !(writes(p->kind) && m->readers));
		m->written = writes(p->kind);
		m->readers += !writes(p->kind);
		return;
	}
	if (r == -ETIMEDOUT)
		FUZZ_CHECK(waits(p->kind) && fake.now_ns >= p->deadline_ns);
	else if (r == -EBUSY)
		FUZZ_CHECK(!waits(p->kind));
	else
		FUZZ_CHECK(r == p->error);
	if (r == -ETIMEDOUT || r == -EBUSY)
		FUZZ_CHECK(in_the_way(m, p->kind));
}

static void after_unlock(struct model *m, enum kind kind, int r, unsigned wakes)
{
	bool held = kind == RDUNLOCK   ? m->readers > 0
		    : kind == WRUNLOCK ? m->written
				       : m->readers || m->written;

	FUZZ_CHECK(r == (m->finished ? -EINVAL : held ? 0 : -EPERM));
	FUZZ_CHECK(m->wakes - wakes <= (r == 0 && (m->reading || m->writing)));
	if (r)
		return;
	if (m->written)
		m->written = false;
	else
		m->readers--;
}

static void after(struct model *m, const struct pending *p, int r, unsigned wakes)
{
	switch (p->kind) {
	case RDLOCK:
	case TRYRDLOCK:
	case WRLOCK:
	case TRYWRLOCK:
		after_lock(m, p, r);
		break;
	case INIT:
		FUZZ_CHECK(r == 0);
		m->finished = false;
		m->readers = 0;
		m->written = false;
		break;
	case FINI:
		FUZZ_CHECK(r == (m->finished                ? -EINVAL
				 : m->readers || m->written ? -EBUSY
							    : 0));
		m->finished = m->finished || r == 0;
		break;
	default:
		after_unlock(m, p->kind, r, wakes);
		break;
	}
}

static bool documented(enum kind kind, int r)
{
	if (r == 0 || r == -EINVAL)
		return true;
	switch (kind) {
	case RDLOCK:
		return r == -EAGAIN || r == -ETIMEDOUT || r == -EFAULT || r == -ENOSYS;
	case WRLOCK:
		return r == -ETIMEDOUT || r == -EFAULT || r == -ENOSYS;
	case TRYRDLOCK:
		return r == -EAGAIN || r == -EBUSY;
	case TRYWRLOCK:
	case FINI:
		return r == -EBUSY;
	case INIT:
		return false;
	default:
		return r == -EPERM;
	}
}

static int make(struct model *m, const struct pending *p)
{
	bool at_once = !in_the_way(m, p->kind) && !wild(m);

	switch (p->kind) {
	case RDLOCK:
		return at_once && p->deadline_ns % 2
			       ? ipcwait_rwlock_rdlock(&m->lock)
			       : ipcwait_rwlock_rdlock_until(&m->lock, p->deadline_ns);
	case TRYRDLOCK:
		return ipcwait_rwlock_tryrdlock(&m->lock);
	case WRLOCK:
		return at_once && p->deadline_ns % 2
			       ? ipcwait_rwlock_wrlock(&m->lock)
			       : ipcwait_rwlock_wrlock_until(&m->lock, p->deadline_ns);
	case TRYWRLOCK:
		return ipcwait_rwlock_trywrlock(&m->lock);
	case RDUNLOCK:
		return ipcwait_rwlock_rdunlock(&m->lock);
	case WRUNLOCK:
		return ipcwait_rwlock_wrunlock(&m->lock);
	case UNLOCK:
		return ipcwait_rwlock_unlock(&m->lock);
	case INIT:
		return ipcwait_rwlock_init(&m->lock, m->flags);
	default:
		return ipcwait_rwlock_fini(&m->lock);
	}
}

/* Not beside a wait, as the header says. */
static bool allowed(const struct model *m, enum kind kind)
{
	return (kind != INIT && kind != FINI) || (!m->reading && !m->writing);
}

static void make_call(void)
{
	struct pending p = { .outer = innermost, .m = &models[take_8(in) % LOCKS] };
	struct model *m = p.m;
	unsigned wakes = m->wakes;
	int r;

	p.kind = (enum kind)(take_8(in) % KINDS);
	if (waits(p.kind) && depth() >= DEPTH_MOST)
		p.kind = writes(p.kind) ? TRYWRLOCK : TRYRDLOCK;
	if (!allowed(m, p.kind))
		return;
	p.began_ns = fake.now_ns;
	if (waits(p.kind))
		p.deadline_ns = fake.now_ns + take_32(in) % PATIENCE_NS - 1000;
	innermost = &p;
	r = make(m, &p);
	innermost = p.outer;
	FUZZ_CHECK(documented(p.kind, r) && errno == 4711);
	if (!wild(m))
		after(m, &p, r, wakes);
	for (unsigned i = 0; i < LOCKS; i++)
		check_word(&models[i]);
}

/*
 * Others make calls while this thread sleeps. If it is the only waiter and can now have the lock,
 * it needs a wake. Exceptions: it @naps, or it has missed four roll calls, so that it takes itself
 * for counted. Then it has an alarm.
 */
static void let_others_act(bool naps)
{
	struct pending *sleeper = innermost;
	struct model *m = sleeper->m;
	unsigned wakes = m->wakes, rolls = m->rolls;
	struct iw_thread mine = iw_thread;

	memset(&iw_thread, 0, sizeof(iw_thread));
	fake.cpu ^= 1;
	for (unsigned n = take_8(in) % (OTHERS_CALLS_MOST + 1); n; n--)
		make_call();
	fake.cpu ^= 1;
	iw_thread = mine;
	FUZZ_CHECK(innermost == sleeper);
	sleeper->miscounted |= m->rolls - rolls >= EPOCHS;
	if (!wild(m) && !sleeper->miscounted && !naps && m->reading + m->writing == 1 &&
	    !m->written && !(writes(sleeper->kind) && m->readers))
		FUZZ_CHECK(m->wakes != wakes);
}

static int sleep_until(int64_t ns)
{
	if (ns > fake.now_ns)
		fake.now_ns = ns;
	return -ETIMEDOUT;
}

/* The thread sleeps with the alarm of a nap. */
static bool naps(const struct fake_call *c)
{
	return writes(innermost->kind) && rwlock_word(&innermost->m->lock) & WORD_QUIET &&
	       c->deadline_ns <= fake.now_ns + NAP_NS;
}

static int answer(const struct fake_call *c)
{
	uint8_t how = take_8(in);
	bool quiet = naps(c);

	if (*c->word != c->value)
		return -EAGAIN;
	if (how % 8 == 0 || in->left == 0)
		return sleep_until(c->deadline_ns);
	fake.now_ns += (int64_t)take_16(in) << (how >> 3 & 7);
	if (fake.now_ns >= c->deadline_ns)
		return -ETIMEDOUT;
	switch (how % 8) {
	case 1:
		return 0;
	case 2:
		return -EINTR;
	case 3:
		return innermost->error = how >> 6 ? -ENOSYS : -EFAULT;
	default:
		let_others_act(quiet);
		return how >> 6 ? 0 : sleep_until(c->deadline_ns);
	}
}

/* The bytes say that a thread of this process is just forgetting a parent's waiters. */
static int look_again(struct pending *p, const struct fake_call *c)
{
	FUZZ_CHECK(wild(p->m) && ++p->looks <= LOOKS_MOST);
	FUZZ_CHECK(c->deadline_ns <= fake.now_ns + LOOK_NS);
	return *c->word == c->value ? sleep_until(c->deadline_ns) : -EAGAIN;
}

static int on_wait(const struct fake_call *asked)
{
	struct fake_call c = *asked; /* others may ask while it sleeps */
	struct pending *p = innermost;
	struct model *m = p->m;
	int r;

	if (c.word == &m->lock.note.v)
		return look_again(p, &c);
	FUZZ_CHECK(waits(p->kind) && ++p->sleeps <= SLEEPS_MOST);
	FUZZ_CHECK(c.deadline_ns <= p->deadline_ns && !p->error);
	*(writes(p->kind) ? &m->writing : &m->reading) += 1;
	r = answer(&c);
	*(writes(p->kind) ? &m->writing : &m->reading) -= 1;
	return r;
}

static void on_wake(void)
{
	for (unsigned i = 0; i < LOCKS; i++) {
		bool its = fake.wake.word == (const uint32_t *)&models[i].lock.word;

		models[i].wakes += its;
		models[i].rolls += its && fake.wake.bits == RWLOCK_BITS_ALL;
	}
}

static void begin(void)
{
	int64_t now_ns = fake.now_ns;
	uint8_t how = take_8(in);

	fake_reset();
	/* Never back, and far from all that the library may remember. */
	if (now_ns < INT64_MAX / 2)
		fake.now_ns = (now_ns >> 35 << 35) + (INT64_C(2) << 35);
	fake.step_ns = INT64_C(400) << (how & 3);
	fake.allowed.count = how & 4 ? 1 : 2;
	fake.on_wait = on_wait;
	fake.on_wake = on_wake;
	innermost = NULL;
	for (unsigned i = 0; i < LOCKS; i++) {
		models[i] = (struct model){ .flags = i == 1 ? IPCWAIT_PRIVATE : 0 };
		models[i].lock.flags = models[i].flags;
	}
	if (how & 8)
		take_bytes(in, &models[WILD].lock, sizeof(models[WILD].lock));
	errno = 4711;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input bytes = { data, size };

	in = &bytes;
	begin();
	for (unsigned i = 0; i < CALLS_MOST && in->left; i++)
		make_call();
	return 0;
}
