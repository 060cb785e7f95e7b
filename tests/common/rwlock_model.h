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
	int64_t writer, readers, rwake, rurgent, rsleepers;
	int64_t wake, urgent, wsleepers;
	int64_t epoch, timed, spinner, next, quiet;
};

static inline uint64_t pack(struct model m)
{
	SAME(m.readers >= 0 && m.readers <= READERS, true);
	SAME(m.wsleepers >= 0 && m.wsleepers <= SLEEPERS, true);
	SAME(m.rsleepers >= 0 && m.rsleepers <= SLEEPERS, true);
	SAME(m.epoch >= 0 && m.epoch < 4, true);
	return WORD(m.readers, m.wsleepers, m.rsleepers) | (m.writer ? WORD_WRITER : 0) |
	       (m.rwake ? WORD_RWAKE : 0) | (m.rurgent ? WORD_RURGENT : 0) |
	       (m.wake ? WORD_WAKE : 0) | (m.urgent ? WORD_URGENT : 0) |
	       (uint64_t)m.epoch << 30 | (m.timed ? WORD_TIMED : 0) |
	       (m.spinner ? WORD_SPINNER : 0) | (m.next ? WORD_NEXT : 0) |
	       (m.quiet ? WORD_QUIET : 0);
}

#define STATES_OF(r, s, e)                                                       \
	EDGES("writer", 0, 1), r, EDGES("rwake", 0, 1), EDGES("rurgent", 0, 1),  \
		s("rsleepers"), EDGES("wake", 0, 1), EDGES("urgent", 0, 1),      \
		s("wsleepers"), e, EDGES("timed", 0, 1), EDGES("spinner", 0, 1), \
		EDGES("next", 0, 1), EDGES("quiet", 0, 1)
#define STATES       13
#define STATES_EPOCH 8

/* Each edge of each count. */
#define ALL_SLEEPERS(name) EDGES(name, 0, 1, 2, 8192, 16382, 16383)
#define ALL_STATES                                                                    \
	STATES_OF(EDGES("readers", 0, 1, 2, 0xfffff, 0x100000, READERS - 1, READERS), \
		  ALL_SLEEPERS, EDGES("epoch", 0, 1, 3))

/* The edges at which a count becomes zero, carries, or is full. */
#define SOME_SLEEPERS(name) EDGES(name, 0, 1, 2, 16382, 16383)
#define SOME_STATES \
	STATES_OF(EDGES("readers", 0, 1, READERS), SOME_SLEEPERS, EDGES("epoch", 0, 3))

static inline bool is_readers_turn(struct model m)
{
	return m.rwake && m.rurgent;
}

/* False for states that the table calls "never". */
static inline bool may_be(struct model m)
{
	if (m.writer && (m.readers || is_readers_turn(m)))
		return false;
	if ((m.rwake || m.rurgent) && !m.rsleepers)
		return false;
	if ((m.wake || m.urgent) && !m.wsleepers)
		return false;
	if (m.timed && !m.writer)
		return false;
	return m.writer || m.rwake || m.urgent || !m.rsleepers;
}

/*
 * True for states that calls lead to. A free lock is kept for an overdue writer only with WAKE. A
 * writer that has set NEXT is counted.
 */
static inline bool is_sound(struct model m)
{
	if (m.urgent && !m.wake && !m.writer && !m.readers && !is_readers_turn(m))
		return false;
	return may_be(m) && (m.wsleepers || !m.next);
}

/* The state of the first axes. False if the table does not allow it. */
static inline bool legal(const int64_t *v, struct model *m)
{
	*m = (struct model){ v[0], v[1], v[2], v[3],  v[4],  v[5], v[6],
			     v[7], v[8], v[9], v[10], v[11], v[12] };
	return may_be(*m);
}

/* What a call has woken. */
struct woken {
	uint32_t classes, count;
	bool stamped;
};

static inline bool is_free(struct model m)
{
	return !m.writer && !m.readers && !is_readers_turn(m);
}

static inline bool lets_readers_in(struct model m)
{
	return !m.writer && (!m.urgent || is_readers_turn(m));
}

/* The unlock of a writer wakes the sleeping readers, unless an overdue writer goes first. */
static inline bool readers_are_next(struct model m)
{
	return m.rsleepers && !m.rwake && (!m.urgent || m.rurgent);
}

/* An unlock. Returns the wake that it makes. */
static inline struct woken left_by(struct model *m, bool writer)
{
	bool needless = m->wake || m->spinner || m->next || m->quiet;

	if (writer) {
		m->writer = m->timed = 0;
		if (readers_are_next(*m)) {
			m->rwake = 1;
			m->spinner = 0;
			return (struct woken){ READER, INT_MAX, true };
		}
	} else {
		m->readers--;
	}
	if (!is_free(*m))
		return (struct woken){ 0 };
	m->spinner = 0;
	if (!m->wsleepers || (!m->urgent && needless))
		return (struct woken){ 0 };
	m->wake = 1;
	return (struct woken){ m->urgent ? OVERDUE : WRITER, 1, true };
}

