/* SPDX-License-Identifier: MIT */
/*
 * channel_test: the seed's Go programs server and serverchannel, the pipeline seda, and a number
 * that goes back and forth, in C over channels of libipcwait and of others. The total is printed;
 * whoever started the program checks it.
 */
#include "channel.h"
#include "figures.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <fcntl.h>
#include <ipcwait/stats.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

const char program_name[] = "channel_test";

#define WORKERS 50
#define STAGES  4
#define RECORD  30 /* bytes of a write */

#ifndef HAVE_TBB
const struct channel_ops channel_tbb = {
	.name = "tbb",
	.missing = "not built: libtbb-dev",
};
#endif

static const struct channel_ops *const channels[] = {
	&channel_ipcwait, &channel_ipcwait_rendezvous,
	&channel_futex,   &channel_futex_yields,
	&channel_glibc,   &channel_tbb
};

#define N_CHANNELS (sizeof(channels) / sizeof(channels[0]))

struct worker {
	const struct channel_ops *ops;
	void *in, *out;
	int64_t rounds;
	int null_device; /* -1: do not write */
	int64_t spin;
};

/* @a is added to itself for ten times @a. Volatile, or the compiler would multiply. */
static int64_t spin(int64_t a)
{
	volatile int64_t step = a;
	int64_t sum = 0;

	for (int64_t i = 0; i < a * 10; i++)
		sum += step;
	return sum;
}

static int64_t write_record(int null_device)
{
	static const char record[RECORD + 1] = "a record of thirty characters.";

	if (null_device < 0)
		return RECORD;
	return write(null_device, record, RECORD);
}

/* Products and sums wrap, as in Go; signed ones may not in C. */
static int64_t wrap_mul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void *answer(void *arg)
{
	const struct worker *w = arg;

	for (int64_t n = 0; n < w->rounds; n++) {
		int64_t i = w->ops->receive(w->in);
		int64_t bytes = write_record(w->null_device);

		w->ops->send(w->out, wrap_mul(wrap_mul(i, 2 * bytes), spin(w->spin)));
	}
	return NULL;
}

/* A stage hands on what it got and what its own work came to. */
static void *pass_on(void *arg)
{
	const struct worker *w = arg;

	for (int64_t n = 0; n < w->rounds; n++) {
		int64_t i = w->ops->receive(w->in);
		int64_t bytes = write_record(w->null_device);

		w->ops->send(w->out, wrap_add(i, wrap_mul(bytes, spin(w->spin))));
	}
	return NULL;
}

static int64_t serve(struct worker *workers, unsigned n, int64_t rounds, int null_device)
{
	int64_t total = 0;

	for (int64_t i = 0; i < rounds; i++) {
		for (unsigned k = 0; k < n; k++)
			workers[k].ops->send(workers[k].in, i);
		for (unsigned k = 0; k < n && null_device >= 0; k++)
			write_record(null_device);
		for (unsigned k = 0; k < n; k++)
			total = wrap_add(total, workers[k].ops->receive(workers[k].out));
	}
	return total;
}

static void *feed(void *arg)
{
	const struct worker *first = arg;

	for (int64_t i = 0; i < first->rounds; i++)
		first->ops->send(first->in, i);
	return NULL;
}

static int64_t drain(const struct worker *last)
{
	int64_t total = 0;

	for (int64_t i = 0; i < last->rounds; i++)
		total = wrap_add(total, last->ops->receive(last->out));
	return total;
}

struct test {
	const char *name;
	unsigned workers;
	int64_t spin; /* the work of each */
	bool chain, writes;
	uint64_t messages; /* per round */
};

static const struct test tests[] = {
	{ "server", WORKERS, 100, false, true, 2 * WORKERS },
	{ "serverchannel", WORKERS, 100, false, false, 2 * WORKERS },
	{ "seda", STAGES, 1000, true, true, STAGES + 1 },
	{ "pingpong", 1, 1, false, false, 2 },
};

#define N_TESTS (sizeof(tests) / sizeof(tests[0]))

static void *new_channel(const struct channel_ops *ops)
{
	void *channel = ops->create();

	if (!channel)
		give_up("no memory");
	return channel;
}

static void make_workers(const struct test *t, struct worker *workers)
{
	const struct channel_ops *ops = workers[0].ops;
	struct worker all = workers[0];

	for (unsigned k = 0; k < t->workers; k++) {
		workers[k] = all;
		workers[k].in = t->chain && k ? workers[k - 1].out : new_channel(ops);
		workers[k].out = new_channel(ops);
		workers[k].spin = t->spin;
	}
}

