/* SPDX-License-Identifier: MIT */
/*
 * Programs of users under ThreadSanitizer, with the library as it is shipped. Each scene uses one
 * object as its header says, with waits that last, and says nothing; or it touches the data once
 * without, and that is found. What orders threads here besides the object is relaxed, which means
 * nothing to the sanitizer.
 */
#ifndef TESTS_SANITIZER_USERS_H
#define TESTS_SANITIZER_USERS_H

#include <stdbool.h>
#include <stddef.h>

struct scene {
	const char *name;
	void (*run)(void);
};

/* Of the tables below the last has no name. */
extern const struct scene lock_scenes[], gate_scenes[], event_scenes[], queue_scenes[],
	channel_scenes[];

/* Whether this run has the mistake. */
extern bool wrong;

/* Ends the program, as a failure that is none of the sanitizer's. */
_Noreturn void fail(const char *what);

void pause_us(unsigned us);

/* Nothing was seen of what came before, but that it was. */
void say(int *flag);
void await(int *flag);

/* Each thread gets its number, from 0 on. */
#define THREADS_MOST 4
void run_threads(unsigned n, void (*body)(unsigned me));

/*
 * One thread writes something and gives, the other takes and reads, ROUNDS times; each in turn is
 * late. The mistake: the other reads the first before it takes.
 */
#define ROUNDS 60
void hand_over(void (*give)(unsigned round), void (*take)(unsigned round));

/* The same where the giver writes nothing: fill() does it, whenever it is called. */
void fill(unsigned round);

#endif
