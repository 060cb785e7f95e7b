/* SPDX-License-Identifier: MIT */
#include "engine/migrate.h"
#include "engine/plan.h"
#include "os/cpu.h"
#include "os/move.h"
#include "os/seam.h"
#include "policy/migration.h"
#include "policy/policy.h"
#include "policy/trial.h"
#include "policy/window.h"
#include "watch/stats.h"

/* A move, with what others have of the other CPU: a tick of 250 Hz and more. */
#define MOVE_NS INT64_C(5000000)

bool iw_may_migrate(const struct iw_waiter *me)
{
	return me->facts && !me->interruptible && iw_policy_moves(me->facts) &&
	       (me->preset == IPCWAIT_ADAPTIVE || me->preset == IPCWAIT_LATENCY);
}

/* A waker of what the kernel has leaves no stamp; a yield has found others on this CPU. */
static bool is_beside(const struct iw_waiter *me)
{
	return me->what->in_kernel ? iw_self()->shares_cpu : me->reason == IW_SAME_CPU;
}

static bool move(const struct iw_migration *m, enum iw_move how)
{
	bool moved = how == IW_LEAVE ? iw_move_away() : iw_move_to(m->home - 1);

	if (moved)
		iw_count_move(how == IW_LEAVE ? IW_MOVES_APART : IW_MOVES_BACK);
	return moved;
}

static uint64_t now_ns(const struct iw_facts *facts)
{
	return iw_tick_to_ns(&facts->rate, iw_tick_now(&facts->rate));
}

/* What was known about the other CPU, and who else runs there. */
static void forget_cpu(struct iw_thread *self)
{
	self->shares_cpu = false;
	self->kept_until = 0;
	iw_trial_stop(&self->trial);
}

/* The partner is told first: it may wait while this thread is on its way. */
static bool move_as(enum iw_move how, uint64_t now)
{
	struct iw_migration *m = &iw_self()->migration;
	unsigned from = iw_cpu_current();
	bool moved;

	iw_migration_note_left(from, iw_clock_common(iw_now_ns()));
	moved = move(m, how);
	iw_migration_moved(m, moved, from, now);
	if (moved)
		forget_cpu(iw_self());
	else
		iw_migration_forget_left();
	return moved;
}

/* A move and the question before it may take longer than a short wait has time for. */
static bool is_urgent(const struct iw_waiter *me)
{
	return me->deadline_ns != IPCWAIT_FOREVER &&
	       me->deadline_ns - iw_clock_ns() < MOVE_NS;
}

void iw_migrate_judge(const struct iw_facts *facts)
{
	uint64_t now = now_ns(facts);
	enum iw_move how = iw_migration_judge(&iw_self()->migration, now);

	if (how == IW_RETURN && !move_as(IW_RETURN, now))
		how = IW_UNDONE;
	if (how == IW_KEEP)
		iw_count_move(IW_MOVES_KEPT);
	else if (how == IW_UNDONE)
		iw_count_move(IW_MOVES_UNDONE);
}

/* 0: the wait need not be timed. */
uint64_t iw_migrate_before(struct iw_waiter *me)
{
	struct iw_migration *m = &iw_self()->migration;
	bool beside = is_beside(me);
	uint64_t now;

	if (iw_migration_is_idle(m, beside))
		return 0;
	now = now_ns(me->facts);
	if (iw_migration_pauses(m, now))
		return 0;
	if (iw_migration_begin(m, beside, iw_plan_longest_ns(me), now) != IW_LEAVE)
		return now;
	if (is_urgent(me) || iw_move_into_crowd())
		iw_migration_put_off(m, now);
	else if (move_as(IW_LEAVE, now))
		me->reason = iw_plan(me);
	return now;
}

void iw_migrate_after(const struct iw_waiter *me, uint64_t began_at)
{
	uint64_t now;

	if (!began_at)
		return;
	now = now_ns(me->facts);
	iw_migration_end(&iw_self()->migration, now > began_at ? now - began_at : 0);
}

void iw_migrate_short(const struct iw_waiter *me)
{
	struct iw_migration *m = &iw_self()->migration;

	if ((m->row || iw_migration_on_trial(m)) && iw_may_migrate(me))
		iw_migration_end(m, 0);
}
