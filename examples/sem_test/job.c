/* SPDX-License-Identifier: MIT */
#include "job.h"
#include "finish.h"
#include "team.h"
#include "../../tools/common/place.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* How often the job is looked at: seldom enough to leave no trace in the figures. */
#define LOOK_MS         1000
#define LOOK_MS_WATCHED 200

/* About 0.2 ms on two CPUs. */
#define MEET_BEATS 1000

/* Much longer than any item takes: the largest LOOPS are about a second. */
#define STALLED_MS 30000

struct arena *arena_create(void)
{
	void *p = mmap(NULL, sizeof(struct arena), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static unsigned workers(const struct job *j)
{
	return j->role[1] ? 2 : 1;
}

/*
 * The scheduler likes to start both workers on one CPU, and takes up to 20 ms to part
 * them: a quarter of a short run, and a different part of each. So before they begin they
 * run back and forth together, each beat an answer to the other's, until that is fast.
 * Gives up after JOB_MEET_NS_MOST, where the machine is too busy for it. All rows do the
 * same, and the report says so.
 */
static void meet(struct worker *self, const struct worker *other)
{
	int64_t end = measure_now_ns() + JOB_MEET_NS_MOST;

	for (uint64_t beat = 1; beat <= MEET_BEATS; beat++) {
		__atomic_store_n(&self->beat, beat, __ATOMIC_RELAXED);
		while (__atomic_load_n(&other->beat, __ATOMIC_RELAXED) < beat)
			if (measure_now_ns() > end)
				return;
	}
}

static void *work_and_measure(void *arg)
{
	struct worker *w = arg;
	struct library_cost library;
	struct thread_cost cost;
	int error;

	pthread_barrier_wait(&w->arena->start);
	if (w->other)
		meet(w, w->other);
	measure_library(&library);
	measure_thread(&cost);
	w->begin_ns = measure_now_ns();
	error = w->body(w->arena, w);
	w->end_ns = measure_now_ns();
	measure_thread_since(&w->cost, &cost);
	measure_library_since(&w->library, &library);
	__atomic_store_n(&w->error, error, __ATOMIC_RELEASE);
	return NULL;
}

static uint64_t items_done(const struct job *j, const struct arena *a)
{
	uint64_t done = UINT64_MAX;

	for (unsigned i = 0; i < workers(j); i++) {
		uint64_t n = __atomic_load_n(&a->worker[i].done, __ATOMIC_RELAXED);

		done = n < done ? n : done;
	}
	return done;
}

static void check_member(const struct job *j, const struct arena *a, const struct team *t,
			 unsigned i)
{
	const struct team_member *m = &t->member[i];
	const struct worker *w = &a->worker[i];
	int error = __atomic_load_n(&w->error, __ATOMIC_ACQUIRE);
	unsigned long long done = __atomic_load_n(&w->done, __ATOMIC_RELAXED);

	if (error)
		finish_failed("%s: the %s failed after %llu items: %s", j->name, j->role[i],
			      done, strerror(-error));
	if (!t->processes || !m->ended)
		return;
	if (WIFSIGNALED(m->status))
		finish_failed("%s: the %s died after %llu items: %s", j->name, j->role[i],
			      done, strsignal(WTERMSIG(m->status)));
	if (WEXITSTATUS(m->status))
		finish_failed("%s: the %s ended after %llu items with status %d", j->name,
			      j->role[i], done, WEXITSTATUS(m->status));
}

/* Counts looks, not time: a suspended program has not stalled. */
static void watch(const struct job *j, struct arena *a, struct team *t)
{
	int look_ms = j->watcher ? LOOK_MS_WATCHED : LOOK_MS;
	uint64_t before = 0;
	int still_ms = 0;
	bool ended;

	do {
		uint64_t done;

		ended = team_wait(t, look_ms);
		for (unsigned i = 0; i < t->size; i++)
			check_member(j, a, t, i);
		done = items_done(j, a);
		still_ms = done == before ? still_ms + look_ms : 0;
		before = done;
		if (!ended && still_ms >= STALLED_MS)
			finish_failed("%s: no progress for %d s after %llu of %llu items",
				      j->name, STALLED_MS / 1000, (unsigned long long)done,
				      (unsigned long long)a->items);
		if (j->watcher)
			j->watcher->tell(j->watcher, (double)done / (double)a->items);
	} while (!ended);
}

static void prepare_barrier(struct arena *a, unsigned n)
{
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&a->start, &attr, n);
	pthread_barrierattr_destroy(&attr);
}

void job_run(const struct job *j, struct arena *a)
{
	struct team t = { .processes = a->processes, .size = workers(j) };
	bool two_cpus = place_cpus(NULL, 0) >= 2;
	int r;

	prepare_barrier(a, t.size);
	for (unsigned i = 0; i < t.size; i++) {
		memset(&a->worker[i], 0, sizeof(a->worker[i]));
		a->worker[i].arena = a;
		a->worker[i].body = j->body[i];
		a->worker[i].other = two_cpus && t.size == 2 ? &a->worker[1 - i] : NULL;
		t.member[i].body = work_and_measure;
		t.member[i].arg = &a->worker[i];
	}
	r = team_start(&t);
	if (r)
		finish_failed("%s: cannot start the %s: %s", j->name,
			      a->processes ? "processes" : "threads", strerror(-r));
	watch(j, a, &t);
	pthread_barrier_destroy(&a->start);
}

double job_seconds(const struct job *j, const struct arena *a)
{
	int64_t begin = INT64_MAX;
	int64_t end = 0;

	for (unsigned i = 0; i < workers(j); i++) {
		const struct worker *w = &a->worker[i];

		begin = w->begin_ns < begin ? w->begin_ns : begin;
		end = w->end_ns > end ? w->end_ns : end;
	}
	return (double)(end - begin) / 1e9;
}
