/* SPDX-License-Identifier: MIT */
/*
 * What the table in <ipcwait/rwlock.h> says of a reader-writer lock, in numbers that are wide
 * enough for whatever comes of it.
 */
#ifndef TESTS_COMMON_RWLOCK_MODEL_H
#define TESTS_COMMON_RWLOCK_MODEL_H

#include <errno.h>
#include <limits.h>

#include "common/edges.h"
#include "common/rwlock_word.h"

#define SLEEPERS 16383
#define READERS  IPCWAIT_RWLOCK_READERS_MAX

/* Classes of wakes. */
#define READER  1u
#define WRITER  2u
#define OVERDUE 4u
#define ALL     7u

/* The table's columns. */
struct model {
	int64_t writer, readers, turn, wake, wsleepers, rsleepers;
	int64_t epoch, timed, urgent, spinner;
};

static inline uint64_t pack(struct model m)
{
	SAME(m.readers >= 0 && m.readers <= READERS, true);
	SAME(m.wsleepers >= 0 && m.wsleepers <= SLEEPERS, true);
	SAME(m.rsleepers >= 0 && m.rsleepers <= SLEEPERS, true);
	SAME(m.epoch >= 0 && m.epoch < 4, true);
	return WORD(m.readers, m.wsleepers, m.rsleepers) | (m.writer ? WORD_WRITER : 0) |
	       (m.turn ? WORD_TURN : 0) | (m.wake ? WORD_WAKE : 0) |
	       (uint64_t)m.epoch << 30 | (m.timed ? WORD_TIMED : 0) |
	       (m.urgent ? WORD_URGENT : 0) | (m.spinner ? WORD_SPINNER : 0);
}

#define ALL_STATES                                                                        \
	EDGES("writer", 0, 1),                                                            \
		EDGES("readers", 0, 1, 2, 0xfffff, 0x100000, READERS - 1, READERS),       \
		EDGES("turn", 0, 1), EDGES("wake", 0, 1),                                 \
		EDGES("wsleepers", 0, 1, 2, 8192, 16382, 16383),                          \
		EDGES("rsleepers", 0, 1, 2, 8192, 16382, 16383), EDGES("epoch", 0, 1, 3), \
		EDGES("timed", 0, 1), EDGES("urgent", 0, 1), EDGES("spinner", 0, 1)
#define STATES 10

/* The first axes, but those that the table does not allow. False: leave it out. */
static inline bool legal(const int64_t *v, struct model *m)
{
	*m = (struct model){ v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9] };
	if (m->writer && (m->readers || m->turn))
		return false;
	if ((m->turn && !m->rsleepers) || (m->timed && !m->writer))
		return false;
	return m->writer || m->turn || m->wsleepers || !m->rsleepers;
}

/* What a call has woken. */
struct woken {
	uint32_t classes, count;
	bool stamped;
};

static inline bool is_free(struct model m)
{
	return !m.writer && !m.readers && !m.turn;
}

static inline bool lets_readers_in(struct model m)
{
	return !m.writer && (!m.wsleepers || m.turn);
}

/* The lock is let go: whoever is next. */
static inline struct woken left_by(struct model *m, bool writer)
{
	if (writer) {
		m->writer = m->timed = 0;
		if (m->rsleepers) {
			m->turn = 1;
			return (struct woken){ READER, INT_MAX, true };
		}
	} else {
		m->readers--;
	}
	if (!is_free(*m))
		return (struct woken){ 0 };
	if (!m->wsleepers || (!m->urgent && (m->wake || m->spinner))) {
		m->spinner = 0;
		return (struct woken){ 0 };
	}
	m->spinner = 0;
	m->wake = 1;
	return (struct woken){ m->urgent ? OVERDUE : WRITER, 1, true };
}

/* The roll is called where wakes have been under way for too long, and for the dead maybe. */
static inline bool rolled(struct model *m, bool stale, struct woken *woken)
{
	if (!stale || m->writer || !(m->turn || m->wake))
		return false;
	*m = (struct model){ .readers = m->readers, .epoch = (m->epoch + 1) % 4 };
	*woken = (struct woken){ ALL, INT_MAX, false };
	return true;
}

/* One who comes, or is counted among the sleepers, has it. False if that may not be. */
static inline bool had(struct model *m, bool writes, bool counted, bool overdue,
		       int *result)
{
	*result = 0;
	if (writes ? !is_free(*m) || (m->urgent && !overdue) : !lets_readers_in(*m))
		return false;
	if (writes) {
		m->writer = 1;
		if (overdue)
			m->urgent = 0;
		if (counted && m->wsleepers) {
			m->wsleepers--;
			m->wake = 0;
		}
		return true;
	}
	*result = m->readers == READERS ? -EAGAIN : 0;
	m->readers += *result ? 0 : 1;
	m->rsleepers -= counted && m->rsleepers;
	if (!m->rsleepers)
		m->turn = 0;
	return true;
}

/* Goes to sleep, again if it was counted. False if there is no room. */
static inline bool asleep(struct model *m, bool writes, bool counted, bool overdue)
{
	if (!counted && (writes ? m->wsleepers : m->rsleepers) == SLEEPERS)
		return false;
	*(writes ? &m->wsleepers : &m->rsleepers) += counted ? 0 : 1;
	if (writes && !is_free(*m))
		m->wake = m->spinner = 0;
	if (writes && overdue)
		m->urgent = 1;
	return true;
}

/* Gives up. */
static inline struct woken gone(struct model *m, bool writes, bool counted, bool overdue)
{
	if (!writes) {
		m->rsleepers -= counted && m->rsleepers;
		m->turn = m->turn && m->rsleepers;
		return (struct woken){ 0 };
	}
	if (overdue)
		m->urgent = 0;
	if (counted && m->wsleepers) {
		m->wsleepers--;
		m->wake = m->wake && is_free(*m);
	}
	if (!lets_readers_in(*m) || !m->rsleepers || m->turn)
		return (struct woken){ 0 };
	m->turn = 1;
	return (struct woken){ READER, INT_MAX, true };
}

/* It is up, and looks: a writer says so where no other does. */
static inline void looked(struct model *m, bool writes)
{
	if (writes && !m->wake && !m->spinner && m->wsleepers && m->wsleepers < SLEEPERS)
		m->spinner = 1;
}

#endif
