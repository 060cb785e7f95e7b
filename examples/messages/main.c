/* SPDX-License-Identifier: MIT */
/*
 * Message passing: a client puts a request into a mailbox and waits for the answer, a server waits
 * for requests and answers each. The workload of D. Matlack, "Message Passing Workloads in KVM",
 * KVM Forum 2015: each message ends a short wait, and each wait that sleeps halts a virtual CPU.
 *
 *	messages [COUNT [GAP_US]]
 *
 * The client leaves GAP_US between an answer and the next request. Runs the same with
 * libipcwait's mutex and condition variables and with the C library's, by turns, and says what a
 * round trip took, in time and in CPU time.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <ipcwait/ipcwait.h>

#define ROUNDS 5

enum { REQUEST, ANSWER, BOXES };

/* One message in each direction, under one lock. */
struct mail {
	bool ours; /* whose objects are used */
	struct ipcwait_mutex lock;
	struct ipcwait_cond arrived[BOXES];
	pthread_mutex_t c_lock;
	pthread_cond_t c_arrived[BOXES];
	uint64_t message[BOXES]; /* 0: empty */
};

static unsigned long count = 20000, gap_us;
static double trip_us[2]; /* of all round trips: glibc's, ours */

static void lock(struct mail *m)
{
	if (!m->ours)
		pthread_mutex_lock(&m->c_lock);
	else
		ipcwait_mutex_lock(&m->lock);
}

static void unlock(struct mail *m)
{
	if (m->ours)
		ipcwait_mutex_unlock(&m->lock);
	else
		pthread_mutex_unlock(&m->c_lock);
}

static void send(struct mail *m, int box, uint64_t message)
{
	lock(m);
	m->message[box] = message;
	if (m->ours)
		ipcwait_cond_signal(&m->arrived[box]);
	else
		pthread_cond_signal(&m->c_arrived[box]);
	unlock(m);
}

static uint64_t receive(struct mail *m, int box)
{
	uint64_t message;

	lock(m);
	while (!m->message[box]) {
		if (!m->ours)
			pthread_cond_wait(&m->c_arrived[box], &m->c_lock);
		else
			ipcwait_cond_wait(&m->arrived[box], &m->lock);
	}
	message = m->message[box];
	m->message[box] = 0;
	unlock(m);
	return message;
}

static void *serve(void *arg)
{
	for (unsigned long i = 0; i < count; i++)
		send(arg, ANSWER, receive(arg, REQUEST) + 1);
	return NULL;
}

/* Returns the sum of all round trips, in ns. */
static int64_t ask(struct mail *m)
{
	int64_t sum_ns = 0;

	for (uint64_t i = 1; i <= count; i++) {
		int64_t begin_ns = ipcwait_now_ns();

		send(m, REQUEST, i);
		if (receive(m, ANSWER) != i + 1)
			abort();
		sum_ns += ipcwait_now_ns() - begin_ns;
		begin_ns = ipcwait_now_ns();
		while (ipcwait_now_ns() < begin_ns + (int64_t)gap_us * 1000)
			continue;
	}
	return sum_ns;
}

static double cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void measure(bool ours)
{
	struct mail m = {
		.ours = ours,
		.c_lock = PTHREAD_MUTEX_INITIALIZER,
		.c_arrived = { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER },
	};
	double cpu = cpu_us();
	int64_t sum_ns;
	pthread_t server;

	if (pthread_create(&server, NULL, serve, &m))
		abort();
	sum_ns = ask(&m);
	pthread_join(server, NULL);
	printf("%-10s %10.2f us a round trip, %10.2f us of CPU time (gaps included)\n",
	       ours ? "libipcwait" : "glibc", (double)sum_ns / 1e3 / (double)count,
	       (cpu_us() - cpu) / (double)count);
	trip_us[ours] += (double)sum_ns / 1e3;
}

static _Noreturn void usage(int status)
{
	fputs("usage: messages [COUNT [GAP_US]], up to 100000000 and 1000000\n",
	      status ? stderr : stdout);
	exit(status);
}

static unsigned long number(const char *text, unsigned long least, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && n >= least && n <= most)
		return n;
	usage(2);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--help"))
		usage(0);
	if (argc > 1)
		count = number(argv[1], 1, 100000000);
	if (argc > 2)
		gap_us = number(argv[2], 0, 1000000);
	for (int i = 0; i < ROUNDS; i++) {
		measure(i % 2);
		measure(!(i % 2));
	}
	printf("with libipcwait a round trip is %.1f times as fast\n",
	       trip_us[false] / trip_us[true]);
	return 0;
}
