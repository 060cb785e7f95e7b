/* SPDX-License-Identifier: MIT */
/*
 * What does a message cost that somebody waits for?
 *
 * The channels have room for one number, or for none where the name says so; senders wait for the
 * room and receivers for the number.
 *
 * op:pingpong: a number goes there and another comes back, by two channels. One operation is
 * one message; "latency" is half a round trip.
 *
 * op:stream: one thread sends, another receives. One operation is one message.
 *
 * No thread is pinned. Not measured: more senders or receivers, choosing between channels. The
 * channels of Go are in the scoreboard, in programs of their own.
 */
#include "crew.h"
#include "impls.h"
#include "meter.h"
#include "questions.h"
#include "../common/clock.h"
#include "../seed/channel.h"

#include <stdlib.h>

#define WARM_MOST 1000

#ifndef HAVE_CHANNEL_TBB
static const struct channel_ops no_tbb = { .name = "tbb",
					   .missing = "not built: libtbb-dev" };
#define channel_tbb no_tbb
#endif

static const struct channel_ops *const channels[] = {
	&channel_ipcwait,
	&channel_ipcwait_rendezvous,
	&channel_glibc,
	&channel_tbb,
};

struct scene {
	const struct channel_ops *ops;
	void *there, *back;
	struct meter meter;
	int64_t warm, total; /* messages there */
	bool right;          /* what came is what was sent */
	struct histogram latency;
};

/* In the place of a message, after the last or when it is given up: the other has no clock. */
#define NO_MORE (-1)

static void ask(struct scene *s, const struct crew *crew)
{
	int64_t begin = 0;

	for (int64_t i = 0; i < s->total && !crew_is_late(crew); i++) {
		int64_t now;

		if (i == s->warm) {
			meter_begin(&s->meter);
			begin = clock_now_ns();
		}
		s->ops->send(s->there, i);
		s->right &= s->ops->receive(s->back) == i + 1;
		if (i < s->warm)
			continue;
		now = clock_now_ns();
		histogram_add(&s->latency, (uint64_t)(now - begin) / 2);
		begin = now;
	}
	if (!crew_is_late(crew))
		meter_end(&s->meter);
	s->ops->send(s->there, NO_MORE);
}

static void answer(struct scene *s)
{
	int64_t value;

	while ((value = s->ops->receive(s->there)) != NO_MORE)
		s->ops->send(s->back, value + 1);
}

static void ping_pong(struct crew *crew, unsigned self, void *arg)
{
	if (self)
		answer(arg);
	else
		ask(arg, crew);
}

static void send_all(struct scene *s, const struct crew *crew)
{
	for (int64_t i = 0; i < s->total && !crew_is_late(crew); i++)
		s->ops->send(s->there, i);
	s->ops->send(s->there, NO_MORE);
}

static void receive_all(struct scene *s)
{
	int64_t value, i = 0;

	for (;;) {
		if (i == s->warm)
			meter_begin(&s->meter);
		value = s->ops->receive(s->there);
		if (value == NO_MORE)
			return;
		s->right &= value == i;
		if (++i == s->total)
			meter_end(&s->meter);
	}
}

static void stream(struct crew *crew, unsigned self, void *arg)
{
	if (self)
		send_all(arg, crew);
	else
		receive_all(arg);
}

static void run_scene(struct scene *s, crew_fn *fn)
{
	struct bench_run *run = s->meter.run;

	s->there = s->ops->create();
	s->back = s->ops->create();
	if (s->there && s->back) {
		if (!crew_run(2, fn, s))
			bench_skip(run, "%s", crew_late());
		else if (!s->right)
			bench_skip(run,
				   "failed: a message was lost, changed or came twice");
		else
			bench_latency(run, "latency", &s->latency);
	} else {
		bench_skip(run, "failed: no memory");
	}
	if (s->there)
		s->ops->destroy(s->there);
	if (s->back)
		s->ops->destroy(s->back);
}

static void pass_messages(struct bench_run *run, const struct channel_ops *ops,
			  unsigned per_trip, crew_fn *fn)
{
	struct scene *s;
	int64_t n;

	if (is_missing(run, ops->missing))
		return;
	s = zeroes(1, sizeof(*s));
	n = ((int64_t)bench_operations(run) + per_trip - 1) / per_trip;
	s->ops = ops;
	s->meter.run = run;
	s->meter.ops = (double)(n * per_trip);
	s->warm = n / 10 + 1 < WARM_MOST ? n / 10 + 1 : WARM_MOST;
	s->total = s->warm + n;
	s->right = true;
	run_scene(s, fn);
	free(s);
}

static void time_ping_pong(struct bench_run *run, const void *arg)
{
	pass_messages(run, arg, 2, ping_pong);
}

static void time_stream(struct bench_run *run, const void *arg)
{
	pass_messages(run, arg, 1, stream);
}

void add_channel(void)
{
	for (unsigned i = 0; i < sizeof(channels) / sizeof(*channels); i++) {
		bench_add(time_ping_pong, channels[i], "channel/op:pingpong/impl:%s",
			  channels[i]->name);
		bench_add(time_stream, channels[i], "channel/op:stream/impl:%s",
			  channels[i]->name);
	}
}
