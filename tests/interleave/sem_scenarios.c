/* SPDX-License-Identifier: MIT */
/*
 * Semaphores: lib/sync/sem.c, the inline functions of <ipcwait/sem.h>, and the waiting loop of
 * lib/wait below them. What holds in every state and at the end is in look() and end(). Where
 * nothing else is said the last waiter to come back frees the semaphore, whatever posters do.
 */
#include <errno.h>

#include <ipcwait/sem.h>

#include "common/sem_word.h"
#include "interleave/engine.h"
#include "interleave/model.h"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

/* Posts that must reach a sleeper after a death, each when wakes under way are stale. */
#define RESCUES_MOST 2
#define STALE_NS     2000000

/* What a thread does, rounds times. */
enum role {
	NOTHING,
	WAITS,
	WAITS_UNTIL, /* and gives up at a deadline */
	WAITS_OFTEN, /* again after -EINTR */
	TRIES,       /* without waiting */
	POSTS,
	POSTS_TWO,  /* at once */
	LOCKS,      /* takes the only token, changes data, gives it back */
	HANDS_OVER, /* waits for one semaphore and posts the other */
	FINISHES,   /* waits, then ends the semaphore's life */
};

struct script {
	enum role role[MODEL_THREADS_MAX];
	unsigned rounds; /* 0 is 1 */
	uint64_t word;   /* to begin with; its low half is what strangers have left */
	uint32_t left;   /* low half in the end */
	unsigned flags;
	enum engine_spins spins;
	bool posters_stay; /* the memory is freed when posters are done as well */
	bool end_frees;    /* ... or by end() */
};

/* What threads share. */
static struct ipcwait_sem *sem, *other;
static struct shared {
	uint32_t users;
	uint32_t data; /* of whoever holds a token */
} * shared;

/* Notes of the test's own. */
static bool gone;
static uint64_t final; /* the word when it was freed */
static unsigned begun, posted, taken;

static const struct script *script(void)
{
	return model_script();
}

static bool waits(enum role role)
{
	return role != NOTHING && role != POSTS && role != POSTS_TWO;
}

static struct ipcwait_sem *make_sem(uint64_t word, const char *name)
{
	struct ipcwait_sem *s = model_alloc(sizeof(*s));

	model_quiet(&s->window, sizeof(s->window));
	model_name(&s->word, name);
	model_assert(ipcwait_sem_init(s, 0, script()->flags) == 0);
	s->word.v = word;
	return s;
}

static void begin(void)
{
	const struct script *s = script();

	engine_spins = s->spins;
	gone = false;
	begun = posted = word_value(s->word);
	taken = 0;
	sem = make_sem(s->word, "sem.word");
	other = make_sem(0, "other.word");
	shared = model_alloc(sizeof(*shared));
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (waits(s->role[i]) || (s->posters_stay && s->role[i] != NOTHING))
			shared->users++;
}

static void free_all(void)
{
	gone = true;
	final = model_peek(&sem->word);
	model_free(sem);
	model_free(other);
	model_free(shared);
}

/* The caller needs the semaphore no more; whoever is the last frees it at once. */
static void leave(void)
{
	if (script()->end_frees)
		return;
	if (__atomic_fetch_sub(&shared->users, 1, __ATOMIC_ACQ_REL) == 1)
		free_all();
}

static int take(enum role role)
{
	int r = -EAGAIN;

	switch (role) {
	case TRIES:
		r = ipcwait_sem_trywait(sem);
		break;
	case WAITS_UNTIL:
		r = ipcwait_sem_wait_until(sem, model_now() + SOON_NS);
		break;
	default:
		do
			r = ipcwait_sem_wait(sem);
		while (r == -EINTR && role == WAITS_OFTEN);
	}
	taken += r == 0;
	return r;
}

static void post(struct ipcwait_sem *s, uint32_t n)
{
	begun += n;
	model_assert(ipcwait_sem_post_n(s, n) == 0);
	posted += n;
}

static void hand_over(unsigned i)
{
	if (i == 0) {
		shared->data++;
		post(sem, 1);
		model_assert(ipcwait_sem_wait(other) == 0);
	} else {
		model_assert(ipcwait_sem_wait(sem) == 0);
		shared->data++;
		model_assert(ipcwait_sem_post(other) == 0);
		taken++;
	}
}

