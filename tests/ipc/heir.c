/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "common/check.h"
#include "heir.h"

struct region *heir_begin(unsigned flags)
{
	struct region *r = region_create();

	CHECK_EQ(ipcwait_mutex_init(&r->mutex, IPCWAIT_ROBUST | flags), 0);
	return r;
}

int heir_lock_for(struct region *r, int64_t ns)
{
	return ipcwait_mutex_lock_until(&r->mutex, ipcwait_deadline_in_ns(ns));
}

void heir_tell(struct region *r)
{
	CHECK_EQ(ipcwait_sem_post(&r->done), 0);
}

void heir_be_told(struct region *r)
{
	CHECK_EQ(ipcwait_sem_wait_until(&r->done, ipcwait_deadline_in_ns(HEIR_LONG_NS)), 0);
}

void heir_own(struct region *r)
{
	CHECK_EQ(heir_lock_for(r, HEIR_LONG_NS), 0);
	guarded_begin(&r->guarded);
	heir_tell(r);
}

void heir_own_and_stay(struct region *r)
{
	heir_own(r);
	for (;;)
		(void)pause();
}

pid_t heir_start_owner(struct region *r)
{
	pid_t child = region_fork(r, heir_own_and_stay);

	heir_be_told(r);
	return child;
}

void heir_unlock(struct region *r)
{
	guarded_begin(&r->guarded);
	guarded_end(&r->guarded);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
}

void heir_inherit(struct region *r)
{
	CHECK_EQ(heir_lock_for(r, HEIR_LONG_NS), -EOWNERDEAD);
	CHECK(guarded_repair(&r->guarded));
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), 0);
	heir_unlock(r);
}

void heir_end(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_trylock(&r->mutex), 0);
	CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), -EINVAL);
	heir_unlock(r);
	region_destroy(r);
}
