/* SPDX-License-Identifier: MIT */
/*
 * Every call of <ipcwait/futex.h>. The word says whether there is something to go on for; the
 * library leaves nothing behind but the sleep itself, which the kernel ends with the process.
 */
#include <errno.h>

#include "common/check.h"
#include "stage.h"

struct futex_scene {
	struct scene base;
	unsigned sleepers; /* beside the victim */
	uint32_t word;     /* before the call */
	bool waker;        /* the call changes the word and wakes one */
	bool expires;      /* the call ends by itself */
	bool unchanged;    /* a wake ends it, and the word stays as it is */
	enum ipcwait_preset preset;
};

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void change(struct region *r)
{
	__atomic_store_n(&r->word, 1, __ATOMIC_RELEASE);
}

static void change_and_wake_one(struct region *r)
{
	ipcwait_window_stamp(&r->window);
	change(r);
	r->result = ipcwait_futex_wake(&r->word, 1, 0);
}

static void wait_for_change(struct region *r)
{
	r->result = ipcwait_futex_wait(&r->word, 0, IPCWAIT_FOREVER, &r->window, 0);
}

static void wait_without_window(struct region *r)
{
	r->result = ipcwait_futex_wait(&r->word, 0, IPCWAIT_FOREVER, NULL, 0);
}

static void wait_until(struct region *r)
{
	r->result = ipcwait_futex_wait(&r->word, 0, ipcwait_deadline_in_ns(r->patience_ns),
				       &r->window, 0);
}

static const struct futex_scene scenes[] = {
	{
		.base = { .name = "futex_wake, nobody", .act = change_and_wake_one },
		.waker = true,
	},
	{
		.base = { .name = "futex_wake, two asleep", .act = change_and_wake_one },
		.sleepers = 2,
		.waker = true,
	},
	{
		.base = { .name = "futex_wait, word differs",
			  .act = wait_for_change,
			  .sleeps = true },
		.word = 1,
	},
	{
		.base = { .name = "futex_wait, woken",
			  .act = wait_for_change,
			  .sleeps = true },
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "futex_wait, woken, word as before",
			  .act = wait_for_change,
			  .sleeps = true },
		.unchanged = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "futex_wait, beside a sleeper",
			  .act = wait_for_change,
			  .sleeps = true },
		.sleepers = 1,
	},
	{
		.base = { .name = "futex_wait, no window",
			  .act = wait_without_window,
			  .sleeps = true },
	},
	{
		.base = { .name = "futex_wait, expires",
			  .act = wait_until,
			  .sleeps = true },
		.expires = true,
		.preset = IPCWAIT_BLOCK,
	},
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

static const struct futex_scene *row(const struct stage *st)
{
	return (const struct futex_scene *)st->scene;
}

/* A handler's wake may send it around just as the word changes. */
static void await_change(struct region *r)
{
	while (load(&r->word) == 0) {
		int result =
			ipcwait_futex_wait(&r->word, 0, IPCWAIT_FOREVER, &r->window, 0);

		CHECK(result == 0 || (result == -EAGAIN && load(&r->word)));
	}
}

static void prepare(struct stage *st)
{
	st->r->word = row(st)->word;
	for (unsigned i = 0; i < row(st)->sleepers; i++)
		stage_seat(st, await_change);
	CHECK_EQ(ipcwait_window_set_preset(&st->r->window, row(st)->preset), 0);
}

static void wake_all(struct stage *st)
{
	unsigned asleep = stage_asleep(st);

	CHECK_EQ(ipcwait_futex_wake(&st->r->word, UINT32_MAX, 0), 1 + asleep);
}

static void wake_one(struct stage *st)
{
	CHECK_EQ(ipcwait_futex_wake(&st->r->word, 1, 0), 1);
}

/* Everybody who sleeps is reached by one wake, and the victim sleeps once. */
static void meanwhile(struct stage *st)
{
	CHECK_EQ(load(&st->r->word), 0);
	if (row(st)->expires)
		return;
	CHECK_EQ(st->slept, 1);
	stage_let_pass(STAGE_LONG_NS);
	if (!row(st)->unchanged)
		change(st->r);
	stage_call(st, wake_all);
}

static void interfere(struct region *r)
{
	change(r);
	CHECK(ipcwait_futex_wake(&r->word, UINT32_MAX, 0) >= 0);
	r->handler_woke++;
}

/* The word has changed, and it is known whom the wake has reached: the others go on. */
static void wake_the_rest(struct stage *st)
{
	unsigned asleep = stage_asleep(st);

	change(st->r);
	for (unsigned i = 0; i < asleep; i++) {
		stage_call(st, wake_one);
		CHECK_EQ(stage_asleep(st), asleep - i - 1);
	}
	CHECK_EQ(ipcwait_futex_wake(&st->r->word, UINT32_MAX, 0), 0);
}

/* A dead waiter takes no wake from the others; a dead waker has woken one, or nobody. */
static const char *mourn(struct stage *st, enum heal heal)
{
	unsigned asleep = stage_asleep(st), woken = st->others - asleep;
	const char *left = "nothing";

	if (row(st)->waker && load(&st->r->word))
		left = st->wake_pending ? "word + wake owed" : "word + wake";
	if (row(st)->waker)
		CHECK_EQ(woken, st->wake_pending || !row(st)->sleepers ? 0 : 1);
	else
		CHECK_EQ(woken, load(&st->r->word) ? row(st)->sleepers : 0);
	if (heal == HEAL_BY_LOOK && !load(&st->r->word))
		stage_seat(st, await_change);
	wake_the_rest(st);
	return left;
}

/* A waiter looks at the word before it reports a signal, but for one without a window. */
static bool may_result(const struct stage *st, int result)
{
	const struct region *r = st->r;

	if (row(st)->waker)
		return result == (row(st)->sleepers != 0) ||
		       (result == 0 && r->handler_woke);
	if (result == -EAGAIN)
		return row(st)->word || r->handler_woke;
	if (result == -EINTR)
		return st->asleep &&
		       (!load(&r->word) || st->scene->act == wait_without_window);
	return result == 0 || (row(st)->expires && result == -ETIMEDOUT);
}

static void audit(struct stage *st)
{
	CHECK(may_result(st, st->r->result));
	if (st->r->handler_woke)
		CHECK_EQ(stage_asleep(st), 0);
	wake_the_rest(st);
}

const struct suspect futex_suspect = {
	.name = "futex",
	.scene = scene,
	.prepare = prepare,
	.meanwhile = meanwhile,
	.interfere = interfere,
	.mourn = mourn,
	.audit = audit,
};
