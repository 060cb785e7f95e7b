/* SPDX-License-Identifier: MIT */
#include "os/seam.h"
#include "policy/hash.h"
#include "policy/migration.h"
#include "policy/window.h"

/*
 * Waits beside the waker, in a row, before a trial: this many, and up to as many more by chance, so
 * that the two of a pair do not move at the same time and meet again. Fewer after a trial that was
 * kept: one sleep is enough for the scheduler to put the thread back.
 */
#define ROW      16u
#define ROW_KEPT 2u

/* The upper bits of a product are the good ones. */
#define HASH_SHIFT 32

/* Waits after a move that are not judged, as the partner may not know of it, and that are. */
#define FIRST 8u
#define TURN  32u

/* What a wait has to come down to, in percent, for the thread to stay. */
#define BETTER_PERCENT 90
#define ALL_PERCENT    100

/*
 * A trial fails if its waits are this many times as long as before, or no better after this long
 * together, in ns.
 */
#define HOPELESS   2
#define LONGEST_NS UINT64_C(16000000)

/*
 * After a trial there is none for this long, in ns, as a move costs 50 us. The pause doubles with
 * each trial of the process that has failed, and with each of the thread that was undone at once.
 * After this many failures there are no more trials.
 */
#define PAUSE_NS    UINT64_C(1000000)
#define FAILED_MOST 10

/* There is none for this long where others want the CPUs: the question takes 10 us. */
#define CROWDED_NS UINT64_C(5000000)

/*
 * The last CPU that a thread of the process has left, plus 1, and above it when, in us. One word:
 * of several moves at a time the last is remembered.
 */
#define CPU_BITS 16
#define US       1000
#define LEFT_NS  UINT64_C(10000000)
static struct ipcwait_word64 left;

/* Trials of the process that have failed since the last that was kept. */
static struct ipcwait_word32 failed;

static uint32_t failures(void)
{
	/* ORD migration.X1: relaxed, hint: how rare trials are. */
	return ipcwait_impl_load32_relaxed(&failed);
}

static void begin_turn(struct iw_migration *m)
{
	m->waits = m->beside = 0;
	m->waited_ns = 0;
}

bool iw_migration_pauses(const struct iw_migration *m, uint64_t now)
{
	return !iw_migration_on_trial(m) &&
	       (failures() >= FAILED_MOST ||
		(m->not_before > now && m->not_before - now <= PAUSE_NS << FAILED_MOST));
}

/* A row is over. */
static enum iw_move after_row(struct iw_migration *m, uint64_t window_ns)
{
	uint64_t mean = m->waited_ns / m->waits;

	m->row = 0;
	if (mean > window_ns)
		return IW_STAY;
	if (!m->kept)
		m->before_ns = mean;
	return IW_LEAVE;
}

/* Not the same for two threads at one time, also where the counter is coarse. */
static uint64_t draw(const struct iw_migration *m, uint64_t now)
{
	return iw_hash(now ^ (uintptr_t)m) >> HASH_SHIFT;
}

/* A wait beside the waker, and no trial. */
static enum iw_move watch(struct iw_migration *m, uint64_t window_ns, uint64_t now)
{
	uint32_t row = m->kept ? ROW_KEPT : ROW;

	if (!m->row) {
		m->row = (uint8_t)(row + draw(m, now) % row);
		begin_turn(m);
		return IW_STAY;
	}
	return m->waits >= m->row ? after_row(m, window_ns) : IW_STAY;
}

static void keep(struct iw_migration *m, uint64_t now)
{
	m->kept = true;
	m->undone = 0;
	m->not_before = now + PAUSE_NS;
	/* ORD migration.X2: relaxed, hint: as migration.X1. */
	ipcwait_impl_store32_relaxed(&failed, 0);
}

static void note_failure(struct iw_migration *m, uint64_t now)
{
	uint32_t before = failures();

	m->kept = false;
	m->not_before = now + (PAUSE_NS << (before < FAILED_MOST ? before : FAILED_MOST));
	/* ORD migration.X3: relaxed, hint: of two at a time one may be lost. */
	ipcwait_impl_store32_relaxed(&failed,
				     before < FAILED_MOST ? before + 1 : FAILED_MOST);
}

