/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on mutexes of all kinds, step by step against a model that only knows what
 * <ipcwait/mutex.h> promises: who owns it, how often, who has died. The caller is one of several
 * threads by name only: deadlines have passed, so nobody sleeps, and nobody is woken. After each
 * call the word is what the state table says.
 */
#include <errno.h>

#include <ipcwait/mutex.h>

#include "common/fake_os.h"
#include "common/fuzz.h"
#include "fuzz/kernel.h"

#define CALLS_MOST 100
#define MUTEXES    3
#define PROCESS    17
#define OWNER      32
#define DIED       (UINT64_C(1) << 55)
#define LOST       (UINT64_C(1) << 56)
#define CHECKED    (UINT64_C(1) << 62)

#define KNOWN (IPCWAIT_RECURSIVE | IPCWAIT_ERRORCHECK | IPCWAIT_ROBUST)

#define NAMESPACE (~IW_BIRTH_BEGAN)

/*
 * The third has the id of the second, which is dead then. It is not known when the fourth began,
 * and not where the fifth is. The last is in another namespace, where it has the id of the second.
 */
static const struct thread {
	uint32_t id, birth, process;
} threads[] = {
	{ FAKE_ID, FAKE_BIRTH, 1 },
	{ FAKE_ID + 1, FAKE_BIRTH, 1 },
	{ FAKE_ID + 1, FAKE_BIRTH + 1, 2 },
	{ FAKE_ID + 2, (FAKE_BIRTH & NAMESPACE) | IW_BIRTH_DRAWN | 5, 2 },
	{ FAKE_ID + 3, FAKE_BIRTH &IW_BIRTH_BEGAN, 3 },
	{ FAKE_ID + 1, FAKE_BIRTH + IW_BIRTH_BEGAN + 1, 4 },
};

#define THREADS (sizeof(threads) / sizeof(threads[0]))

struct model {
	struct ipcwait_mutex mutex;
	unsigned flags;
	uint32_t space; /* namespace of a robust one */
	const struct thread *owner;
	uint32_t process; /* of the last owner */
	unsigned count;   /* unlocks that it takes */
	bool died, lost, finished;
};

enum call { TRYLOCK, LOCK, LOCK_UNTIL, UNLOCK, CONSISTENT, INIT, FINI, DIE, DEEPEN, CALLS };

static struct model models[MUTEXES];
static const struct thread *self;

static bool robust(const struct model *m)
{
	return m->flags & IPCWAIT_ROBUST;
}

static bool own(const struct model *m)
{
	if (!m->owner || !(m->flags & KNOWN) || m->owner->id != self->id)
		return false;
	if (!robust(m))
		return m->owner->process == self->process;
	return m->owner->birth == self->birth;
}

static void check_word(const struct model *m)
{
	uint64_t w = m->flags & KNOWN || m->finished ? CHECKED : 0;

	if (m->owner)
		w |= (m->flags & KNOWN ? (uint64_t)m->owner->id : 1) << OWNER;
	w |= (m->died ? DIED : 0) | (m->lost ? LOST : 0);
	if (m->flags & KNOWN && !robust(m))
		w |= (uint64_t)m->process << PROCESS;
	FUZZ_CHECK(m->mutex.word.v == (m->finished ? CHECKED : w));
}

/* @busy is what the call says where it would have to wait. */
static int lock_result(struct model *m, int busy)
{
	if (m->finished)
		return -EINVAL;
	if (robust(m) && (self->birth & NAMESPACE) != m->space)
		return -ENOTSUP;
	if (own(m) && m->flags & IPCWAIT_RECURSIVE) {
		if (m->count == IPCWAIT_RECURSION_MAX)
			return -EAGAIN;
		m->count++;
		return 0;
	}
	if (own(m))
		return busy == -EBUSY ? -EBUSY : -EDEADLK;
	if (m->lost)
		return -ENOTRECOVERABLE;
	/* Whoever has the id of an owner that it is not, and looks, knows that that is dead. */
	if (m->owner && robust(m) && busy == -ETIMEDOUT && m->owner->id == self->id) {
		m->owner = NULL;
		m->died = true;
	}
	if (m->owner)
		return busy;
	m->owner = self;
	m->process = self->process;
	m->count = 1;
	return m->died ? -EOWNERDEAD : 0;
}

static int unlock_result(struct model *m)
{
	if (m->finished)
		return -EINVAL;
	if (m->flags & KNOWN ? !own(m) : !m->owner)
		return -EPERM;
	if (--m->count)
		return 0;
	m->owner = NULL;
	m->lost = m->died;
	return 0;
}

static int consistent_result(struct model *m)
{
	if (m->finished || !robust(m) || !m->died)
		return -EINVAL;
	if (!own(m))
		return -EPERM;
	m->died = false;
	return 0;
}

