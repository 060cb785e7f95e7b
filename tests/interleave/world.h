/* SPDX-License-Identifier: MIT */
/* An execution under way, as the files of the scheduler share it. */
#ifndef TESTS_INTERLEAVE_WORLD_H
#define TESTS_INTERLEAVE_WORLD_H

#include <setjmp.h>

#include "interleave/sched.h"
#include "interleave/search.h"
#include "os/thread.h"

#define NOBODY (MODEL_THREADS_MAX + 1)

enum state { READY, ASLEEP, ENDED, KILLED };

/* What search_pick() chooses from: to run a thread, or what happens to one. */
enum event { RUN, SPURIOUS, INTERRUPT, EXPIRE, CANCEL, KILL, FLUSH };

struct thread {
	enum state state;
	bool in_handler;
	bool cancelled;
	bool interrupted;   /* a handler is to run before its sleep returns */
	bool yields;        /* whoever is next does not preempt it */
	bool pauses;        /* others first, ... */
	unsigned paused_at; /* ... until there was a change after this one */
	struct model_word words[MODEL_WORDS_MAX]; /* on which it sleeps */
	unsigned several; /* how many, if it may be woken on others until it runs again */
	unsigned queued;  /* mask of those on which nobody has woken it */
	int woken;        /* the last of those on which somebody has, -1: none */
	uint32_t bits;    /* of wakes that reach it */
	int64_t deadline_ns;
	int result;
	struct view view;
	struct iw_thread own; /* the library's data for it, while it does not run */
	const void *place;    /* in the code, for a trace */
	jmp_buf here, top;
};

struct world {
	struct run_params run;
	const struct model_scenario *scenario;
	struct model_faults left;
	struct outcome outcome;
	struct thread threads[MODEL_THREADS_MAX];
	struct view host_view;
	unsigned current;
	unsigned preemptions, changes, early_expiries;
	int64_t now_ns, counter_behind_ns;
	bool observing; /* always() looks: nothing is noted */
	jmp_buf out;    /* of the execution */
};

extern struct world world;

/* coroutine.c: go on in thread @next, or leave the execution if that is NOBODY. */
void coroutine_enter(unsigned next);

/* event.c: what may happen now, what does, and what the kernel does to those who sleep. */
unsigned event_list(struct option *o);
void event_happen(struct option event);
void thread_wake_up(struct thread *t, int result);
void thread_expire(struct thread *t);
unsigned thread_count(enum state state);
void process_kill(unsigned process);

/* futex.c: mask of its words by which a wake on @word may reach the thread. */
unsigned thread_queued_on(const struct thread *t, const uint32_t *word);

/* sched.c: the current thread waits for its turn, is over, runs its handler, is looked at. */
void sched_give_way(void);
_Noreturn void sched_end_thread(void);
void sched_run_handler(struct thread *t);
void sched_look(void);

#endif
