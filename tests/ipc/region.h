/* SPDX-License-Identifier: MIT */
/* Memory that several processes map, each at another address, and processes that use it. */
#ifndef TESTS_IPC_REGION_H
#define TESTS_IPC_REGION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <ipcwait/ipcwait.h>

#define REGION_RING  64
#define REGION_SEMS  2
#define REGION_SLOTS 10

/* Numbers of elements, and elements that one call moves. */
#define REGION_NUMBERS 128
#define REGION_BULK    3

/* What a worker is about to do, for those who find it dead. */
struct intent {
	uint32_t step;     /* 0: nothing */
	uint32_t from, to; /* semaphores */
	bool forever;      /* it waits without a deadline */
	uint64_t done;
} __attribute__((aligned(64)));

/* Two numbers that are the same, and nobody inside, while nobody owns the mutex. */
struct guarded {
	uint64_t begun, done;
	uint32_t inside;
};

/* What a channel carries: it takes some instructions to copy, and all words are known. */
struct element {
	uint64_t number, twice, inverse;
};

/* Fresh memory is all zero, and so are the semaphores in it: nobody initialises them. */
struct region {
	struct ipcwait_region header;
	struct ipcwait_sem items, space, done;
	uint64_t ring[REGION_RING];
	uint64_t taken, interrupted; /* counted by children */
	int64_t deadline_ns;
	int result;
	uint32_t stop;

	/* A bare futex, and what is known about waits on it. */
	uint32_t word;
	struct ipcwait_window window;

	/* A mutex, and what it protects. */
	struct ipcwait_mutex mutex;
	struct guarded guarded;

	/* Elements of a channel: the victim's, and how often each was sent and received. */
	struct element element[REGION_BULK];
	uint32_t sent[REGION_NUMBERS], seen[REGION_NUMBERS];

	/* Of a stage: how long a wait with a deadline lasts, and what a handler has done. */
	int64_t patience_ns;
	unsigned handler_posted, handler_taken, handler_woke;

	/* One of each other kind; whoever is inside what is to be done once, who has died, or is
	 * about to, and how often it was done. */
	struct ipcwait_rwlock rwlock;
	struct ipcwait_barrier barrier;
	struct ipcwait_latch latch;
	struct ipcwait_once once;
	struct ipcwait_event event;
	struct ipcwait_eventcount eventcount;
	struct ipcwait_cond cond;
	uint32_t inside, doomed[2], completed;

	/* Of a storm. */
	struct ipcwait_sem sem[REGION_SEMS];
	struct intent intent[REGION_SLOTS];
};

/* Create it and map it here. */
struct region *region_create(void);

/* Give it up. */
void region_destroy(struct region *r);

/*
 * Run @body in a child that has mapped the region at an address of its own, and nowhere
 * else. The child dies with its parent.
 */
pid_t region_fork(struct region *r, void (*body)(struct region *r));

/* The child has ended well. */
void region_join(pid_t child);

/* Kill it, asleep or not, and see that this is what it died of. */
void region_kill(pid_t child);

/* The owner of the mutex begins with what is guarded, and ends. It must be in order. */
void guarded_begin(struct guarded *g);
void guarded_end(struct guarded *g);

/* An owner has died, who knows where: put it in order. True if it was not. */
bool guarded_repair(struct guarded *g);

/* Pass the time after which a post no longer trusts that wakes under way arrive. */
void region_let_wakes_go_stale(void);

#endif
