/* SPDX-License-Identifier: MIT */
/*
 * Condition variables of unmodified programs: preload/cond_in_place.c over lib/sync/cond*.c, with a
 * mutex that is as simple as can be. They begin as zeros, and waiters are cancelled in their sleep.
 */
#include <errno.h>
#include <setjmp.h>
#include <unwind.h>

#include <ipcwait/mutex.h>

#include "common/cond_word.h"
#include "cond_in_place.h"
#include "front_mutex.h"
#include "interleave/engine.h"
#include "interleave/model.h"
#include "original.h"
#include "os/futex.h"
#include "sync/cond_wait.h"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

#define NS_PER_S 1000000000

/* What a call that is cancelled returns here. */
#define LEFT (-4712)

enum role { NOTHING, WAITS, WAITS_UNTIL, MISUSES, SIGNALS, BROADCASTS, ENDS };

struct script {
	enum role role[MODEL_THREADS_MAX];
	unsigned enough;  /* threads must wait before somebody signals; 0 is 1 */
	unsigned signals; /* 0 is 1 */
	bool early;       /* one more before, whoever waits then */
	bool exact;       /* who expires does so when nobody can run */
	bool flags_watched;
	bool at_looks; /* one is cancelled there */
	enum engine_spins spins;
};

/* What threads share. */
static pthread_cond_t *cond;
static struct ipcwait_mutex *mutex, *unlocked;

/* Notes of the test's own. */
enum phase { OUT, IN, RELEASED, CANCELLED, EXPIRED };

static volatile enum phase phase[MODEL_THREADS_MAX];
static volatile unsigned begun, released;
static volatile bool inside, gone;

/* Where the stack of a wait ends, and what it is left by. */
static struct call {
	struct _Unwind_Exception exception;
	uintptr_t frame;
	jmp_buf caller;
} calls[MODEL_THREADS_MAX], sleeps[MODEL_THREADS_MAX];

static volatile bool at_point[MODEL_THREADS_MAX];
static volatile bool may_cancel;

struct originals iw_originals = { .cond_mark = 9, .found = { 1 } };

void iw_find_originals(void)
{
}

static _Unwind_Reason_Code go_on(int version, _Unwind_Action actions,
				 _Unwind_Exception_Class class,
				 struct _Unwind_Exception *exception,
				 struct _Unwind_Context *context, void *arg);

/* Whoever is cancelled in a sleep that is no cancellation point goes on with it. */
static __attribute__((noinline)) void sleep_on(void (*body)(void *arg), void *arg)
{
	struct call *c = &sleeps[model_thread()];

	c->frame = (uintptr_t)__builtin_frame_address(0);
	(void)_setjmp(c->caller);
	body(arg);
}

static void lock_it(void *arg)
{
	model_assert(ipcwait_mutex_lock(arg) == 0);
}

int iw_lock_mutex_after_wait(pthread_mutex_t *m, bool noted, uintptr_t site)
{
	(void)noted, (void)site;
	sleep_on(lock_it, m);
	return 0;
}

int iw_unlock_mutex_to_wait(pthread_mutex_t *m)
{
	return -ipcwait_mutex_unlock((struct ipcwait_mutex *)m);
}

/* What runs if the thread is cancelled. */
static struct cleanup {
	void (*run)(void *);
	void *arg;
} cleanup[MODEL_THREADS_MAX];

/* libc's. */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*run)(void *),
			   void *arg);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute);

void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*run)(void *),
			   void *arg)
{
	(void)buffer;
	cleanup[model_thread()] = (struct cleanup){ run, arg };
}

void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute)
{
	(void)buffer, (void)execute;
	cleanup[model_thread()] = (struct cleanup){ 0 };
}

bool iw_front_deadline(const struct front_limit *limit, int64_t *deadline_ns)
{
	*deadline_ns = IPCWAIT_FOREVER;
	if (limit->at)
		*deadline_ns = limit->at->tv_sec * NS_PER_S + limit->at->tv_nsec;
	return true;
}

