/* SPDX-License-Identifier: MIT */
/* Locks, and the condition variable with its mutex. */
#include "common/check.h"
#include "kinds.h"

#define MUTEX_FLAGS \
	(IPCWAIT_PRIVATE | IPCWAIT_RECURSIVE | IPCWAIT_ERRORCHECK | IPCWAIT_ROBUST)

static int mutex_init(void *o, unsigned flags)
{
	return ipcwait_mutex_init(o, flags);
}

static int mutex_fini(void *o)
{
	return ipcwait_mutex_fini(o);
}

static void lock(void *o, unsigned flags)
{
	CHECK_EQ(ipcwait_mutex_init(o, flags), 0);
	CHECK_EQ(ipcwait_mutex_lock(o), 0);
}

static void mutex_block(void *o)
{
	lock(o, 0);
}

static void recursive_block(void *o)
{
	lock(o, IPCWAIT_RECURSIVE);
}

static void errorcheck_block(void *o)
{
	lock(o, IPCWAIT_ERRORCHECK);
}

static void robust_block(void *o)
{
	lock(o, IPCWAIT_ROBUST);
}

static int mutex_wait(void *o, int64_t deadline_ns)
{
	int r = ipcwait_mutex_lock_until(o, deadline_ns);

	return r ? r : ipcwait_mutex_unlock(o);
}

static void mutex_release(void *o)
{
	CHECK_EQ(ipcwait_mutex_unlock(o), 0);
}

static struct ipcwait_window *mutex_window(void *o)
{
	return &((struct ipcwait_mutex *)o)->window;
}

const struct kind kind_mutex = {
	.name = "mutex",
	.kind = IPCWAIT_KIND_MUTEX,
	.size = sizeof(struct ipcwait_mutex),
	.flags_at = offsetof(struct ipcwait_mutex, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_mutex),
	.flags = MUTEX_FLAGS,
	.init_name = "ipcwait_mutex_init",
	.fini_name = "ipcwait_mutex_fini",
	.wait_name = "ipcwait_mutex_lock",
	.init = mutex_init,
	.fini = mutex_fini,
	.block = mutex_block,
	.wait = mutex_wait,
	.release = mutex_release,
	.window = mutex_window,
};

const struct kind kind_recursive = {
	.name = "mutex, recursive",
	.kind = IPCWAIT_KIND_MUTEX,
	.size = sizeof(struct ipcwait_mutex),
	.flags_at = offsetof(struct ipcwait_mutex, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_mutex),
	.flags = MUTEX_FLAGS,
	.init_name = "ipcwait_mutex_init",
	.fini_name = "ipcwait_mutex_fini",
	.wait_name = "ipcwait_mutex_lock",
	.init = mutex_init,
	.fini = mutex_fini,
	.block = recursive_block,
	.wait = mutex_wait,
	.release = mutex_release,
	.window = mutex_window,
};

const struct kind kind_errorcheck = {
	.name = "mutex, errorcheck",
	.kind = IPCWAIT_KIND_MUTEX,
	.size = sizeof(struct ipcwait_mutex),
	.flags_at = offsetof(struct ipcwait_mutex, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_mutex),
	.flags = MUTEX_FLAGS,
	.init_name = "ipcwait_mutex_init",
	.fini_name = "ipcwait_mutex_fini",
	.wait_name = "ipcwait_mutex_lock",
	.init = mutex_init,
	.fini = mutex_fini,
	.block = errorcheck_block,
	.wait = mutex_wait,
	.release = mutex_release,
	.window = mutex_window,
};

const struct kind kind_robust = {
	.name = "mutex, robust",
	.kind = IPCWAIT_KIND_MUTEX,
	.size = sizeof(struct ipcwait_mutex),
	.flags_at = offsetof(struct ipcwait_mutex, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_mutex),
	.flags = MUTEX_FLAGS,
	.init_name = "ipcwait_mutex_init",
	.fini_name = "ipcwait_mutex_fini",
	.wait_name = "ipcwait_mutex_lock",
	.init = mutex_init,
	.fini = mutex_fini,
	.block = robust_block,
	.wait = mutex_wait,
	.release = mutex_release,
	.window = mutex_window,
};

static int rwlock_init(void *o, unsigned flags)
{
	return ipcwait_rwlock_init(o, flags);
}

