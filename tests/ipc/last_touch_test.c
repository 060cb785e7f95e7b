/* SPDX-License-Identifier: MIT */
/*
 * The last touch: the memory of an object vanishes right after the instruction that lets
 * somebody else go on, who may have freed it. Whoever touches it once more dies of it.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"
#include "region.h"
#include "trace.h"

/* More instructions than any of these paths has, also in a debug build. */
#define STEPS_MAX 20000

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
	(void)r;
	trace_me();
	CHECK_EQ(ipcwait_sem_post(vanishing), 0);
}

/* Step until the token is there, then take the memory away and let the poster run on. */
static void vanish_after_the_post(uint64_t word, unsigned flags)
{
	struct region *r = region_create();
	unsigned steps = 0;
	pid_t poster;

	create_vanishing(word, flags);
	poster = region_fork(r, post_to_vanishing);
	trace_begin(poster);
	while (ipcwait_sem_value(vanishing) == 0) {
		trace_step(poster);
		CHECK_EQ(trace_await(poster, false), TRACED_STOPPED);
		CHECK(steps++ < STEPS_MAX);
	}
	CHECK(ftruncate(vanishing_fd, 0) == 0);
	trace_end(poster, 0);
	region_join(poster);
	CHECK(munmap(vanishing, 4096) == 0);
	CHECK(close(vanishing_fd) == 0);
	region_destroy(r);
}

static void sem_post_touches_last(void)
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
		CHILD_TEST(sem_post_touches_last),
	};

	if (!trace_possible()) {
		puts("skipped: no ptrace(2) of children, or no breakpoints");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
