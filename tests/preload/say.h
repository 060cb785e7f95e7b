/* SPDX-License-Identifier: MIT */
/*
 * What the programs of this folder say: a line for each result, the same in every run and whatever
 * stands in front of the C library. Where POSIX or the C library defines a result, another one
 * fails the program.
 */
#ifndef TESTS_PRELOAD_SAY_H
#define TESTS_PRELOAD_SAY_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A deadline that no run reaches, also if the process is stopped for seconds. */
#define FAR_MS 120000L

/* A program that has not ended after WATCHDOG_S says so and ends. */
void say_begin(void);

/* Whether what was expected came: the exit status of main(). */
int say_end(void);

/* Errors by their names, 0 as "ok". */
void say(const char *name, int error);
void expect(const char *name, int error, int want);

void say_number(const char *name, long number);
void expect_number(const char *name, long number, long want);

/* Says "yes" if there are @least or more, else how many: for what is up to the scheduler. */
void expect_least(const char *name, long number, long least);
void expect_true(const char *name, bool condition);

/* Ends the process where a test cannot go on. */
#define NEEDS(condition) ((condition) ? (void)0 : say_stuck(__FILE__, __LINE__, #condition))
void say_stuck(const char *file, int line, const char *what) __attribute__((noreturn));

/* Of calls that answer -1 and set errno. */
static inline int error_of(long result)
{
	return result == -1 ? errno : 0;
}

/* A mutex of this type, with what pthread_mutexattr_set...() take for 0 or more. */
void make_mutex_of(pthread_mutex_t *m, int type, int shared, int robust, int protocol);

/* What is done between a thread's word that it will wait and a look whether it does. */
void pass_ms(long ms);
void pass_us(long us);

/* The same, computing: a sleep of some us is longer than a spin. */
void spend_us(long us);

int64_t clock_ns(clockid_t clock);
struct timespec in_ms(clockid_t clock, long ms);

/* Look every 100 us until @condition holds. False if it does not within EVENTUALLY_NS. */
bool eventually(bool (*condition)(void *arg), void *arg);
bool becomes(const int *value, int want);

/* Words that threads tell each other. */
static inline void set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline int get(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline int add(int *word, int value)
{
	return __atomic_add_fetch(word, value, __ATOMIC_SEQ_CST);
}

pthread_t begin_thread(void *(*body)(void *arg), void *arg);
/* What the thread returned. A thread that does not end within JOIN_S ends the process. */
void *end_thread(pthread_t thread);

/*
 * Return as soon as a thread that is about to wait waits: it sleeps, or it has computed for
 * SETTLED_NS since. With @done, return as well once that word is not 0. Time that passes proves
 * nothing: the thread may not have run meanwhile.
 */
void settle(pthread_t thread, const int *done);

/*
 * The same without a pause, as soon as it has computed for BRIEFLY_NS: a spin goes on then, as a
 * rule. A thread that was slow may not wait yet.
 */
void settle_briefly(pthread_t thread);

/*
 * @wait expires after 20 ms by @clock: each time with ETIMEDOUT and not before its time, and once
 * within 80 ms. A machine may be slow, so that up to LATE_MOST waits may take longer before that.
 */
void expect_expires(const char *name, clockid_t clock,
		    int (*wait)(void *arg, clockid_t clock, const struct timespec *at),
		    void *arg);

/* Runs @body in a child process and says how it ended. */
pid_t begin_child(void (*body)(void *arg), void *arg);
void expect_child(const char *name, pid_t child, int status);

/* Memory that children share, zeroed. */
void *shared_memory(size_t size);

/* A handler without SA_RESTART, or with it. */
void handle(int signal, void (*handler)(int signal), int flags);

#ifdef __cplusplus
}
#endif

#endif
