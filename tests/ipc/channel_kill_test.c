/* SPDX-License-Identifier: MIT */
/*
 * channel_kill_test CAPACITY KILLS: senders and receivers of a channel between processes are killed
 * at random moments, and others come in their place. IW_STRESS_SECONDS in the environment: a
 * thousand at least, and as many as happen in that time.
 *
 * Every message has a number of its own. Of what a sender was told that it was sent, all is
 * received, but for one message for each receiver that was killed; nothing is received twice, or
 * out of order for one sender and one receiver, or damaged, or without having been sent. The
 * living go on.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "process.h"

#define SENDERS   3
#define RECEIVERS 3
#define WORKERS   (SENDERS + RECEIVERS)

/* Processes of a run, and messages of each; who has sent so many waits to be killed. */
#define LIVES_MOST 4096
#define MESSAGES   65536

/* The longest time between two deaths, in us. */
#define PAUSE_US 1500

/* So much has to be received after each death. */
#define PROGRESS 8

#define KILLS_LONG 1000

struct message {
	uint64_t life, number;
	uint64_t check[5]; /* it takes a while to copy */
};

/* What a process has done. Written by it, and read when it is gone. */
struct life {
	uint64_t begun, sent;         /* numbers of the last message */
	unsigned char seen[MESSAGES]; /* how often each was received, by whomever */
};

struct books {
	uint64_t received;
	uint32_t stop;
	struct life life[LIVES_MOST];
};

static struct books *books;
static int fd;
static pid_t worker[WORKERS];
static uint64_t lives, kills, receivers_killed;
static uint64_t life_of[WORKERS];

static struct message message(uint64_t life, uint64_t number)
{
	struct message m = { .life = life, .number = number };

	for (unsigned i = 0; i < sizeof(m.check) / sizeof(m.check[0]); i++)
		m.check[i] = (life << 32 ^ number) * (2 * i + 3);
	return m;
}

static struct ipcwait_channel *attach(void)
{
	struct ipcwait_channel *ch = NULL;

	CHECK_EQ(ipcwait_channel_attach(fd, &ch), 0);
	return ch;
}

static bool stopped(void)
{
	return __atomic_load_n(&books->stop, __ATOMIC_ACQUIRE);
}

static void send_all(uint64_t life)
{
	struct ipcwait_channel *ch = attach();
	struct life *l = &books->life[life];

	for (uint64_t n = 0; n < MESSAGES && !stopped(); n++) {
		struct message m = message(life, n);

		__atomic_store_n(&l->begun, n + 1, __ATOMIC_RELAXED);
		CHECK_EQ(ipcwait_channel_send(ch, &m), 0);
		__atomic_store_n(&l->sent, n + 1, __ATOMIC_RELAXED);
	}
	while (!stopped())
		(void)usleep(1000);
	ipcwait_channel_destroy(ch);
}

static void note(const struct message *m, uint64_t *last)
{
	struct message right;

	CHECK(m->life < LIVES_MOST && m->number < MESSAGES);
	right = message(m->life, m->number);
	CHECK(memcmp(m, &right, sizeof(right)) == 0);
	CHECK(m->number >= last[m->life]);
	last[m->life] = m->number + 1;
	CHECK_EQ(__atomic_fetch_add(&books->life[m->life].seen[m->number], 1,
				    __ATOMIC_RELAXED),
		 0);
	(void)__atomic_fetch_add(&books->received, 1, __ATOMIC_RELAXED);
}

static void receive_all(void)
{
	static uint64_t last[LIVES_MOST];
	struct ipcwait_channel *ch = attach();
	struct message m;
	int r;

	while ((r = ipcwait_channel_recv(ch, &m)) == 0)
		note(&m, last);
	CHECK_EQ(r, -EPIPE);
	ipcwait_channel_destroy(ch);
}

static void start(unsigned i)
{
	pid_t parent = getpid();

	CHECK(lives < LIVES_MOST);
	life_of[i] = lives++;
	worker[i] = fork();
	CHECK(worker[i] >= 0);
	if (worker[i])
		return;
	CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	check_watchdog(60);
	if (i < SENDERS)
		send_all(life_of[i]);
	else
		receive_all();
	_exit(EXIT_SUCCESS);
}

