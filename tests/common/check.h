/* SPDX-License-Identifier: MIT */
/*
 * Checks that work in any thread, in signal handlers and in child processes, where those of
 * CMocka do not: a failed one prints where it stands and ends the process.
 */
#ifndef TESTS_COMMON_CHECK_H
#define TESTS_COMMON_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CHECK(condition) \
	((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

/* Both sides as integers, printed when they differ. */
#define CHECK_EQ(is, want) \
	check_equal(__FILE__, __LINE__, #is, (long long)(is), (long long)(want))

/*
 * The thread sanitizer holds a signal back until the next library call that it knows, and
 * futex(2) is none: a handler that runs inside a wait cannot be tested with it.
 */
#ifdef __has_feature
#define CHECK_DEFERS_SIGNALS __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define CHECK_DEFERS_SIGNALS 1
#else
#define CHECK_DEFERS_SIGNALS 0
#endif

/*
 * AddressSanitizer has locks, of its allocator and of its list of threads, that fork(2) does not
 * wait for. If another thread of the parent starts, ends or allocates during the fork, a child that
 * allocates or makes a thread can wait for such a lock for ever. So the parent waits until its
 * threads do none of that, or the child does none of it where this is 0. Under the thread sanitizer
 * the child may make no thread.
 */
#ifdef __has_feature
#define CHECK_CHILD_MAY_ALLOCATE \
	(!CHECK_DEFERS_SIGNALS && !__has_feature(address_sanitizer))
#elif defined(__SANITIZE_ADDRESS__)
#define CHECK_CHILD_MAY_ALLOCATE 0
#else
#define CHECK_CHILD_MAY_ALLOCATE (!CHECK_DEFERS_SIGNALS)
#endif

__attribute__((noreturn)) void check_failed(const char *file, int line, const char *what);
void check_equal(const char *file, int line, const char *what, long long is,
		 long long want);

/*
 * End the process with a message after five times @seconds, because a test may be stopped for most
 * of the time. Another call starts the watch again; 0 ends it.
 */
void check_watchdog(unsigned seconds);

/* What the watchdog prints besides; may use nothing that is not async-signal-safe. */
extern void (*check_watchdog_report)(void);

/* Begin the program again unless the variable has this value, which some read when it begins. */
void check_environment(char **argv, const char *name, const char *value);

/*
 * Run @body in a child process, for tests of what a process does only once. Returns 0 if
 * the body returned, else its wait status.
 */
int check_in_child(void (*body)(void));

/* Wait for a child. Returns its wait status. */
int check_reap(pid_t child);

/* Look every few microseconds until @condition holds; false if it does not within 100 s. */
bool check_eventually(bool (*condition)(void *arg), void *arg);

/* The seed of this run: IW_TEST_SEED in the environment or a new one; printed. */
uint64_t check_seed(void);

/* The next number of a generator. */
uint64_t check_random(uint64_t *state);

#endif
