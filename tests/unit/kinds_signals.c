/* SPDX-License-Identifier: MIT */
/* What is posted and what is watched. */
#include <errno.h>

#include "common/check.h"
#include "kinds.h"

static int sem_init(void *o, unsigned flags)
{
	return ipcwait_sem_init(o, 0, flags);
}

static int sem_fini(void *o)
{
	return ipcwait_sem_fini(o);
}

static void sem_block(void *o)
{
	CHECK_EQ(ipcwait_sem_init(o, 0, 0), 0);
}

static int sem_wait(void *o, int64_t deadline_ns)
{
	return ipcwait_sem_wait_until(o, deadline_ns);
}

static void sem_release(void *o)
{
	CHECK_EQ(ipcwait_sem_post(o), 0);
}

static struct ipcwait_window *sem_window(void *o)
{
	return &((struct ipcwait_sem *)o)->window;
}

const struct kind kind_sem = {
	.name = "sem",
	.kind = IPCWAIT_KIND_SEM,
	.size = sizeof(struct ipcwait_sem),
	.flags_at = offsetof(struct ipcwait_sem, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_sem),
	.flags = IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE,
	.init_name = "ipcwait_sem_init",
	.fini_name = "ipcwait_sem_fini",
	.wait_name = "ipcwait_sem_wait_until",
	.init = sem_init,
	.fini = sem_fini,
	.block = sem_block,
	.wait = sem_wait,
	.release = sem_release,
	.window = sem_window,
	.knows_process = true,
};

/* A word, and behind it the window that is not part of it. */
static uint32_t *word(void *o)
{
	return o;
}

static struct ipcwait_window *window_behind(void *o)
{
	return (struct ipcwait_window *)(void *)(((struct place *)o)->bytes +
						 sizeof(struct place) / 2);
}

static void futex_block(void *o)
{
	*word(o) = 0;
}

static int futex_wait(void *o, int64_t deadline_ns)
{
	int r = ipcwait_futex_wait(word(o), 0, deadline_ns, window_behind(o), 0);

	return r == -EAGAIN ? 0 : r;
}

static void futex_release(void *o)
{
	__atomic_store_n(word(o), 1, __ATOMIC_RELEASE);
	CHECK(ipcwait_futex_wake(word(o), 1, 0) >= 0);
}

const struct kind kind_futex = {
	.name = "futex",
	.kind = IPCWAIT_KIND_FUTEX,
	.size = sizeof(uint32_t),
	.block = futex_block,
	.wait = futex_wait,
	.release = futex_release,
	.window = window_behind,
};

/* A semaphore beside a word that never changes. */
static int any_wait(void *o, int64_t deadline_ns)
{
	uint32_t still = 0;
	const struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_SEM, .object = o },
		{ .type = IPCWAIT_WAITABLE_FUTEX, .object = &still },
	};

	return ipcwait_wait_any(set, 2, deadline_ns, window_behind(o));
}

const struct kind kind_wait_any = {
	.name = "wait_any",
	.kind = IPCWAIT_KIND_WAIT_ANY,
	.size = sizeof(struct ipcwait_sem),
	.flags_at = offsetof(struct ipcwait_sem, flags),
	.flags = IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE,
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_sem),
	.block = sem_block,
	.wait = any_wait,
	.release = sem_release,
	.window = window_behind,
};

static int event_init(void *o, unsigned flags)
{
	return ipcwait_event_init(o, flags);
}

static int event_fini(void *o)
{
	return ipcwait_event_fini(o);
}

static void event_block(void *o)
{
	CHECK_EQ(ipcwait_event_init(o, 0), 0);
}

static void auto_block(void *o)
{
	CHECK_EQ(ipcwait_event_init(o, IPCWAIT_AUTO_RESET), 0);
}

static int event_wait(void *o, int64_t deadline_ns)
{
	return ipcwait_event_wait_until(o, deadline_ns);
}

static void event_release(void *o)
{
	CHECK_EQ(ipcwait_event_set(o), 0);
}

static struct ipcwait_window *event_window(void *o)
{
	return &((struct ipcwait_event *)o)->window;
}

const struct kind kind_event = {
	.name = "event",
	.kind = IPCWAIT_KIND_EVENT,
	.size = sizeof(struct ipcwait_event),
	.flags_at = offsetof(struct ipcwait_event, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_event),
	.flags = IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE | IPCWAIT_AUTO_RESET,
	.init_name = "ipcwait_event_init",
	.fini_name = "ipcwait_event_fini",
	.wait_name = "ipcwait_event_wait_until",
	.init = event_init,
	.fini = event_fini,
	.block = event_block,
	.wait = event_wait,
	.release = event_release,
	.window = event_window,
	.knows_process = true,
};

const struct kind kind_auto = {
	.name = "event, auto reset",
	.kind = IPCWAIT_KIND_EVENT,
	.size = sizeof(struct ipcwait_event),
	.flags_at = offsetof(struct ipcwait_event, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_event),
	.flags = IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE | IPCWAIT_AUTO_RESET,
	.init_name = "ipcwait_event_init",
	.fini_name = "ipcwait_event_fini",
	.wait_name = "ipcwait_event_wait_until",
	.init = event_init,
	.fini = event_fini,
	.block = auto_block,
	.wait = event_wait,
	.release = event_release,
	.window = event_window,
	.knows_process = true,
};

static int eventcount_init(void *o, unsigned flags)
{
	return ipcwait_eventcount_init(o, flags);
}

static int eventcount_fini(void *o)
{
	return ipcwait_eventcount_fini(o);
}

static void eventcount_block(void *o)
{
	CHECK_EQ(ipcwait_eventcount_init(o, 0), 0);
}

static int eventcount_wait(void *o, int64_t deadline_ns)
{
	return ipcwait_eventcount_commit(o, ipcwait_eventcount_prepare(o), deadline_ns);
}

static void eventcount_release(void *o)
{
	CHECK_EQ(ipcwait_eventcount_notify(o, 1), 0);
}

static struct ipcwait_window *eventcount_window(void *o)
{
	return &((struct ipcwait_eventcount *)o)->window;
}

const struct kind kind_eventcount = {
	.name = "eventcount",
	.kind = IPCWAIT_KIND_EVENTCOUNT,
	.size = sizeof(struct ipcwait_eventcount),
	.flags_at = offsetof(struct ipcwait_eventcount, flags),
	.flags_bits = KINDS_FLAGS_BITS(struct ipcwait_eventcount),
	.flags = IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE,
	.init_name = "ipcwait_eventcount_init",
	.fini_name = "ipcwait_eventcount_fini",
	.wait_name = "ipcwait_eventcount_commit",
	.init = eventcount_init,
	.fini = eventcount_fini,
	.block = eventcount_block,
	.wait = eventcount_wait,
	.release = eventcount_release,
	.window = eventcount_window,
	.knows_process = true,
};