static int init_result(struct model *m, unsigned flags)
{
	if (flags & ~(KNOWN | IPCWAIT_PRIVATE) ||
	    (flags & IPCWAIT_RECURSIVE && flags & IPCWAIT_ERRORCHECK))
		return -EINVAL;
	if (flags & IPCWAIT_ROBUST &&
	    (!iw_birth_known(self->birth) || !(self->birth & NAMESPACE)))
		return -ENOTSUP;
	m->space = self->birth & NAMESPACE;
	m->flags = flags;
	m->owner = NULL;
	m->process = 0;
	m->died = m->lost = m->finished = false;
	return 0;
}

static int fini_result(struct model *m)
{
	if (m->finished)
		return -EINVAL;
	if (m->owner)
		return -EBUSY;
	m->finished = true;
	return 0;
}

/* What a waiter does with a mutex whose owner is dead: "bury" in the state table. */
static void die(struct model *m)
{
	if (m->finished || !robust(m) || !m->owner)
		return;
	m->mutex.word.v &= ~(((uint64_t)m->owner->id << OWNER) | DIED);
	m->mutex.word.v |= DIED;
	m->mutex.note.v &= ~IW_BIRTH_BEGAN;
	m->owner = NULL;
	m->died = true;
}

/* As if it had been locked nearly as often as it can be. */
static void deepen(struct model *m)
{
	if (m->finished || !own(m) || !(m->flags & IPCWAIT_RECURSIVE))
		return;
	m->count = IPCWAIT_RECURSION_MAX - 1;
	m->mutex.count = (uint16_t)(m->count - 1);
}

static unsigned take_flags(struct input *in)
{
	static const unsigned some[] = { 0,
					 IPCWAIT_RECURSIVE,
					 IPCWAIT_ERRORCHECK,
					 IPCWAIT_ROBUST,
					 IPCWAIT_ROBUST | IPCWAIT_RECURSIVE,
					 IPCWAIT_ROBUST | IPCWAIT_ERRORCHECK };
	uint8_t how = take_8(in);

	if (how >= 240)
		return take_32(in);
	return some[how % 6] | (how & 128 ? IPCWAIT_PRIVATE : 0);
}

/* What cannot be had at once is not waited for. */
static void lock(struct model *m)
{
	bool foreign = robust(m) && (self->birth & NAMESPACE) != m->space;
	bool waits = m->owner && !own(m) && !m->lost && !m->finished && !foreign;

	if (!waits)
		FUZZ_CHECK(ipcwait_mutex_lock(&m->mutex) == lock_result(m, -ETIMEDOUT));
}

static void init(struct model *m, struct input *in)
{
	unsigned flags = take_flags(in);

	FUZZ_CHECK(ipcwait_mutex_init(&m->mutex, flags) == init_result(m, flags));
}

static void make(struct model *m, enum call call, struct input *in)
{
	switch (call) {
	case TRYLOCK:
		FUZZ_CHECK(ipcwait_mutex_trylock(&m->mutex) == lock_result(m, -EBUSY));
		break;
	case LOCK:
		lock(m);
		break;
	case LOCK_UNTIL:
		FUZZ_CHECK(ipcwait_mutex_lock_until(&m->mutex,
						    take_past_deadline(in, fake.now_ns)) ==
			   lock_result(m, -ETIMEDOUT));
		break;
	case UNLOCK:
		FUZZ_CHECK(ipcwait_mutex_unlock(&m->mutex) == unlock_result(m));
		break;
	case CONSISTENT:
		FUZZ_CHECK(ipcwait_mutex_consistent(&m->mutex) == consistent_result(m));
		break;
	case INIT:
		init(m, in);
		break;
	case FINI:
		FUZZ_CHECK(ipcwait_mutex_fini(&m->mutex) == fini_result(m));
		break;
	case DIE:
		die(m);
		break;
	default:
		deepen(m);
		break;
	}
}

static int never_wait(const struct fake_call *call)
{
	(void)call;
	__builtin_trap();
}

static void be(const struct thread *t)
{
	fake.id = t->id;
	fake.birth = t->birth;
	fake.process = t->process;
}

static void begin(struct input *in)
{
	kernel_begin(in);
	fake.on_wait = never_wait;
	for (unsigned i = 0; i < MUTEXES; i++) {
		models[i] = (struct model){ 0 };
		self = &threads[0];
		be(self);
		init(&models[i], in);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	begin(&in);
	for (unsigned i = 0; i < CALLS_MOST && in.left; i++) {
		uint8_t who = take_8(&in);
		struct model *m = &models[who / THREADS % MUTEXES];

		self = &threads[who % THREADS];
		be(self);
		errno = 4711;
		make(m, (enum call)(take_8(&in) % CALLS), &in);
		FUZZ_CHECK(errno == 4711 && fake.wakes == 0);
		check_word(m);
	}
	return 0;
}