static void kill_one(unsigned i)
{
	int status;

	CHECK(kill(worker[i], SIGKILL) == 0);
	status = check_reap(worker[i]);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	receivers_killed += i >= SENDERS;
	kills++;
	start(i);
}

static uint64_t received(void)
{
	return __atomic_load_n(&books->received, __ATOMIC_RELAXED);
}

static bool all_is_sent(void)
{
	for (unsigned i = 0; i < SENDERS; i++)
		if (__atomic_load_n(&books->life[life_of[i]].sent, __ATOMIC_RELAXED) <
		    MESSAGES)
			return false;
	return true;
}

static bool goes_on(void *before)
{
	return received() >= *(uint64_t *)before + PROGRESS || all_is_sent();
}

/* Somebody dies, sometimes two at once; then the others have to go on. */
static void kill_some(uint64_t *seed)
{
	unsigned victim = (unsigned)(check_random(seed) % WORKERS);
	uint64_t before;

	(void)usleep((useconds_t)(check_random(seed) % PAUSE_US));
	kill_one(victim);
	if (check_random(seed) % 4 == 0)
		kill_one((victim + 1 + (unsigned)(check_random(seed) % (WORKERS - 1))) %
			 WORKERS);
	before = received();
	CHECK(check_eventually(goes_on, &before));
}

static void begin(uint64_t capacity)
{
	struct ipcwait_channel_params params = { .elem_size = sizeof(struct message),
						 .capacity = capacity };
	struct ipcwait_channel *ch;

	fd = memfd_create("channel_kill_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(fd >= 0);
	CHECK_EQ(ipcwait_channel_create_shared(fd, &params, &ch), 0);
	ipcwait_channel_destroy(ch);
	books = mmap(NULL, sizeof(*books), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(books != MAP_FAILED);
	for (unsigned i = 0; i < WORKERS; i++)
		start(i);
}

/* What no receiver has noted although its sender was told that it was sent. */
static uint64_t missing(const struct life *l)
{
	uint64_t n = 0;

	CHECK(l->begun - l->sent <= 1);
	for (uint64_t i = 0; i < MESSAGES; i++) {
		CHECK(l->seen[i] <= (i < l->begun));
		n += i < l->sent && !l->seen[i];
	}
	return n;
}

static void audit(void)
{
	uint64_t sent = 0, lost = 0;

	for (uint64_t i = 0; i < lives; i++) {
		sent += books->life[i].sent;
		lost += missing(&books->life[i]);
	}
	printf("%" PRIu64 " deaths, %" PRIu64 " messages, %" PRIu64 " lost by %" PRIu64
	       " receivers\n",
	       kills, sent, lost, receivers_killed);
	CHECK(lost <= receivers_killed);
}

static void end(void)
{
	struct ipcwait_channel *ch = attach();

	__atomic_store_n(&books->stop, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < SENDERS; i++)
		CHECK_EQ(check_reap(worker[i]), 0);
	CHECK_EQ(ipcwait_channel_close(ch), 0);
	for (unsigned i = SENDERS; i < WORKERS; i++)
		CHECK_EQ(check_reap(worker[i]), 0);
	ipcwait_channel_destroy(ch);
}

static void usage(void)
{
	fputs("usage: channel_kill_test CAPACITY KILLS\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("IW_STRESS_SECONDS");
	uint64_t seed = check_seed(), least;
	int64_t until = 0;

	if (argc != 3)
		usage();
	least = strtoull(argv[2], NULL, 10);
	if (seconds) {
		least = KILLS_LONG;
		until = ipcwait_deadline_in_ns(atoi(seconds) * INT64_C(1000000000));
	}
	begin(strtoull(argv[1], NULL, 10));
	while (kills < least || (ipcwait_now_ns() < until && lives + 2 < LIVES_MOST)) {
		check_watchdog(60);
		kill_some(&seed);
	}
	check_watchdog(60);
	end();
	audit();
	return 0;
}
