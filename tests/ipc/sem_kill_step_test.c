/* SPDX-License-Identifier: MIT */
/*
 * Death at every instruction: a process is single-stepped through a post or a wait, and killed
 * on the way. What it leaves behind depends on what it has written to the semaphore, so it is
 * killed right after each change of it, and some instructions later. Each time another process
 * sleeps on the same semaphore, and has to get a token in the end.
 *
 * And the last touch: the memory of the semaphore vanishes right after the instruction that
 * makes the token visible. A poster that touches it once more dies of it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"
#include "common/sleeper.h"
#include "region.h"

/* More instructions and changes than any of these paths has, also in a debug build. */
#define STEPS_MAX   20000
#define CHANGES_MAX 100

/* How long after a change it may die, in instructions. */
#define LINGER_MAX 150

static void take_one(struct region *r)
{
	CHECK_EQ(ipcwait_sem_wait(&r->items), 0);
	CHECK_EQ(ipcwait_sem_post(&r->done), 0);
}

/* All that is done once a process, which takes too many instructions to step through. */
static void warm_up(struct region *r)
{
	struct ipcwait_sem other = IPCWAIT_SEM_INIT(0);

	CHECK_EQ(ipcwait_window_set_preset(&other.window, IPCWAIT_BLOCK), 0);
	CHECK_EQ(ipcwait_sem_wait_until(&other, ipcwait_deadline_in_ns(10000)), -ETIMEDOUT);
	sem_fabricate(&other, WORD(0, 0, 1));
	CHECK_EQ(ipcwait_sem_post(&other), 0);
	CHECK_EQ(ipcwait_sem_wait(&other), 0);
	CHECK_EQ(ipcwait_window_set_preset(&r->items.window, IPCWAIT_BLOCK), 0);
}

/* Stop under the tracer, so that the next instruction is the first one. */
static void begin_trace(void)
{
	CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	CHECK(raise(SIGSTOP) == 0);
}

/* The tracer need not step further. */
static void end_trace(struct region *r)
{
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
}

static void post_once(struct region *r)
{
	warm_up(r);
	begin_trace();
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	end_trace(r);
}

static void wait_once(struct region *r)
{
	warm_up(r);
	begin_trace();
	CHECK_EQ(ipcwait_sem_wait(&r->items), 0);
	end_trace(r);
}

/* The process that is stepped and killed, and the one that sleeps beside it. */
struct cast {
	struct region *r;
	pid_t victim, survivor;
	uint64_t posts;
};

static void start_victim(struct cast *c, void (*body)(struct region *r))
{
	int status;

	c->victim = region_fork(c->r, body);
	CHECK(waitpid(c->victim, &status, 0) == c->victim);
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
}

static void start_survivor(struct cast *c)
{
	unsigned asleep = word_sleepers(sem_word(&c->r->items));

	c->survivor = region_fork(c->r, take_one);
	sleeper_await(&c->r->items, asleep + 1);
}

static void post(struct cast *c)
{
	CHECK_EQ(ipcwait_sem_post(&c->r->items), 0);
	c->posts++;
}

/* One instruction. If it is a system call that blocks, @unblock is called until it returns. */
static void step(struct cast *c, void (*unblock)(struct cast *c))
{
	int status;

	CHECK(ptrace(PTRACE_SINGLESTEP, c->victim, NULL, NULL) == 0);
	for (;;) {
		pid_t changed = waitpid(c->victim, &status, unblock ? WNOHANG : 0);

		if (changed == c->victim)
			break;
		CHECK(changed == 0);
		unblock(c);
	}
	CHECK(WIFSTOPPED(status));
	CHECK_EQ(WSTOPSIG(status), SIGTRAP);
}

/* When the victim dies: after so many changes of the semaphore and instructions. */
struct moment {
	unsigned changes, instructions;
};

/* Step until that moment, then kill. False if the victim got to the end of its trace. */
static bool kill_at(struct cast *c, struct moment when, void (*unblock)(struct cast *c))
{
	unsigned changes = 0, instructions = 0;

	for (unsigned i = 0; i < STEPS_MAX && !c->r->stop; i++) {
		struct ipcwait_sem before = c->r->items;

		if (changes == when.changes && instructions++ == when.instructions)
			break;
		step(c, unblock);
		if (memcmp(&before, &c->r->items, sizeof(before)) != 0 &&
		    changes < when.changes)
			changes++;
	}
	region_kill(c->victim);
	return !c->r->stop;
}

