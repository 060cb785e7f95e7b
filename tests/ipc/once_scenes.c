/* SPDX-License-Identifier: MIT */
/* Every call on a once, and what a process may leave behind that is killed in one: "Once" in
 * docs/design/gates.md. */
#include <errno.h>
#include <unistd.h>

#include "common/check.h"
#include "common/gates_word.h"
#include "process.h"
#include "stage.h"

/* Who runs the function when the victim makes its call. */
enum once_runner { ONCE_NOBODY, ONCE_OTHER, ONCE_DEAD };

struct once_scene {
	struct scene base;
	enum once_runner runner;
	bool done;     /* before the call */
	bool fails;    /* the function, when it is run by the victim */
	bool watched;  /* it takes so long that others come, and sleep */
	bool bystands; /* the victim does not take part */
	enum ipcwait_preset preset;
};

/* In which everybody must have had it done, in ns. */
#define LONG_NS INT64_C(100000000000)

/* More than one alarm of those who wait, in ns. */
#define ALARMS_NS 25000000

#define WATCHERS 2

static const struct once_scene *playing;

static uint32_t inside(const struct region *r)
{
	return __atomic_load_n(&r->inside, __ATOMIC_ACQUIRE);
}

/* Two are inside at a time only if the first is dead. */
static void enter(struct region *r)
{
	uint32_t before =
		__atomic_exchange_n(&r->inside, (uint32_t)getpid(), __ATOMIC_ACQ_REL);

	CHECK(!before || before == r->doomed[0] || before == r->doomed[1]);
}

static void leave(struct region *r)
{
	CHECK_EQ(inside(r), getpid());
	__atomic_fetch_add(&r->completed, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&r->inside, 0, __ATOMIC_RELEASE);
}

static int work(void *arg)
{
	enter(arg);
	leave(arg);
	return 0;
}

static int fail(void *arg)
{
	enter(arg);
	leave(arg);
	return -EIO;
}

/* As long as somebody wants it to. */
static int work_long(void *arg)
{
	struct region *r = arg;

	enter(r);
	while (ipcwait_sem_wait(&r->space) == -EINTR)
		continue;
	leave(r);
	return 0;
}

static void run(struct region *r)
{
	r->result = ipcwait_once_run(&r->once,
				     playing->fails     ? fail
				     : playing->watched ? work_long
							: work,
				     r);
}

static void begin_and_end(struct region *r)
{
	struct ipcwait_once own;

	r->result = ipcwait_once_init(&own, 0);
	if (r->result == 0)
		r->result = ipcwait_once_fini(&own);
}

static const struct once_scene scenes[] = {
	{ .base = { .name = "once_run, done", .act = run }, .done = true },
	{ .base = { .name = "once_run, open", .act = run, .asks = true } },
	{ .base = { .name = "once_run, fails", .act = run, .asks = true }, .fails = true },
	{
		.base = { .name = "once_run, others wait",
			  .act = run,
			  .sleeps = true,
			  .asks = true,
			  .skip = 1,
			  .rare = 2 },
		.watched = true,
	},
	{
		.base = { .name = "once_run, another runs it",
			  .act = run,
			  .sleeps = true,
			  .patient = true,
			  .asks = true,
			  .rare = 4 },
		.runner = ONCE_OTHER,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "once_run, runner dead",
			  .act = run,
			  .sleeps = true,
			  .asks = true,
			  .skip = 1,
			  .rare = 16 },
		.runner = ONCE_DEAD,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "once_init, once_fini", .act = begin_and_end },
		.bystands = true,
	},
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

static const struct once_scene *row(const struct stage *st)
{
	return (const struct once_scene *)st->scene;
}

static uint64_t word(const struct stage *st)
{
	return gate_word(&st->r->once.word);
}

static void run_long(struct region *r)
{
	CHECK_EQ(ipcwait_once_run(&r->once, work_long, r), 0);
}

static void visit(struct region *r)
{
	CHECK_EQ(ipcwait_once_run(&r->once, work, r), 0);
}

