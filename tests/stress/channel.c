/* SPDX-License-Identifier: MIT */
/*
 * Channels, up to three at a time, between threads that send, that receive and that do both, by
 * every call and by selects over all of them, with signals for all threads. Each channel is closed
 * in the middle of it: each element that was sent comes out once, whole, behind those that its
 * sender sent before, or is there in the end. No signal ends a wait.
 *
 *	channel_stress SECONDS
 *
 * IW_STRESS_SECONDS and IW_TEST_SEED in the environment: as for sem_stress.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "rounds.h"

#define CHANNELS    3
#define THREADS_MAX 7
#define CASES       (2 * CHANNELS)
#define BATCH       20
#define NUMBERS     3  /* in an element, at most */
#define WATCH       30 /* seconds, for one set of channels */

struct channel {
	struct ipcwait_channel *ch;
	uint64_t enough; /* elements, before it is closed */
	uint64_t last[THREADS_MAX];
	_Atomic uint64_t in, out, sum;
	_Atomic bool closing, closed;
};

/* A thread; bit i of a mask stands for channel i, while that is not over. */
struct worker {
	pthread_t thread;
	uint64_t me, seed;
	uint64_t next; /* number of its next element */
	unsigned sends, receives;
	uint64_t last[CHANNELS][THREADS_MAX]; /* that it has received, of each sender */
};

static struct {
	struct channel channel[CHANNELS];
	struct worker worker[THREADS_MAX];
	unsigned channels, workers;
	size_t numbers;   /* in an element, all the same */
	bool patient;     /* no wait has a deadline, if it can */
	bool leaves_some; /* receivers end with the close */
	bool quiet;       /* no signals: one would hide that a wake-up was lost */
	_Atomic unsigned ended;
} world;

/* Of whom, to where, and which. */
static void fill(uint64_t *elem, const struct worker *w, unsigned to, uint64_t number)
{
	for (size_t i = 0; i < world.numbers; i++)
		elem[i] = w->me << 40 | (uint64_t)to << 36 | number;
}

static void note_sent(struct worker *w, unsigned to, uint64_t n)
{
	struct channel *c = &world.channel[to];
	uint64_t elem[NUMBERS];

	for (; n; n--) {
		fill(elem, w, to, w->next++);
		c->sum += elem[0];
		c->in++;
	}
}

static void note(const uint64_t *elem, unsigned from, uint64_t *last)
{
	uint64_t sender = elem[0] >> 40;

	for (size_t i = 1; i < world.numbers; i++)
		CHECK_EQ(elem[i], elem[0]);
	CHECK_EQ(elem[0] >> 36 & 15, from);
	CHECK(sender < world.workers);
	CHECK(last[sender] < elem[0]);
	last[sender] = elem[0];
	world.channel[from].sum -= elem[0];
	world.channel[from].out++;
}

/*
 * Who waits for one channel of several may wait for ever, with all others: then only selects do so.
 */
static int64_t patience(unsigned channels, uint64_t random)
{
	if (channels == world.channels && (world.patient || random % 4 == 0))
		return IPCWAIT_FOREVER;
	return random % 4 == 1 ? 0 : ipcwait_deadline_in_ns((int64_t)(random >> 47));
}

/* Anything else, -EINTR above all, is an error of the channel. */
static void check_result(const struct channel *c, int64_t r, int64_t until, bool tries)
{
	CHECK(r > 0 || r == -EPIPE || r == -ETIMEDOUT || r == -EAGAIN);
	CHECK(r != -EAGAIN || tries);
	CHECK(r != -ETIMEDOUT || (!tries && ipcwait_now_ns() >= until));
	CHECK(r != -EPIPE || c->closing);
}

static void send(struct worker *w, unsigned to, uint64_t random)
{
	struct channel *c = &world.channel[to];
	uint64_t elems[BATCH * NUMBERS], n = 1 + (random >> 8) % BATCH;
	int64_t until = patience(1, random >> 16), r;
	bool too_late = c->closed;
	unsigned how = until == IPCWAIT_FOREVER ? random % 3 : 1 + random % 3;

	for (uint64_t i = 0; i < n; i++)
		fill(elems + i * world.numbers, w, to, w->next + i);
	if (how == 0)
		r = ipcwait_channel_send(c->ch, elems);
	else if (how == 1)
		r = ipcwait_channel_send_until(c->ch, elems, until);
	else if (how == 2)
		r = ipcwait_channel_send_n(c->ch, elems, n, until);
	else
		r = ipcwait_channel_trysend(c->ch, elems);
	r += r == 0;
	check_result(c, r, until, how == 3);
	CHECK(!too_late || r == -EPIPE);
	if (r > 0)
		note_sent(w, to, (uint64_t)r);
	else if (r == -EPIPE)
		w->sends &= ~(1u << to);
}

