/* SPDX-License-Identifier: MIT */
/*
 * Two processes share a ledger: a robust mutex, a condition variable and two accounts. A clerk
 * moves money from one account to the other, an auditor adds them up whenever something was
 * moved. Clerks die, killed at any moment, also between the two halves of a transfer. Whoever has
 * the lock next, the auditor or another clerk, is told so by the mutex and repairs the ledger.
 *
 *	ledger [DEATHS]
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#define TOTAL       1000000
#define DEATHS_MOST 10000

struct ledger {
	struct ipcwait_mutex lock;
	struct ipcwait_cond moved;
	int64_t account[2]; /* under the lock: the sum is TOTAL */
	uint64_t transfers, repairs;
};

static unsigned long audits;

static _Noreturn void die(const char *what, int r)
{
	fprintf(stderr, "ledger: %s: %s\n", what, strerror(-r));
	exit(1);
}

static struct ledger *open_ledger(void)
{
	struct ledger *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (l == MAP_FAILED)
		die("mmap", -errno);
	r = ipcwait_mutex_init(&l->lock, IPCWAIT_ROBUST);
	if (r)
		die("mutex", r);
	/* The condition variable is valid as it is: all its bytes are zero. */
	l->account[0] = TOTAL;
	return l;
}

/* Somebody died with the lock: the transfer may be half done. */
static void repair(struct ledger *l)
{
	int r;

	l->account[1] = TOTAL - l->account[0];
	r = ipcwait_mutex_consistent(&l->lock);
	if (r)
		die("consistent", r);
	l->repairs++;
}

static void take(struct ledger *l, int r)
{
	if (r == -EOWNERDEAD)
		repair(l);
	else if (r)
		die("lock", r);
}

/* Moves money for as long as it lives. */
static _Noreturn void work_as_clerk(struct ledger *l)
{
	for (int64_t amount = 1;; amount = amount * 7 % 1009) {
		take(l, ipcwait_mutex_lock(&l->lock));
		l->account[0] -= amount;
		l->account[1] += amount;
		l->transfers++;
		ipcwait_cond_signal(&l->moved);
		ipcwait_mutex_unlock(&l->lock);
	}
}

static pid_t hire_clerk(struct ledger *l)
{
	pid_t clerk = fork();

	if (clerk < 0)
		die("fork", -errno);
	if (clerk == 0)
		work_as_clerk(l);
	return clerk;
}

/* Waits for a transfer, or not much longer than a clerk needs for one. */
static void audit(struct ledger *l)
{
	uint64_t seen;

	take(l, ipcwait_mutex_lock(&l->lock));
	seen = l->transfers;
	while (l->transfers == seen) {
		int r = ipcwait_cond_wait_until(&l->moved, &l->lock,
						ipcwait_deadline_in_ns(10000000));
		if (r == -ETIMEDOUT)
			break;
		take(l, r);
	}
	if (l->account[0] + l->account[1] != TOTAL) {
		fprintf(stderr, "ledger: %" PRId64 " is missing\n",
			TOTAL - l->account[0] - l->account[1]);
		exit(1);
	}
	audits++;
	ipcwait_mutex_unlock(&l->lock);
}

static void audit_until_killed(struct ledger *l, pid_t clerk, int64_t life_ns)
{
	int64_t end_ns = ipcwait_deadline_in_ns(life_ns);

	while (ipcwait_now_ns() < end_ns)
		audit(l);
	kill(clerk, SIGKILL);
	waitpid(clerk, NULL, 0);
}

int main(int argc, char **argv)
{
	bool help = argc == 2 && !strcmp(argv[1], "--help");
	char *end = NULL;
	long deaths = argc > 1 ? strtol(argv[1], &end, 10) : 100;
	struct ledger *l;

	if ((end && *end) || argc > 2 || deaths < 1 || deaths > DEATHS_MOST) {
		fprintf(help ? stdout : stderr, "usage: ledger [DEATHS], 1 to %d\n",
			DEATHS_MOST);
		return help ? 0 : 2;
	}
	l = open_ledger();
	for (long i = 0; i < deaths; i++)
		audit_until_killed(l, hire_clerk(l), 1000000 + i * 7919 % 1000000);
	audit(l);
	printf("%ld clerks killed, %" PRIu64 " of them with the lock; %" PRIu64
	       " transfers, %lu audits, no money lost\n",
	       deaths, l->repairs, l->transfers, audits);
	return 0;
}