struct timespec iw_futex_deadline(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

struct timespec iw_futex_kernels_time(bool realtime, const struct timespec *at)
{
	(void)realtime;
	return *at;
}

int iw_futex_wait_clock(const uint32_t *word, uint32_t expected, bool realtime,
			const struct timespec *at, bool private_, uint32_t bits)
{
	int64_t until_ns = at ? at->tv_sec * NS_PER_S + at->tv_nsec : INT64_MAX;
	int r;

	model_assert(!realtime);
	at_point[model_thread()] = true;
	r = model_futex_wait(word, expected, until_ns, private_, bits);
	at_point[model_thread()] = false;
	return r;
}

static const struct script *script(void)
{
	return model_script();
}

static struct ipcwait_cond *own(void)
{
	return (struct ipcwait_cond *)cond;
}

static struct ipcwait_mutex *make_mutex(const char *name)
{
	struct ipcwait_mutex *m = model_alloc(sizeof(*m));

	model_quiet(&m->window, sizeof(m->window));
	model_name(&m->word, name);
	model_assert(ipcwait_mutex_init(m, 0) == 0);
	return m;
}

static void begin(void)
{
	engine_spins = script()->spins;
	begun = released = 0;
	inside = gone = false;
	may_cancel = script()->at_looks;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		phase[i] = OUT, at_point[i] = false;
	mutex = make_mutex("mutex");
	unlocked = make_mutex("unlocked mutex");
	cond = model_alloc(sizeof(*cond));
	model_quiet(&own()->window, sizeof(own()->window));
	model_name(&own()->word, "word");
	model_name(&own()->arrivals, "arrivals");
	/* Whoever adopts it stores the same as the others, beside plain loads of theirs. */
	if (!script()->flags_watched)
		model_quiet(&own()->flags, sizeof(own()->flags));
}

static void lock(void)
{
	model_assert(iw_lock_mutex_after_wait((pthread_mutex_t *)mutex, false, 0) == 0);
	model_assert(!inside);
	inside = true;
}

static void unlock(void)
{
	model_assert(inside);
	inside = false;
	model_assert(iw_unlock_mutex_to_wait((pthread_mutex_t *)mutex) == 0);
}

/* As cancellation does it: the stack is unwound, and the last is the caller. */
static _Unwind_Reason_Code go_on(int version, _Unwind_Action actions,
				 _Unwind_Exception_Class class,
				 struct _Unwind_Exception *exception,
				 struct _Unwind_Context *context, void *arg)
{
	struct call *c = arg;

	(void)version, (void)actions, (void)class, (void)exception;
	if (_Unwind_GetCFA(context) > c->frame)
		_longjmp(c->caller, 1);
	return _URC_NO_REASON;
}

static void cancelled(unsigned i)
{
	struct call *c = at_point[i] ? &calls[i] : &sleeps[i];
	struct cleanup handler = at_point[i] ? cleanup[i] : (struct cleanup){ 0 };

	at_point[i] = false;
	if (handler.run)
		handler.run(handler.arg);
	(void)_Unwind_ForcedUnwind(&c->exception, go_on, c);
	model_assert(!"unwound");
}

/* libc's. Each look is followed by one. */
void pthread_testcancel(void)
{
	if (!may_cancel || !model_choose_rarely(2, "cancelled"))
		return;
	may_cancel = false;
	at_point[model_thread()] = true;
	cancelled(model_thread());
}

static __attribute__((noinline)) int wait_with(struct ipcwait_mutex *m,
					       const struct front_limit *limit)
{
	struct call *c = &calls[model_thread()];

	c->frame = (uintptr_t)__builtin_frame_address(0);
	if (_setjmp(c->caller))
		return LEFT;
	return iw_cond_wait_here(cond, (pthread_mutex_t *)m, limit, 0);
}

static void wait_once(unsigned i, int64_t deadline_ns)
{
	struct timespec at = iw_futex_deadline(deadline_ns);
	struct front_limit limit = { CLOCK_MONOTONIC,
				     deadline_ns == IPCWAIT_FOREVER ? NULL : &at };
	int r;

	lock();
	phase[i] = IN;
	inside = false;
	r = wait_with(mutex, &limit);
	model_assert(!inside);
	inside = true;
	model_assert(r == 0 || r == LEFT || (r == ETIMEDOUT && model_now() >= deadline_ns));
	phase[i] = r == 0 ? RELEASED : r == LEFT ? CANCELLED : EXPIRED;
	released += r == 0;
	unlock();
}

static void misuse(void)
{
	struct front_limit limit = { CLOCK_MONOTONIC, NULL };

	model_assert(wait_with(unlocked, &limit) == EPERM);
}

/* Returns with the mutex when enough threads have come. */
static void await_waiters(void)
{
	unsigned enough = script()->enough ? script()->enough : 1, n;

	do {
		n = 0;
		for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
			n += phase[i] != OUT;
		if (n < enough)
			model_pause();
	} while (n < enough);
	lock();
}

static void signal_waiters(void)
{
	if (script()->early)
		model_assert(ipcwait_cond_signal(iw_cond_own(cond)) == 0);
	await_waiters();
	unlock();
	for (unsigned n = script()->signals ? script()->signals : 1; n; n--) {
		begun++;
		model_assert(ipcwait_cond_signal(iw_cond_own(cond)) == 0);
	}
}

static void end_it(void *arg)
{
	iw_cond_drain(iw_cond_own(arg));
}

static void broadcast(bool ends)
{
	await_waiters();
	model_assert(ipcwait_cond_broadcast(iw_cond_own(cond)) == 0);
	if (ends) {
		sleep_on(end_it, cond);
		gone = true;
		model_free(cond);
	}
	unlock();
}

static void thread(unsigned i)
{
	switch (script()->role[i]) {
	case WAITS:
		wait_once(i, IPCWAIT_FOREVER);
		break;
	case WAITS_UNTIL:
		wait_once(i, model_now() + SOON_NS);
		break;
	case MISUSES:
		misuse();
		break;
	case SIGNALS:
		signal_waiters();
		break;
	case BROADCASTS:
	case ENDS:
		broadcast(script()->role[i] == ENDS);
		break;
	default:
		break;
	}
}

/*
 * Where deadlines pass only when nobody can run, all signals were given before, while all waited:
 * each has released another, or whoever is left would not have waited so long.
 */
static void check_signals(void)
{
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		model_assert(phase[i] != EXPIRED || !script()->exact || released >= begun);
}

static void end(void)
{
	check_signals();
	if (!gone) {
		model_assert(cond_inside(own()) == 0 && cond_tickets(own()) == 0);
		iw_cond_drain(iw_cond_own(cond));
		model_free(cond);
	}
	model_free(mutex);
	model_free(unlocked);
}

#define COMMON  .begin = begin, .thread = thread, .end = end
#define SCRIPT  .script = &(const struct script)
#define CANCELS .cancelled = cancelled, .faults = { .cancels = 1 }

const struct model_scenario model_scenarios[] = {
	{ .name = "preload: flags beside plain loads",
	  .threads = 2,
	  COMMON,
	  .about = "a race by the letter of C11, of stores that change nothing",
	  SCRIPT{ .role = { WAITS, SIGNALS }, .early = true, .flags_watched = true },
	  .search = { .bound = 1, .weak_bound = 1 },
	  .expect = { MODEL_RACE, MODEL_RACE, MODEL_RACE } },
	{ .name = "preload: adopted by a waiter and a signal",
	  .threads = 2,
	  COMMON,
	  .about = "both find zeros, and agree on what they are",
	  SCRIPT{ .role = { WAITS, SIGNALS }, .early = true, .spins = ENGINE_EITHER },
	  .search = { .bound = 3, .weak_bound = 2, .stale = 2 } },
	{ .name = "preload: adopted by two waiters",
	  .threads = 3,
	  COMMON,
	  .about = "while a third signals",
	  SCRIPT{ .role = { WAITS, WAITS, SIGNALS },
		  .enough = 2,
		  .signals = 2,
		  .early = true,
		  .spins = ENGINE_EITHER },
	  .search = { .bound = 1, .runs_most = 12000, .pct_depth = 4, .pct_runs = 2000 } },
	{ .name = "preload: cancelled beside a signal",
	  .threads = 2,
	  COMMON,
	  CANCELS,
	  .about = "it has the mutex, and has left nothing behind",
	  SCRIPT{ .role = { WAITS, SIGNALS }, .spins = ENGINE_EITHER },
	  .search = { .bound = 3, .weak_bound = 2, .stale = 1 } },
	{ .name = "preload: cancelled beside a waiter",
	  .threads = 3,
	  COMMON,
	  .patient = true,
	  CANCELS,
	  .about = "its signal reaches the other",
	  SCRIPT{ .role = { WAITS_UNTIL, WAITS_UNTIL, SIGNALS },
		  .enough = 2,
		  .exact = true,
		  .spins = ENGINE_EITHER },
	  .search = { .bound = 1,
		      .runs_most = 12000,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 3000 } },
	{ .name = "preload: cancelled at a look beside a signal",
	  .threads = 2,
	  COMMON,
	  .about = "also after it has seen that it is released",
	  SCRIPT{ .role = { WAITS, SIGNALS }, .at_looks = true, .spins = ENGINE_EITHER },
	  .search = { .bound = 2, .weak_bound = 1, .stale = 1 } },
	{ .name = "preload: cancelled at a look beside a waiter",
	  .threads = 3,
	  COMMON,
	  .patient = true,
	  .about = "its signal reaches the other",
	  SCRIPT{ .role = { WAITS_UNTIL, WAITS_UNTIL, SIGNALS },
		  .enough = 2,
		  .exact = true,
		  .at_looks = true,
		  .spins = ENGINE_EITHER },
	  .search = { .bound = 1, .runs_most = 12000, .pct_depth = 4, .pct_runs = 3000 } },
	{ .name = "preload: cancelled beside two waiters",
	  .threads = 4,
	  COMMON,
	  .patient = true,
	  CANCELS,
	  .about = "none of two signals is lost",
	  SCRIPT{ .role = { WAITS_UNTIL, WAITS_UNTIL, WAITS_UNTIL, SIGNALS },
		  .enough = 3,
		  .signals = 2,
		  .exact = true,
		  .spins = ENGINE_EITHER },
	  .search = { .pct_depth = 5, .pct_runs = 3000 } },
	{ .name = "preload: cancelled beside a deadline",
	  .threads = 3,
	  COMMON,
	  CANCELS,
	  .about = "both give up, each for itself",
	  SCRIPT{ .role = { WAITS_UNTIL, WAITS, BROADCASTS }, .enough = 2 },
	  .search = { .bound = 1, .runs_most = 12000, .pct_depth = 4, .pct_runs = 2000 } },
	{ .name = "preload: cancelled while it ends",
	  .threads = 3,
	  COMMON,
	  CANCELS,
	  .about = "it is freed at once when the last has let go of it",
	  SCRIPT{ .role = { WAITS, WAITS, ENDS }, .enough = 2, .spins = ENGINE_EITHER },
	  .search = { .bound = 1,
		      .runs_most = 12000,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000 } },
	{ .name = "preload: cancelled in a sleep on a timer",
	  .threads = 3,
	  COMMON,
	  .patient = true,
	  .cancelled = cancelled,
	  .about = "or after it",
	  SCRIPT{ .role = { WAITS_UNTIL, WAITS_UNTIL, SIGNALS },
		  .enough = 2,
		  .exact = true,
		  .spins = ENGINE_SPINS },
	  .faults = { .cancels = 1, .timers = 1, .spurious = 1 },
	  .search = { .pct_depth = 4, .pct_runs = 2000 } },
	{ .name = "preload: not the owner",
	  .threads = 3,
	  COMMON,
	  .about = "a wait that is refused passes on what it was given meanwhile",
	  SCRIPT{ .role = { WAITS, MISUSES, SIGNALS } },
	  .search = { .bound = 2, .pct_depth = 4, .pct_runs = 2000 } },
	{ 0 },
};
