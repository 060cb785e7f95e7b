/* SPDX-License-Identifier: MIT */
/*
 * Wakers that are killed between the change and the wake: a filter kills them at the system call
 * that wakes. Whoever sleeps comes back nevertheless, at its next alarm, and finds the change.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "process.h"

#define SLEEPERS_MOST 3

/* A sleeper waits for one of these, or for two of them. */
static struct shared {
	struct ipcwait_sem sem;
	struct ipcwait_event event;
	struct ipcwait_eventcount eventcount;
	struct ipcwait_latch latch;
	struct ipcwait_barrier barrier;
	struct ipcwait_cond cond;
	struct ipcwait_mutex mutex;
	uint32_t changed;
	uint32_t begun;
} * shared;

static void sem_wait_for(void)
{
	CHECK_EQ(ipcwait_sem_wait(&shared->sem), 0);
}

static void sem_wake(void)
{
	ipcwait_sem_post_n(&shared->sem, 2);
}

static void event_wait_for(void)
{
	CHECK_EQ(ipcwait_event_wait(&shared->event), 0);
}

static void event_wake(void)
{
	ipcwait_event_set(&shared->event);
}

static void auto_make(void)
{
	CHECK_EQ(ipcwait_event_init(&shared->event, IPCWAIT_AUTO_RESET), 0);
}

static void eventcount_wait_for(void)
{
	uint64_t key = ipcwait_eventcount_prepare(&shared->eventcount);

	CHECK_EQ(ipcwait_eventcount_commit(&shared->eventcount, key, IPCWAIT_FOREVER), 0);
}

static void eventcount_wake(void)
{
	ipcwait_eventcount_notify_all(&shared->eventcount);
}

static void latch_make(void)
{
	CHECK_EQ(ipcwait_latch_init(&shared->latch, 1, 0), 0);
}

static void latch_wait_for(void)
{
	CHECK_EQ(ipcwait_latch_wait(&shared->latch), 0);
}

static void latch_wake(void)
{
	CHECK_EQ(ipcwait_latch_count_down(&shared->latch, 1), 0);
}

static void barrier_make(void)
{
	CHECK_EQ(ipcwait_barrier_init(&shared->barrier, 3, 0), 0);
}

static void barrier_wait_for(void)
{
	CHECK(ipcwait_barrier_wait(&shared->barrier) >= 0);
}

static void cond_wait_for(void)
{
	CHECK_EQ(ipcwait_mutex_lock(&shared->mutex), 0);
	CHECK_EQ(ipcwait_cond_wait(&shared->cond, &shared->mutex), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&shared->mutex), 0);
}

static void cond_wake(void)
{
	ipcwait_cond_signal(&shared->cond);
}

static void cond_wake_all(void)
{
	ipcwait_cond_broadcast(&shared->cond);
}

static void any_wait_for(void)
{
	const struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_FUTEX, .object = &shared->changed },
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &shared->sem },
	};

	CHECK_EQ(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, NULL), 1);
}

static const struct scene {
	const char *name;
	unsigned sleepers;
	void (*make)(void);
	void (*wait)(void);
	void (*wake)(void);
} scenes[] = {
	{ "sem", 2, NULL, sem_wait_for, sem_wake },
	{ "event", 2, NULL, event_wait_for, event_wake },
	{ "event, auto reset", 1, auto_make, event_wait_for, event_wake },
	{ "event count", 2, NULL, eventcount_wait_for, eventcount_wake },
	{ "latch", 2, latch_make, latch_wait_for, latch_wake },
	{ "barrier", 2, barrier_make, barrier_wait_for, barrier_wait_for },
	{ "cond, signal", 1, NULL, cond_wait_for, cond_wake },
	{ "cond, broadcast", 2, NULL, cond_wait_for, cond_wake_all },
	{ "wait-any", 1, NULL, any_wait_for, sem_wake },
};

#define SCENES (sizeof(scenes) / sizeof(scenes[0]))

static pid_t in_child(void (*act)(void), bool is_sleeper)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (child)
		return child;
	CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	if (is_sleeper)
		__atomic_fetch_add(&shared->begun, 1, __ATOMIC_RELEASE);
	act();
	_exit(0);
}

/* Whose second argument is FUTEX_WAKE or FUTEX_WAKE_BITSET, private or not. */
static void die_of_wakes(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAKE, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAKE_BITSET, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void (*wake)(void);

static void die_in_the_wake(void)
{
	die_of_wakes();
	wake();
}

static bool all_sleep(void *arg)
{
	const pid_t *sleeper = arg;
	unsigned n = 0;

	while (sleeper[n])
		n++;
	if (__atomic_load_n(&shared->begun, __ATOMIC_ACQUIRE) != n)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (process_state(sleeper[i]) != 'S')
			return false;
	return true;
}

static bool has_ended(void *arg)
{
	return process_state(*(pid_t *)arg) == 'Z';
}

static void play(const struct scene *s)
{
	pid_t sleeper[SLEEPERS_MOST + 1] = { 0 };
	int status;

	print_message("%s\n", s->name);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	if (s->make)
		s->make();
	for (unsigned i = 0; i < s->sleepers; i++)
		sleeper[i] = in_child(s->wait, true);
	CHECK(check_eventually(all_sleep, sleeper));
	wake = s->wake;
	status = check_reap(in_child(die_in_the_wake, false));
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	for (unsigned i = 0; i < s->sleepers; i++) {
		CHECK(check_eventually(has_ended, &sleeper[i]));
		CHECK_EQ(check_reap(sleeper[i]), 0);
	}
	CHECK(munmap(shared, sizeof(*shared)) == 0);
}

static void test_sleepers_come_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SCENES; i++)
		play(&scenes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleepers_come_back),
	};

	check_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