static void receive(struct worker *w, unsigned from, uint64_t random)
{
	struct channel *c = &world.channel[from];
	uint64_t elems[BATCH * NUMBERS], n = 1 + (random >> 8) % BATCH;
	int64_t until = patience(1, random >> 16), r;
	unsigned how = until == IPCWAIT_FOREVER ? random % 3 : 1 + random % 3;

	if (how == 0)
		r = ipcwait_channel_recv(c->ch, elems);
	else if (how == 1)
		r = ipcwait_channel_recv_until(c->ch, elems, until);
	else if (how == 2)
		r = ipcwait_channel_recv_n(c->ch, elems, n, until);
	else
		r = ipcwait_channel_tryrecv(c->ch, elems);
	r += r == 0;
	check_result(c, r, until, how == 3);
	for (int64_t i = 0; i < r; i++)
		note(elems + (uint64_t)i * world.numbers, from, w->last[from]);
	if (r == -EPIPE)
		w->receives &= ~(1u << from);
}

/* Case @i of a select is for channel i / 2. Those that are over have none. */
static void prepare(const struct worker *w, struct ipcwait_channel_case *cases,
		    uint64_t elem[][NUMBERS])
{
	for (unsigned i = 0; i < 2 * world.channels; i++) {
		bool sends = i % 2;
		unsigned mask = sends ? w->sends : w->receives;

		memset(elem[i], 0, sizeof(elem[i]));
		if (sends)
			fill(elem[i], w, i / 2, w->next);
		cases[i].channel = mask >> i / 2 & 1 ? world.channel[i / 2].ch : NULL;
		cases[i].op = sends ? IPCWAIT_CHANNEL_SEND : IPCWAIT_CHANNEL_RECV;
		cases[i].elem = elem[i];
	}
}

static void note_case(struct worker *w, const struct ipcwait_channel_case *c, unsigned i)
{
	bool sends = i % 2;

	CHECK(c->channel);
	if (c->result == -EPIPE) {
		CHECK(world.channel[i / 2].closing);
		*(sends ? &w->sends : &w->receives) &= ~(1u << i / 2);
		return;
	}
	CHECK_EQ(c->result, 0);
	if (sends)
		note_sent(w, i / 2, 1);
	else
		note(c->elem, i / 2, w->last[i / 2]);
}

/* A deadline of 0 is a default case. */
static void select_any(struct worker *w, uint64_t random)
{
	struct ipcwait_channel_case cases[CASES] = { { .channel = NULL } };
	uint64_t elem[CASES][NUMBERS];
	int64_t until = patience(world.channels, random);
	int r;

	prepare(w, cases, elem);
	r = ipcwait_channel_select(cases, 2 * world.channels, until);
	CHECK(r == -ETIMEDOUT || (r >= 0 && r < (int)(2 * world.channels)));
	CHECK(r != -ETIMEDOUT || ipcwait_now_ns() >= until);
	/* No other was done. */
	for (int i = 0; i < (int)(2 * world.channels); i += 2)
		CHECK(i == r || elem[i][0] == 0);
	if (r >= 0)
		note_case(w, &cases[r], (unsigned)r);
}

/* Until there is something in one of those that are not over, which another may take first. */
static void wait_any(const struct worker *w, uint64_t random)
{
	struct ipcwait_waitable set[CHANNELS];
	unsigned n = 0;
	int r;

	for (unsigned i = 0; i < world.channels; i++)
		if (w->receives >> i & 1)
			set[n++] = (struct ipcwait_waitable){
				.type = IPCWAIT_WAITABLE_CHANNEL,
				.object = world.channel[i].ch,
			};
	r = ipcwait_wait_any(set, n, patience(world.channels, random), NULL);
	CHECK((r >= 0 && r < (int)n) || r == -ETIMEDOUT);
}

static void leave_closed(struct worker *w)
{
	for (unsigned i = 0; i < world.channels; i++)
		if (world.channel[i].closing)
			w->receives &= ~(1u << i);
}

