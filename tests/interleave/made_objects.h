/* SPDX-License-Identifier: MIT */
/* Queues and channels of the shipped sources, in memory that the checker watches. */
#ifndef TESTS_INTERLEAVE_MADE_OBJECTS_H
#define TESTS_INTERLEAVE_MADE_OBJECTS_H

#include <ipcwait/channel.h>
#include <ipcwait/eventcount.h>
#include <ipcwait/queue.h>

struct made_elem {
	uint64_t word[2];
};

struct ipcwait_queue *made_queue(unsigned flags);

/* Where its poppers wait. */
struct ipcwait_eventcount *made_queue_line(struct ipcwait_queue *q);

/* 0: one without a buffer. */
struct ipcwait_channel *made_channel(uint64_t capacity);

/* One between processes, or what the calling thread has of it. Participants are threads. */
void made_shared_begin(uint64_t capacity);
struct ipcwait_channel *made_shared(void);
void made_shared_end(void);

/* Process 0, which has participant 0 alone; then what it had in hand is taken from it. */
void made_shared_died(unsigned process);
void made_shared_bury(void);

/* What waits of channels have on stacks, where others look into it: before all threads, after. */
void made_desks_begin(void);
void made_desks_end(void);

#endif