static void start(pthread_t *thread, void *(*body)(void *), struct worker *w)
{
	if (pthread_create(thread, NULL, body, w))
		give_up("cannot make a thread");
}

static int64_t run_workers(const struct test *t, struct worker *workers)
{
	pthread_t threads[WORKERS], feeder;
	int64_t total;

	for (unsigned k = 0; k < t->workers; k++)
		start(&threads[k], t->chain ? pass_on : answer, &workers[k]);
	if (t->chain) {
		start(&feeder, feed, &workers[0]);
		total = drain(&workers[t->workers - 1]);
		pthread_join(feeder, NULL);
	} else {
		total = serve(workers, t->workers, workers[0].rounds,
			      workers[0].null_device);
	}
	for (unsigned k = 0; k < t->workers; k++)
		pthread_join(threads[k], NULL);
	return total;
}

static void give_back(const struct test *t, struct worker *workers)
{
	for (unsigned k = 0; k < t->workers; k++) {
		if (!t->chain || !k)
			workers[k].ops->destroy(workers[k].in);
		workers[k].ops->destroy(workers[k].out);
	}
}

/* Of the process, which waits for nothing but channels. */
static void report_futex_calls(struct json *j)
{
	struct ipcwait_stats st;
	uint64_t calls = 0;

	if (ipcwait_stats_get(&st, sizeof(st)) <= 0)
		give_up("no counters");
	for (unsigned i = 0; i < IPCWAIT_KIND_COUNT; i++)
		calls += st.kind[i].futex_waits + st.kind[i].futex_wakes;
	json_whole(j, "futex_calls", calls);
}

static int run(const struct test *t, struct worker *workers)
{
	struct figures f;
	struct json j;
	int64_t total;
	char text[24];

	workers[0].null_device = t->writes ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
	if (t->writes && workers[0].null_device < 0) {
		complain("cannot open the null device");
		return 1;
	}
	make_workers(t, workers);
	figures_begin(&f);
	total = run_workers(t, workers);
	j = json_begin(stdout);
	figures_end(&f, &j);
	/* As text: most readers of JSON would make a fraction of it. */
	snprintf(text, sizeof(text), "%lld", (long long)total);
	json_text(&j, "total", text);
	json_whole(&j, "messages", t->messages * (uint64_t)workers[0].rounds);
	if (workers[0].ops == &channel_ipcwait ||
	    workers[0].ops == &channel_ipcwait_rendezvous)
		report_futex_calls(&j);
	json_end(&j);
	give_back(t, workers);
	if (t->writes)
		close(workers[0].null_device);
	return 0;
}

static int list(void)
{
	for (unsigned i = 0; i < N_CHANNELS; i++)
		printf("%s\t%s\n", channels[i]->name,
		       channels[i]->missing ? channels[i]->missing : "");
	return 0;
}

static int find(char **argv, const struct test **t, const struct channel_ops **ops)
{
	*t = NULL;
	*ops = NULL;
	for (unsigned i = 0; i < N_TESTS; i++)
		if (!strcmp(argv[1], tests[i].name))
			*t = &tests[i];
	for (unsigned i = 0; i < N_CHANNELS; i++)
		if (!strcmp(argv[2], channels[i]->name))
			*ops = channels[i];
	if (!*t)
		return complain("no test '%s': server, serverchannel, seda or pingpong",
				shown(argv[1], 40));
	if (!*ops)
		return complain("no channel '%s', see --list", shown(argv[2], 40));
	if ((*ops)->missing)
		return complain("%s: %s", (*ops)->name, (*ops)->missing);
	return 0;
}

int main(int argc, char **argv)
{
	static struct worker workers[WORKERS];
	const struct test *t;
	uint64_t rounds;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	if (argc != 4) {
		complain("want TEST CHANNEL ROUNDS, or --list");
		return 2;
	}
	if (find(argv, &t, &workers[0].ops))
		return 2;
	if (number_parse(argv[3], 1, 100000000, &rounds)) {
		complain("ROUNDS: want 1 to 100000000, not '%s'", shown(argv[3], 40));
		return 2;
	}
	workers[0].rounds = (int64_t)rounds;
	return run(t, workers);
}
