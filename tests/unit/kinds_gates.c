/* SPDX-License-Identifier: MIT */
/* What several threads pass together. */
#include <pthread.h>

#include "common/check.h"
#include "kinds.h"

static int barrier_init(void *o, unsigned flags)
{
	return ipcwait_barrier_init(o, 2, flags);
}

static int barrier_fini(void *o)
{
	return ipcwait_barrier_fini(o);
}

static struct ipcwait_window *barrier_window(void *o)
{
	return &((struct ipcwait_barrier *)o)->window;
}

static void barrier_block(void *o)
{
	CHECK_EQ(ipcwait_barrier_init(o, 2, 0), 0);
}

static int barrier_wait(void *o, int64_t deadline_ns)
{
	int r = ipcwait_barrier_wait_until(o, deadline_ns);

	return r == IPCWAIT_BARRIER_SERIAL ? 0 : r;
}

static void barrier_release(void *o)
{
	CHECK_EQ(ipcwait_barrier_wait(o), IPCWAIT_BARRIER_SERIAL);
}

const struct kind kind_barrier = {
	.name = "barrier",
	.kind = IPCWAIT_KIND_BARRIER,
	.size = sizeof(struct ipcwait_barrier),
	.flags_at = offsetof(struct ipcwait_barrier, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_barrier),
	.flags = IPCWAIT_PRIVATE,
	.init_name = "ipcwait_barrier_init",
	.fini_name = "ipcwait_barrier_fini",
	.wait_name = "ipcwait_barrier_wait_until",
	.init = barrier_init,
	.fini = barrier_fini,
	.block = barrier_block,
	.wait = barrier_wait,
	.release = barrier_release,
	.window = barrier_window,
	.knows_process = true,
};

static int latch_init(void *o, unsigned flags)
{
	return ipcwait_latch_init(o, 1, flags);
}

static int latch_fini(void *o)
{
	return ipcwait_latch_fini(o);
}

static struct ipcwait_window *latch_window(void *o)
{
	return &((struct ipcwait_latch *)o)->window;
}

static void latch_block(void *o)
{
	CHECK_EQ(ipcwait_latch_init(o, 1, 0), 0);
}

static int latch_wait(void *o, int64_t deadline_ns)
{
	return ipcwait_latch_wait_until(o, deadline_ns);
}

static void latch_release(void *o)
{
	CHECK_EQ(ipcwait_latch_count_down(o, 1), 0);
}

const struct kind kind_latch = {
	.name = "latch",
	.kind = IPCWAIT_KIND_LATCH,
	.size = sizeof(struct ipcwait_latch),
	.flags_at = offsetof(struct ipcwait_latch, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_latch),
	.flags = IPCWAIT_PRIVATE,
	.init_name = "ipcwait_latch_init",
	.fini_name = "ipcwait_latch_fini",
	.wait_name = "ipcwait_latch_wait_until",
	.init = latch_init,
	.fini = latch_fini,
	.block = latch_block,
	.wait = latch_wait,
	.release = latch_release,
	.window = latch_window,
	.knows_process = true,
};

static int once_init(void *o, unsigned flags)
{
	return ipcwait_once_init(o, flags);
}

static int once_fini(void *o)
{
	return ipcwait_once_fini(o);
}

static struct ipcwait_window *once_window(void *o)
{
	return &((struct ipcwait_once *)o)->window;
}

/* The thread that is at work while others wait. */
static struct ipcwait_sem begun, ended;
static pthread_t worker;

static int work(void *arg)
{
	(void)arg;
	CHECK_EQ(ipcwait_sem_post(&begun), 0);
	CHECK_EQ(ipcwait_sem_wait(&ended), 0);
	return 0;
}

static void *run_work(void *o)
{
	CHECK_EQ(ipcwait_once_run(o, work, NULL), 0);
	return NULL;
}

static void once_block(void *o)
{
	CHECK_EQ(ipcwait_once_init(o, 0), 0);
	CHECK(pthread_create(&worker, NULL, run_work, o) == 0);
	CHECK_EQ(ipcwait_sem_wait(&begun), 0);
}

static int no_work(void *arg)
{
	(void)arg;
	return 0;
}

static int once_wait(void *o, int64_t deadline_ns)
{
	(void)deadline_ns;
	return ipcwait_once_run(o, no_work, NULL);
}

static void once_release(void *o)
{
	(void)o;
	CHECK_EQ(ipcwait_sem_post(&ended), 0);
	CHECK(pthread_join(worker, NULL) == 0);
}

const struct kind kind_once = {
	.name = "once",
	.kind = IPCWAIT_KIND_ONCE,
	.size = sizeof(struct ipcwait_once),
	.flags_at = offsetof(struct ipcwait_once, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_once),
	.flags = IPCWAIT_PRIVATE,
	.init_name = "ipcwait_once_init",
	.fini_name = "ipcwait_once_fini",
	.wait_name = "ipcwait_once_run",
	.init = once_init,
	.fini = once_fini,
	.block = once_block,
	.wait = once_wait,
	.release = once_release,
	.window = once_window,
	.no_deadline = true,
	.knows_process = true,
};