static int rwlock_fini(void *o)
{
	return ipcwait_rwlock_fini(o);
}

static void write_block(void *o)
{
	CHECK_EQ(ipcwait_rwlock_init(o, 0), 0);
	CHECK_EQ(ipcwait_rwlock_wrlock(o), 0);
}

static void read_block(void *o)
{
	CHECK_EQ(ipcwait_rwlock_init(o, 0), 0);
	CHECK_EQ(ipcwait_rwlock_rdlock(o), 0);
}

static int rwlock_read(void *o, int64_t deadline_ns)
{
	int r = ipcwait_rwlock_rdlock_until(o, deadline_ns);

	return r ? r : ipcwait_rwlock_unlock(o);
}

static int rwlock_write(void *o, int64_t deadline_ns)
{
	int r = ipcwait_rwlock_wrlock_until(o, deadline_ns);

	return r ? r : ipcwait_rwlock_unlock(o);
}

static void rwlock_release(void *o)
{
	CHECK_EQ(ipcwait_rwlock_unlock(o), 0);
}

static struct ipcwait_window *rwlock_window(void *o)
{
	return &((struct ipcwait_rwlock *)o)->window;
}

const struct kind kind_reader = {
	.name = "rwlock, reading",
	.kind = IPCWAIT_KIND_RWLOCK,
	.size = sizeof(struct ipcwait_rwlock),
	.flags_at = offsetof(struct ipcwait_rwlock, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_rwlock),
	.flags = IPCWAIT_PRIVATE,
	.init_name = "ipcwait_rwlock_init",
	.fini_name = "ipcwait_rwlock_fini",
	.wait_name = "ipcwait_rwlock_rdlock_until",
	.init = rwlock_init,
	.fini = rwlock_fini,
	.block = write_block,
	.wait = rwlock_read,
	.release = rwlock_release,
	.window = rwlock_window,
	.knows_process = true,
};

const struct kind kind_writer = {
	.name = "rwlock, writing",
	.kind = IPCWAIT_KIND_RWLOCK,
	.size = sizeof(struct ipcwait_rwlock),
	.flags_at = offsetof(struct ipcwait_rwlock, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_rwlock),
	.flags = IPCWAIT_PRIVATE,
	.init_name = "ipcwait_rwlock_init",
	.fini_name = "ipcwait_rwlock_fini",
	.wait_name = "ipcwait_rwlock_wrlock_until",
	.init = rwlock_init,
	.fini = rwlock_fini,
	.block = read_block,
	.wait = rwlock_write,
	.release = rwlock_release,
	.window = rwlock_window,
	.knows_process = true,
};

static struct ipcwait_mutex *mutex_behind(void *o)
{
	return (struct ipcwait_mutex *)(void *)(((struct place *)o)->bytes +
						KINDS_PLACE_BYTES / 2);
}

static int cond_init(void *o, unsigned flags)
{
	return ipcwait_cond_init(o, flags);
}

static int cond_fini(void *o)
{
	return ipcwait_cond_fini(o);
}

static void cond_block(void *o)
{
	CHECK_EQ(ipcwait_cond_init(o, 0), 0);
}

static int cond_wait(void *o, int64_t deadline_ns)
{
	int r;

	CHECK_EQ(ipcwait_mutex_lock(mutex_behind(o)), 0);
	r = ipcwait_cond_wait_until(o, mutex_behind(o), deadline_ns);
	CHECK_EQ(ipcwait_mutex_unlock(mutex_behind(o)), 0);
	return r;
}

static void cond_release(void *o)
{
	CHECK_EQ(ipcwait_cond_signal(o), 0);
}

static struct ipcwait_window *cond_window(void *o)
{
	return &((struct ipcwait_cond *)o)->window;
}

const struct kind kind_cond = {
	.name = "cond",
	.kind = IPCWAIT_KIND_COND,
	.size = sizeof(struct ipcwait_cond),
	.flags_at = offsetof(struct ipcwait_cond, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_cond),
	.flags = IPCWAIT_PRIVATE,
	.init_name = "ipcwait_cond_init",
	.fini_name = "ipcwait_cond_fini",
	.wait_name = "ipcwait_cond_wait_until",
	.init = cond_init,
	.fini = cond_fini,
	.block = cond_block,
	.wait = cond_wait,
	.release = cond_release,
	.window = cond_window,
	.knows_process = true,
};