static void *work(void *arg)
{
	static const struct timespec nap = { 0, 50000 };
	struct worker *w = arg;

	while (w->sends | w->receives) {
		uint64_t random = check_random(&w->seed), detail = check_random(&w->seed);
		unsigned i = random % world.channels;

		if (random >> 58 == 0)
			(void)nanosleep(&nap, NULL);
		if (random >> 4 & 1)
			select_any(w, detail);
		else if (w->sends >> i & 1 && random >> 5 & 1)
			send(w, i, detail);
		else if (w->receives && random >> 6 & 1 && !w->sends)
			wait_any(w, detail);
		else if (w->receives >> i & 1)
			receive(w, i, detail);
		if (world.leaves_some)
			leave_closed(w);
	}
	world.ended++;
	return NULL;
}

/* Closes the channels, each in its time, and interrupts everybody until all are done. */
static void watch(uint64_t *seed)
{
	const struct timespec nap = { 0, 100000 };

	while (world.ended < world.workers) {
		pthread_t thread = world.worker[check_random(seed) % world.workers].thread;

		if (!world.quiet)
			CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
		(void)nanosleep(&nap, NULL);
		for (unsigned i = 0; i < world.channels; i++) {
			struct channel *c = &world.channel[i];

			if (c->closing || c->in < c->enough)
				continue;
			c->closing = true;
			CHECK_EQ(ipcwait_channel_close(c->ch), 0);
			c->closed = true;
		}
	}
}

static void note_left(void *elem, void *arg)
{
	struct channel *c = arg;

	CHECK(world.leaves_some);
	note(elem, (unsigned)(c - world.channel), c->last);
}

static void make_channel(struct channel *c, uint64_t random)
{
	static const uint64_t capacities[] = { 0, 1, 2, 7, 64 };
	struct ipcwait_channel_params params = {
		.elem_size = world.numbers * sizeof(uint64_t),
		.capacity = capacities[random % 5],
		.elem_fini = note_left,
		.elem_fini_arg = c,
	};

	memset(c, 0, sizeof(*c));
	/* As often a few as many, up to 1024. */
	c->enough = 1 + (random >> 8) % (UINT64_C(1) << (random >> 32) % 11);
	CHECK((c->ch = ipcwait_channel_create(&params)) != NULL);
}

/*
 * The first sends, the second receives, neither does the other: who waits for ever is waited for.
 */
static void make_workers(uint64_t random)
{
	unsigned all = (1u << world.channels) - 1;

	world.workers = 2 + (random >> 24) % (THREADS_MAX - 1);
	for (unsigned i = 0; i < world.workers; i++) {
		unsigned roles = i < 2 ? 1u << i : 1 + (random >> (32 + 4 * i)) % 3;

		world.worker[i] = (struct worker){
			.me = i,
			.seed = random + i,
			.next = 1,
			.sends = roles & 1 ? all : 0,
			.receives = roles & 2 ? all : 0,
		};
	}
}

static void destroy(struct channel *c, unsigned index)
{
	/* What is left is newer than all that anybody has received. */
	for (unsigned i = 0; i < world.workers; i++)
		for (unsigned from = 0; from < world.workers; from++)
			if (c->last[from] < world.worker[i].last[index][from])
				c->last[from] = world.worker[i].last[index][from];
	ipcwait_channel_destroy(c->ch);
	CHECK_EQ(c->out, c->in);
	CHECK_EQ(c->sum, 0);
}

static uint64_t run(uint64_t *seed)
{
	uint64_t random = check_random(seed), elements = 0;

	check_watchdog(WATCH);
	world.channels = random >> 8 & 1 ? 1 : 2 + (random >> 9 & 1);
	world.numbers = 1 + (random >> 12) % NUMBERS;
	world.patient = random >> 16 & 1;
	world.leaves_some = (random >> 17) % 4 == 0;
	world.quiet = random >> 19 & 1;
	world.ended = 0;
	for (unsigned i = 0; i < world.channels; i++)
		make_channel(&world.channel[i], check_random(seed));
	make_workers(random);
	for (unsigned i = 0; i < world.workers; i++)
		CHECK_EQ(pthread_create(&world.worker[i].thread, NULL, work,
					&world.worker[i]),
			 0);
	watch(seed);
	for (unsigned i = 0; i < world.workers; i++)
		CHECK_EQ(pthread_join(world.worker[i].thread, NULL), 0);
	for (unsigned i = 0; i < world.channels; i++) {
		destroy(&world.channel[i], i);
		elements += world.channel[i].out;
	}
	return elements;
}

int main(int argc, char **argv)
{
	return stress_rounds(argc, argv, "sets of channels", run);
}