/* Whatever the victim left behind: a post reaches the survivor, and no token too many is there. */
static void end_scene(struct cast *c)
{
	region_let_wakes_go_stale();
	post(c);
	CHECK_EQ(ipcwait_sem_wait_until(&c->r->done,
					ipcwait_deadline_in_ns(INT64_C(20000000000))),
		 0);
	region_join(c->survivor);
	/* The victim's own post, if any; less what the survivor took, and perhaps the victim. */
	CHECK(ipcwait_sem_value(&c->r->items) <= (int)c->posts);
	region_destroy(c->r);
}

static bool kill_poster(struct moment when)
{
	struct cast c = { .r = region_create() };
	bool alive;

	start_survivor(&c);
	start_victim(&c, post_once);
	alive = kill_at(&c, when, NULL);
	end_scene(&c);
	return alive;
}

/*
 * The victim sleeps. Somebody joins it, then comes a post; the kernel wakes the first of the
 * two, as a rule. If not, another post is for the victim.
 */
static void wake_it(struct cast *c)
{
	bool asleep = word_sleepers(sem_word(&c->r->items)) > 0;

	if (asleep && !c->survivor)
		start_survivor(c);
	else if (asleep &&
		 (c->posts == 0 || (c->posts == 1 && ipcwait_sem_value(&c->r->done))))
		post(c);
}

static bool kill_waiter(struct moment when)
{
	struct cast c = { .r = region_create() };
	bool alive;

	start_victim(&c, wait_once);
	alive = kill_at(&c, when, wake_it);
	if (!c.survivor)
		start_survivor(&c);
	end_scene(&c);
	return alive;
}

/* Returns how many changes the victim makes. */
static unsigned kill_after_every_change(bool (*kill_one)(struct moment when))
{
	uint64_t seed = check_seed();
	unsigned changes = 0, kills = 0;

	while (changes < CHANGES_MAX && kill_one((struct moment){ changes, 0 })) {
		for (int i = 0; i < 8; i++)
			(void)kill_one((struct moment){ changes,
							check_random(&seed) % LINGER_MAX });
		changes++;
		kills += 9;
	}
	print_message("%u changes, %u kills\n", changes, kills);
	return changes;
}

/* The stamp, whose waker, tokens and wakes: four words, of which two are one atomic. */
static void poster_killed(void)
{
	unsigned changes = kill_after_every_change(kill_poster);

	CHECK(changes >= 2 && changes < CHANGES_MAX);
}

/* Announce, be woken, take, learn. */
static void waiter_killed(void)
{
	unsigned changes = kill_after_every_change(kill_waiter);

	CHECK(changes >= 2 && changes < CHANGES_MAX);
}

/* A semaphore alone in a file, so that the file can be cut off under it. */
static struct ipcwait_sem *vanishing;
static int vanishing_fd;

static void create_vanishing(uint64_t word, unsigned flags)
{
	vanishing_fd = memfd_create("iw-vanishing", MFD_CLOEXEC);
	CHECK(vanishing_fd >= 0);
	CHECK(ftruncate(vanishing_fd, 4096) == 0);
	vanishing = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, vanishing_fd, 0);
	CHECK(vanishing != MAP_FAILED);
	CHECK_EQ(ipcwait_sem_init(vanishing, 0, flags), 0);
	/* Wakes in the word are under way, not stale. */
	ipcwait_window_stamp(&vanishing->window);
	sem_fabricate(vanishing, word);
}

static void post_to_vanishing(struct region *r)
{
	warm_up(r);
	begin_trace();
	CHECK_EQ(ipcwait_sem_post(vanishing), 0);
}

/* Step until the token is there, then take the memory away and let the poster run on. */
static void vanish_after_the_post(uint64_t word, unsigned flags)
{
	struct cast c = { .r = region_create() };
	unsigned steps = 0;

	create_vanishing(word, flags);
	start_victim(&c, post_to_vanishing);
	while (ipcwait_sem_value(vanishing) == 0) {
		step(&c, NULL);
		CHECK(steps++ < STEPS_MAX);
	}
	CHECK(ftruncate(vanishing_fd, 0) == 0);
	CHECK(ptrace(PTRACE_CONT, c.victim, NULL, NULL) == 0);
	region_join(c.victim);
	CHECK(munmap(vanishing, 4096) == 0);
	CHECK(close(vanishing_fd) == 0);
	region_destroy(c.r);
}

static void last_touch(void)
{
	static const uint64_t words[] = {
		WORD(0, 0, 0),
		WORD(0, 0, 1),
		WORD(0, 1, 2),
		WORD_SPINNER | WORD(0, 0, 1),
		WORD_SPINNER | WORD(0, 0, 0),
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		vanish_after_the_post(words[i], 0);
		vanish_after_the_post(words[i], IPCWAIT_PRIVATE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(poster_killed),
		CHILD_TEST(waiter_killed),
		CHILD_TEST(last_touch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
