/* SPDX-License-Identifier: MIT */
/*
 * An accident in the middle of a call: a process, the victim, is killed at some instruction of
 * it, or a signal handler runs there. A scene says what is called and who else takes part; the
 * stage performs it once, in fresh memory and with fresh processes.
 *
 * A primitive has its calls in a table of scenes (sem_scenes.c), and says what may come of an
 * accident in them (sem_judge.c). step_test.c, which lists the primitives, performs each scene
 * as many times as its call has instructions, with every accident (accidents.c).
 */
#ifndef TESTS_IPC_STAGE_H
#define TESTS_IPC_STAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "region.h"
#include "trace.h"

#define STAGE_OTHERS 5

/* So that a wait is a long one for the library, whether its thread was stepped or not. */
#define STAGE_LONG_NS 100000

/* How the others find out that a process is dead: somebody posts, or somebody looks. */
enum heal { HEAL_BY_POST, HEAL_BY_LOOK };

/*
 * For how long a wait with a deadline lasts whose sleeps have alarms: beyond the first and not
 * many, so that one that is stepped goes the same way as one that is not. Such scenes are rare.
 */
#define STAGE_PATIENCE_NS 20000000

struct stage;

/* One call, in one state of its object. A primitive's rows say more about it. */
struct scene {
	const char *name;

	/* The call, in the victim: this function is what is gone through by instructions. */
	void (*act)(struct region *r);

	/* What the victim has done before, unseen. Or NULL. */
	void (*before)(struct region *r);

	/* It may sleep. */
	bool sleeps;

	/* It makes no system call, unless the victim is too slow for what the scene shows. */
	bool silent;

	/* A wake ends its sleeps, and a timer only because somebody steps through it. */
	bool patient;

	/* It asks the kernel whether a thread or a process is alive, or for memory. */
	bool asks;

	/* So many system calls are made before it comes to what the scene shows. */
	unsigned skip;

	/* In a short run, so many times fewer instructions than the accident wants. 0: 1. */
	unsigned rare;

	/* What others do between two instructions, which are then all stepped. Or NULL. */
	void (*between)(struct stage *st);
};

/* What is to be known of a primitive. */
struct suspect {
	const char *name;

	/* In a short run, so many times fewer handlers run in its calls. 0: 1. */
	unsigned calm;

	/* Its scenes; NULL after the last. */
	const struct scene *(*scene)(unsigned i);

	/* Set the object up, and seat those beside the victim. */
	void (*prepare)(struct stage *st);

	/* Seat those who come when the victim is about to make its call. Or NULL. */
	void (*gather)(struct stage *st);

	/* What others do when the victim sleeps; called again while it does. */
	void (*meanwhile)(struct stage *st);

	/* A call on the same object that is allowed in the victim's signal handler. */
	void (*interfere)(struct region *r);

	/* The victim is about to die: note what it has. Or NULL. */
	void (*witness)(struct stage *st);

	/* The victim is dead: what it has left is what may be left, and the others go on.
	 * Returns what it was, in a few words. */
	const char *(*mourn)(struct stage *st, enum heal heal);

	/* The victim is stopped: the others do what nobody needs it for. Or NULL. */
	void (*detour)(struct stage *st);

	/* The victim has returned, and its handler has run: all is in order. */
	void (*audit)(struct stage *st);
};

struct stage {
	struct region *r;
	const struct suspect *suspect;
	const struct scene *scene;
	pid_t victim;
	bool ended; /* it has returned and gone */
	pid_t other[STAGE_OTHERS];
	unsigned others;
	bool held; /* the first of them has been woken, and is stopped there */

	bool thorough; /* nothing is left out for its length */

	/* The moment of the accident. */
	bool hurried;      /* the victim is neither stepped there nor asleep */
	bool asleep;       /* it sleeps */
	bool wake_pending; /* it has not yet made its last call to futex(2) */

	/* The scene's accounts. */
	uint64_t before;        /* the object's state before the call */
	unsigned posted, taken; /* by the tracer */
	unsigned served;        /* of the others */
	unsigned slept;         /* times that the victim was found asleep */
	bool between_over;      /* scene->between has done what it had to do */
	int change;             /* what the dead victim has added, or taken if negative */
};

/* Once, before the first stage: what the library learns once a process is known from now on. */
void stage_build(bool on_highest_cpu);

/* All is as st->scene wants it, and the victim about to begin. Its handler may be NULL, and may
 * be of the kind after which the kernel restarts a system call. */
void stage_open(struct stage *st, void (*handler)(int signal), bool restarts);

/* Take part: a process that sleeps, which is seen to. */
void stage_seat(struct stage *st, void (*body)(struct region *r));

/* The same, traced, so that it stops when it is woken. */
void stage_seat_traced(struct stage *st, void (*body)(struct region *r));

/* The first of the others, traced, has been woken: it stays there, or goes on. */
void stage_hold(struct stage *st);
void stage_release(struct stage *st);

/* How many of the others are still asleep, once nobody is on the way any more. */
unsigned stage_asleep(struct stage *st);

/*
 * Not more than @asleep of the others sleep on, of those who sleep on @futex: a dead waker has not
 * told the rest, and they find out by their alarms. Those are a second and more, so most of the
 * time the tracer wakes them; a thorough run waits each time.
 */
void stage_await_home(struct stage *st, unsigned asleep, struct ipcwait_word64 *futex);

/*
 * A call of the tracer's, in another thread of its: what the library keeps for a thread is not
 * to differ from one victim to the next, and each inherits it from the thread that forks.
 */
void stage_call(struct stage *st, void (*call)(struct stage *st));

/* Let the victim go on, while others do what they do. */
enum stage_go {
	STAGE_STEP, /* by one instruction */
	STAGE_CALL, /* to where it enters or leaves a system call */
	STAGE_GO_ON,
	STAGE_GO_ON_WITH_SIGNAL,
};
enum traced stage_resume(struct stage *st, enum stage_go how);

/* The victim goes on until it sleeps, and is left so. */
enum traced stage_sleep(struct stage *st);

/* It is stopped where it is, as by SIGSTOP, and not traced any more; it goes on to its end. */
void stage_stop(struct stage *st);
void stage_continue(struct stage *st);

/* Let this time pass, in ns. */
void stage_let_pass(long ns);

/* True if the call is over. */
bool stage_over(const struct stage *st);

/* Everybody has gone home, and nobody was unwell. */
void stage_close(struct stage *st);

/* The primitives. */
extern const struct suspect sem_suspect, futex_suspect, robust_suspect, channel_suspect,
	rwlock_suspect, barrier_suspect, latch_suspect, once_suspect, event_suspect,
	eventcount_suspect, cond_suspect;

/* The memory and the primitive, for the victim's handler. */
extern struct region *stage_region;
extern const struct suspect *stage_suspect;

#endif