static void act(unsigned i, enum role role)
{
	int r;

	switch (role) {
	case POSTS:
	case POSTS_TWO:
		post(sem, role == POSTS ? 1 : 2);
		break;
	case LOCKS:
		model_assert(take(WAITS) == 0);
		shared->data++;
		post(sem, 1);
		break;
	case HANDS_OVER:
		hand_over(i);
		break;
	case WAITS_UNTIL:
		r = take(role);
		model_assert(r == 0 || r == -ETIMEDOUT || r == -EINTR);
		break;
	case TRIES:
		r = take(role);
		model_assert(r == 0 || r == -EAGAIN);
		break;
	default:
		r = take(role);
		model_assert(r == 0 || (r == -EINTR && role != WAITS_OFTEN));
	}
}

static void thread(unsigned i)
{
	const struct script *s = script();
	bool last = waits(s->role[i]) || s->posters_stay;

	for (unsigned n = 0; n < (s->rounds ? s->rounds : 1); n++)
		act(i, s->role[i]);
	if (s->role[i] == FINISHES)
		model_assert(ipcwait_sem_fini(sem) == 0);
	if (last)
		leave();
}

/* A handler may post wherever the thread was. */
static void handler(unsigned i)
{
	(void)i;
	post(sem, 1);
}

static void look(void)
{
	uint64_t w;

	if (gone)
		return;
	w = model_peek(&sem->word);
	model_assert(word_wakes(w) <= word_sleepers(w));
	model_assert(!(w & WORD_SPINNER) || !word_value(w));
	model_assert(word_value(w) + taken <= begun);
}

/* Whoever sleeps, with or without a deadline, sleeps for want of tokens. */
static void at_rest(void)
{
	model_assert(gone || word_value(model_peek(&sem->word)) == 0);
}

/*
 * A process may have died. What <ipcwait/sem.h> promises then: a post that finds the wakes
 * under way stale reaches a sleeper; after the death of a spinner it may take a second one.
 */