/* The roll is called where wakes have been under way for too long, and for the dead maybe. */
static inline bool rolled(struct model *m, bool stale, struct woken *woken)
{
	if (!stale || m->writer || !(m->rwake || m->wake))
		return false;
	*m = (struct model){ .readers = m->readers, .epoch = (m->epoch + 1) % 4 };
	*woken = (struct woken){ ALL, INT_MAX, false };
	return true;
}

/* A thread that waits or tries. */
struct waiter {
	bool writes;
	bool counted; /* among the sleepers */
	bool slept;   /* in this wait, before now */
	bool overdue, rang;
	bool woken;      /* a wake has ended its last sleep */
	bool next, naps; /* it has set NEXT, QUIET */
};

/* A writer clears its own QUIET. It also clears QUIET after a sleep that no wake has ended. */
static inline bool ends_quiet(struct waiter w)
{
	return w.naps || (w.slept && !w.woken);
}

/* The thread takes the lock where it would otherwise sleep, give up or fail. False if it cannot. */
static inline bool had(struct model *m, struct waiter w, int *result)
{
	*result = 0;
	if (w.writes ? !is_free(*m) || (m->urgent && !w.overdue) : !lets_readers_in(*m))
		return false;
	m->next = 0;
	if (w.writes) {
		m->writer = 1;
		if (w.overdue)
			m->urgent = 0;
		if (ends_quiet(w))
			m->quiet = 0;
		if (w.counted && m->wsleepers) {
			m->wsleepers--;
			m->wake = 0;
		}
		return true;
	}
	*result = m->readers == READERS ? -EAGAIN : 0;
	m->readers += *result ? 0 : 1;
	m->rsleepers -= w.counted && m->rsleepers;
	if (!m->rsleepers)
		m->rwake = m->rurgent = 0;
	return true;
}

/* The same in a look: a writer that has set NEXT goes first, except in the readers' turn. */
static inline bool had_in_turn(struct model *m, struct waiter w, int *result)
{
	*result = 0;
	if (m->next && (w.writes ? !w.next : !is_readers_turn(*m)))
		return false;
	return had(m, w, result);
}

/* Another writer looks, and the next unlock leaves the lock to that writer. */
static inline bool is_behind(struct model m, struct waiter w)
{
	if (m.next)
		return !w.next;
	return m.spinner && !w.counted;
}

/* A look. A writer that does not take the lock sets its mark, unless another writer looks. */
static inline bool had_in_look(struct model *m, struct waiter *w, int *result)
{
	if (had_in_turn(m, *w, result))
		return true;
	if (!w->writes || is_behind(*m, *w))
		return false;
	if (w->counted && !is_free(*m)) {
		m->wake = 0;
		m->next = w->next = 1;
	} else if (!m->wake && !m->spinner && m->wsleepers && m->wsleepers < SLEEPERS) {
		m->spinner = 1;
	}
	return false;
}

/* A writer naps if a wake would come too late. Sections are not short in these tests. */
static inline bool would_nap(struct model m, struct waiter w, bool crowded)
{
	return w.writes && !w.overdue && (!m.quiet || w.naps) &&
	       (w.naps || (w.slept && w.woken) || crowded);
}

static inline void writer_asleep(struct model *m, struct waiter *w, bool crowded)
{
	bool naps = would_nap(*m, *w, crowded);

	if (!is_free(*m))
		m->wake = m->spinner = 0;
	m->next = m->next && !w->next;
	w->next = false;
	if (ends_quiet(*w))
		m->quiet = 0;
	w->naps = naps;
	m->quiet = m->quiet || naps;
	m->urgent = m->urgent || w->overdue;
}

/* The thread goes to sleep, again if it is counted. False if there is no room to count it. */
static inline bool asleep(struct model *m, struct waiter *w, bool crowded)
{
	int64_t *sleepers = w->writes ? &m->wsleepers : &m->rsleepers;

	if (!w->counted && *sleepers == SLEEPERS)
		return false;
	if (w->writes) {
		writer_asleep(m, w, crowded);
	} else {
		m->rwake = 0;
		m->rurgent = m->rurgent || w->overdue;
	}
	*sleepers += w->counted ? 0 : 1;
	w->counted = w->slept = true;
	w->woken = false;
	return true;
}

/* The thread gives up. */
static inline struct woken gone(struct model *m, struct waiter w)
{
	if (!w.writes) {
		m->rsleepers -= w.counted && m->rsleepers;
		if (!m->rsleepers)
			m->rwake = m->rurgent = 0;
		return (struct woken){ 0 };
	}
	m->next = m->next && !w.next;
	if (w.overdue)
		m->urgent = 0;
	if (ends_quiet(w))
		m->quiet = 0;
	if (w.counted && m->wsleepers) {
		m->wsleepers--;
		m->wake = m->wake && is_free(*m);
	}
	if (!lets_readers_in(*m) || !m->rsleepers || m->rwake)
		return (struct woken){ 0 };
	m->rwake = 1;
	return (struct woken){ READER, INT_MAX, true };
}

#endif