static void visit_once(struct stage *st)
{
	visit(st->r);
}

/* Whoever runs the function for long comes to its end. */
static void let_end(struct stage *st)
{
	CHECK_EQ(ipcwait_sem_post(&st->r->space), 0);
}

static void die(struct stage *st, pid_t pid)
{
	st->r->doomed[0] = (uint32_t)pid;
	region_kill(pid);
}

static void prepare(struct stage *st)
{
	playing = row(st);
	CHECK_EQ(ipcwait_window_set_preset(&st->r->once.window, playing->preset), 0);
	CHECK_EQ(ipcwait_window_set_preset(&st->r->space.window, IPCWAIT_BLOCK), 0);
	if (playing->runner != ONCE_NOBODY)
		stage_seat(st, run_long);
	if (playing->runner == ONCE_DEAD)
		die(st, st->other[--st->others]);
	if (playing->done)
		stage_call(st, visit_once);
}

/* It sleeps in the function, or beside one who does. Its alarms are no concern of anybody. */
static void meanwhile(struct stage *st)
{
	if (row(st)->runner == ONCE_DEAD)
		return;
	if (row(st)->watched && st->slept == 1)
		for (unsigned i = 0; i < WATCHERS; i++)
			stage_seat(st, visit);
	stage_let_pass(STAGE_LONG_NS);
	if (!st->posted++)
		stage_call(st, let_end);
}

/* No call on a once is allowed there: this one is on something else. */
static void interfere(struct region *r)
{
	CHECK_EQ(ipcwait_sem_post(&r->done), 0);
}

static void witness(struct stage *st)
{
	st->before = word(st);
	st->r->doomed[1] = (uint32_t)st->victim;
}

/* Whoever waits has it done, by the dead or by another; and is told that it is. */
static void end(struct stage *st)
{
	int64_t until_ns = ipcwait_deadline_in_ns(LONG_NS);

	if (row(st)->runner == ONCE_OTHER && !st->posted)
		let_end(st);
	stage_call(st, visit_once);
	while (stage_asleep(st)) {
		CHECK(ipcwait_now_ns() < until_ns);
		stage_let_pass(STAGE_LONG_NS);
	}
	CHECK_EQ(word(st), ONCE_DONE);
	CHECK(st->r->completed);
	CHECK_EQ(inside(st->r), 0);
	CHECK_EQ(ipcwait_once_fini(&st->r->once), 0);
}

static const char *mourn(struct stage *st, enum heal heal)
{
	bool ran = once_runner(st->before) == (uint32_t)st->victim;
	bool done = st->before & ONCE_DONE;

	if (heal == HEAL_BY_LOOK && ran && !st->others)
		CHECK_EQ(ipcwait_once_fini(&st->r->once), -EBUSY);
	end(st);
	return done ? "done" : ran ? "run" : "nothing";
}

/* A stopped one is not dead. */
static void detour(struct stage *st)
{
	unsigned completed = st->r->completed;

	if (once_runner(word(st)) != (uint32_t)st->victim || !st->others)
		return;
	stage_let_pass(ALARMS_NS);
	CHECK_EQ(once_runner(word(st)), st->victim);
	CHECK_EQ(st->r->completed, completed);
}

static void audit(struct stage *st)
{
	unsigned runs = !row(st)->bystands;

	CHECK_EQ(st->r->result, row(st)->fails ? -EIO : 0);
	CHECK_EQ(st->r->completed, runs);
	if (!row(st)->bystands && !row(st)->fails)
		CHECK_EQ(word(st), ONCE_DONE);
	if (row(st)->watched)
		CHECK_EQ(stage_asleep(st), 0);
	end(st);
	CHECK_EQ(st->r->completed, row(st)->fails || row(st)->bystands ? runs + 1 : runs);
}

const struct suspect once_suspect = {
	.name = "once",
	.scene = scene,
	.prepare = prepare,
	.meanwhile = meanwhile,
	.interfere = interfere,
	.witness = witness,
	.mourn = mourn,
	.detour = detour,
	.audit = audit,
};