static void rescue(void)
{
	unsigned asleep = model_sleepers();

	for (unsigned n = 0; n < RESCUES_MOST && model_sleepers() == asleep; n++) {
		model_elapse(STALE_NS);
		post(sem, 1);
	}
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

/* Every token is somewhere. The dead may have posted or taken one without having said so. */
static void end(void)
{
	uint64_t w = gone ? final : model_peek(&sem->word);
	unsigned known = word_value(w) + taken;

	model_assert(known <= begun);
	model_assert(known + deaths() >= posted);
	if (!deaths() && !(uint32_t)script()->word)
		model_assert((w & ~WORD(~0u, 0, 0)) == script()->left);
	if (!deaths())
		model_assert(word_sleepers(w) == word_sleepers(script()->left));
	if (!gone)
		free_all();
}

#define PLAIN  .begin = begin, .thread = thread, .end = end, .always = look
#define COMMON PLAIN, .at_rest = at_rest
#define SCRIPT .script = &(const struct script)

const struct model_scenario model_scenarios[] = {
	{ .name = "sem: a token for a waiter",
	  .threads = 2,
	  COMMON,
	  .about = "the waiter frees the semaphore while the poster is still inside",
	  SCRIPT{ .role = { WAITS, POSTS }, .spins = ENGINE_EITHER },
	  .search = { .bound = 4,
		      .weak_bound = 3,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 20000 } },
	{ .name = "sem: two waiters, two posters",
	  .threads = 4,
	  COMMON,
	  .about = "every token reaches somebody",
	  SCRIPT{ .role = { WAITS, WAITS, POSTS, POSTS } },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: two waiters, post two",
	  .threads = 3,
	  COMMON,
	  .about = "one call wakes both",
	  SCRIPT{ .role = { WAITS, WAITS, POSTS_TWO }, .spins = ENGINE_EITHER },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: spinner beside a sleeper",
	  .threads = 4,
	  COMMON,
	  .about = "a post leaves one token for the spinner, and no more",
	  SCRIPT{ .role = { WAITS, WAITS, POSTS, POSTS }, .spins = ENGINE_EITHER },
	  .search = { .bound = 1, .pct_depth = 5, .pct_runs = 100000 } },
	{ .name = "sem: overtaken",
	  .threads = 4,
	  COMMON,
	  .about = "a thread that does not wait takes the token of one that was woken",
	  SCRIPT{ .role = { WAITS, TRIES, POSTS, POSTS }, .posters_stay = true },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: deadline",
	  .threads = 2,
	  COMMON,
	  .about = "a wait that gives up has taken nothing",
	  SCRIPT{ .role = { WAITS_UNTIL, POSTS },
		  .spins = ENGINE_EITHER,
		  .posters_stay = true },
	  .search = { .bound = 4,
		      .weak_bound = 3,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 20000 } },
	{ .name = "sem: deadline beside a waiter",
	  .threads = 3,
	  COMMON,
	  .about = "a wake that meets a deadline is not lost to the other waiter",
	  SCRIPT{ .role = { WAITS_UNTIL, WAITS, POSTS_TWO }, .posters_stay = true },
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: deadlines, single posts",
	  .threads = 4,
	  COMMON,
	  .about = "tokens are conserved whoever gives up",
	  SCRIPT{ .role = { WAITS_UNTIL, WAITS_UNTIL, POSTS, POSTS },
		  .posters_stay = true },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 5,
		      .pct_runs = 100000 } },
	{ .name = "sem: signal during a wait",
	  .threads = 3,
	  COMMON,
	  .about = "-EINTR has taken nothing; the wake goes to the other",
	  SCRIPT{ .role = { WAITS_OFTEN, WAITS_OFTEN, POSTS_TWO } },
	  .faults = { .signals = 2 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: a handler posts",
	  .threads = 2,
	  COMMON,
	  .handler = handler,
	  .about = "anywhere in a wait or a post of the same semaphore",
	  SCRIPT{ .role = { WAITS_OFTEN, POSTS },
		  .spins = ENGINE_EITHER,
		  .end_frees = true },
	  .faults = { .signals = 2 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: spurious returns",
	  .threads = 3,
	  COMMON,
	  .about = "a return of the kernel's means nothing",
	  SCRIPT{ .role = { WAITS, WAITS, POSTS_TWO } },
	  .faults = { .spurious = 2 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: sleeps on a timer",
	  .threads = 3,
	  COMMON,
	  .about = "a waiter withdraws, looks on and sleeps again",
	  SCRIPT{ .role = { WAITS, WAITS, POSTS_TWO }, .spins = ENGINE_SPINS },
	  .faults = { .timers = 2 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 60000 } },
	{ .name = "sem: stale wakes",
	  .threads = 4,
	  COMMON,
	  .about = "time passes between wake and waiter; wakes are doubted, none is missed",
	  SCRIPT{ .role = { WAITS, WAITS, POSTS, POSTS } },
	  .faults = { .jumps = 2 },
	  .search = { .bound = 1, .weak_bound = 1, .pct_depth = 4, .pct_runs = 60000 } },
	{ .name = "sem: lock",
	  .threads = 3,
	  COMMON,
	  .about = "one token: what it guards is ordered, and used by one at a time",
	  SCRIPT{ .role = { LOCKS, LOCKS, LOCKS }, .word = WORD(1, 0, 0) },
	  .search = { .bound = 2,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: hand-over",
	  .threads = 2,
	  COMMON,
	  .about = "data goes to and fro between two semaphores",
	  SCRIPT{ .role = { HANDS_OVER, HANDS_OVER }, .rounds = 2, .spins = ENGINE_EITHER },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: private",
	  .threads = 3,
	  COMMON,
	  .about = "the private futex: waiter and waker agree on it",
	  SCRIPT{ .role = { WAITS, WAITS, POSTS_TWO }, .flags = IPCWAIT_PRIVATE },
	  .search = { .bound = 2, .pct_depth = 4, .pct_runs = 20000 } },
	{ .name = "sem: more waiters than fit",
	  .threads = 3,
	  PLAIN,
	  .about = "no room for another sleeper: a nap, and no wake is swallowed by it",
	  SCRIPT{ .role = { WAITS, WAITS, POSTS_TWO },
		  .word = WORD(0, 0, 0xfffe),
		  .left = 0xfffe },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "sem: ended by the last waiter",
	  .threads = 2,
	  COMMON,
	  .about = "nothing is left in the word; ipcwait_sem_fini() says so",
	  SCRIPT{ .role = { FINISHES, POSTS }, .spins = ENGINE_EITHER, .left = 0xffffffff },
	  .search = { .bound = 4,
		      .weak_bound = 3,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 20000 } },
	{ .name = "sem: killed waiter",
	  .threads = 3,
	  PLAIN,
	  .at_rest = rescue,
	  .process = { 0, 1, 1 },
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .about = "a process dies at any moment; posts reach the living",
	  SCRIPT{ .role = { WAITS, WAITS, POSTS },
		  .spins = ENGINE_EITHER,
		  .end_frees = true },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 60000 } },
	{ .name = "sem: killed poster",
	  .threads = 4,
	  PLAIN,
	  .at_rest = rescue,
	  .process = { 0, 1, 1, 1 },
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .about = "also between the token and its wake",
	  SCRIPT{ .role = { POSTS_TWO, WAITS, WAITS, POSTS }, .end_frees = true },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 60000 } },
	{ 0 },
};