/* Nothing was tried: the thread cannot be moved, or the scheduler has put it back meanwhile. */
static void put_off_undone(struct iw_migration *m, uint64_t now)
{
	m->undone = (uint8_t)(m->undone < FAILED_MOST ? m->undone + 1 : FAILED_MOST);
	m->not_before = now + (PAUSE_NS << m->undone);
}

static bool is_judged(const struct iw_migration *m)
{
	return m->waits >= FIRST + TURN;
}

/* Of those that are judged. */
static uint64_t mean_ns(const struct iw_migration *m)
{
	return m->waited_ns / (m->waits - FIRST);
}

static bool is_better(const struct iw_migration *m)
{
	return mean_ns(m) * ALL_PERCENT <= m->before_ns * BETTER_PERCENT;
}

/* Far worse, or no better after LONGEST_NS. */
static bool is_hopeless(const struct iw_migration *m)
{
	return is_judged(m) &&
	       (m->waited_ns > LONGEST_NS || mean_ns(m) > m->before_ns * HOPELESS);
}

/* The thread has had nothing to do meanwhile, or the scheduler has put it back. */
static bool is_no_trial(const struct iw_migration *m)
{
	return is_judged(m) ? m->beside > m->waits / 2 : m->waited_ns > LONGEST_NS;
}

enum iw_move iw_migration_judge(struct iw_migration *m, uint64_t now)
{
	enum iw_move how = IW_UNDONE;

	if (is_no_trial(m)) {
		put_off_undone(m, now);
	} else if (is_judged(m) && is_better(m)) {
		keep(m, now);
		how = IW_KEEP;
	} else if (is_hopeless(m)) {
		note_failure(m, now);
		return IW_RETURN;
	} else {
		return IW_STAY;
	}
	m->home = 0;
	return how;
}

enum iw_move iw_migration_begin(struct iw_migration *m, bool beside, uint64_t window_ns,
				uint64_t now)
{
	if (iw_migration_is_idle(m, beside))
		return IW_STAY;
	if (!iw_migration_on_trial(m))
		return watch(m, window_ns, now);
	m->beside += beside;
	return IW_STAY;
}

void iw_migration_moved(struct iw_migration *m, bool moved, unsigned from, uint64_t now)
{
	bool began = moved && !iw_migration_on_trial(m);

	if (!moved)
		put_off_undone(m, now);
	m->home = began ? from + 1 : 0;
	begin_turn(m);
}

void iw_migration_put_off(struct iw_migration *m, uint64_t now)
{
	m->not_before = now + CROWDED_NS;
}

void iw_migration_note_left(unsigned cpu, uint64_t at_ns)
{
	/* ORD migration.X4: relaxed, hint: a thread that does not see it yet sleeps once more. */
	ipcwait_impl_store64_relaxed(&left, at_ns / US << CPU_BITS |
						    ((cpu + 1) & ((1u << CPU_BITS) - 1)));
}

void iw_migration_forget_left(void)
{
	/* ORD migration.X6: relaxed, hint: another thread's may be lost. */
	ipcwait_impl_store64_relaxed(&left, 0);
}

bool iw_migration_may_have_left(unsigned cpu)
{
	/* ORD migration.X5: relaxed, hint, as migration.X4. */
	return (ipcwait_impl_load64_relaxed(&left) & ((1u << CPU_BITS) - 1)) == cpu + 1;
}

bool iw_migration_left(unsigned cpu, const struct ipcwait_window *w, uint64_t now_ns)
{
	/* ORD migration.X7: relaxed, hint, as migration.X4. */
	uint64_t at_ns = (ipcwait_impl_load64_relaxed(&left) >> CPU_BITS) * US;

	return iw_migration_may_have_left(cpu) && now_ns - at_ns <= LEFT_NS &&
	       iw_window_stamp_before(w, at_ns);
}

void iw_migration_end(struct iw_migration *m, uint64_t ns)
{
	m->waits++;
	m->waited_ns += ns;
	if (iw_migration_on_trial(m) && m->waits == FIRST && m->waited_ns < LONGEST_NS)
		m->waited_ns = 0;
}
