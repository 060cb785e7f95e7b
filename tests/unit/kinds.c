/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/check.h"
#include "common/task.h"
#include "kinds.h"

const struct kind *const kinds[] = {
	&kind_sem,        &kind_futex, &kind_wait_any,  &kind_event,  &kind_auto,
	&kind_eventcount, &kind_mutex, &kind_recursive, &kind_robust, &kind_errorcheck,
	&kind_barrier,    &kind_latch, &kind_once,      &kind_cond,   &kind_reader,
	&kind_writer,     NULL,
};

struct kinds_waiter {
	const struct kind *kind;
	void *object;
	int64_t deadline_ns;
	uint64_t slept_before;
	pthread_t thread;
	pid_t id;
	int result;
	int done;
};

static uint64_t sleeps(const struct kind *k)
{
	struct ipcwait_stats st;

	CHECK(ipcwait_stats_get(&st, sizeof(st)) > 0);
	return st.kind[k->kind].futex_waits;
}

static void *wait_once(void *arg)
{
	struct kinds_waiter *w = arg;

	__atomic_store_n(&w->id, gettid(), __ATOMIC_RELEASE);
	w->result = w->kind->wait(w->object, w->deadline_ns);
	__atomic_store_n(&w->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool asleep(void *arg)
{
	const struct kinds_waiter *w = arg;

	return kinds_done(w) || sleeps(w->kind) != w->slept_before;
}

static struct kinds_waiter *start(const struct kind *k, void *o, int64_t deadline_ns)
{
	struct kinds_waiter *w = calloc(1, sizeof(*w));

	CHECK(w != NULL);
	*w = (struct kinds_waiter){ .kind = k, .object = o, .deadline_ns = deadline_ns };
	w->slept_before = sleeps(k);
	CHECK(pthread_create(&w->thread, NULL, wait_once, w) == 0);
	return w;
}

int kinds_wait(const struct kind *k, void *o, int64_t deadline_ns)
{
	return kinds_join(start(k, o, deadline_ns));
}

struct kinds_waiter *kinds_start(const struct kind *k, void *o, int64_t deadline_ns)
{
	struct kinds_waiter *w = kinds_start_as(k, o, deadline_ns, IPCWAIT_BLOCK);

	CHECK(check_eventually(asleep, w));
	return w;
}

struct kinds_waiter *kinds_start_as(const struct kind *k, void *o, int64_t deadline_ns,
				    enum ipcwait_preset preset)
{
	CHECK_EQ(ipcwait_window_set_preset(k->window(o), preset), 0);
	return start(k, o, deadline_ns);
}

bool kinds_sleeps(void *waiter)
{
	const struct kinds_waiter *w = waiter;
	pid_t id = __atomic_load_n(&w->id, __ATOMIC_ACQUIRE);

	return id && sleeps(w->kind) != w->slept_before && task_sleeps(id);
}

bool kinds_done(const struct kinds_waiter *w)
{
	return __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
}

void kinds_signal(const struct kinds_waiter *w, int signal)
{
	CHECK(pthread_kill(w->thread, signal) == 0);
}

int kinds_join(struct kinds_waiter *w)
{
	int r;

	CHECK(pthread_join(w->thread, NULL) == 0);
	r = w->result;
	free(w);
	return r;
}
