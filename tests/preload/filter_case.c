/* SPDX-License-Identifier: MIT */
/*
 * Filters of system calls that a program begins itself: each allows what the program calls from
 * then on, and kills for everything else.
 */
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd_ways.h"
#include "say.h"

#define ROUNDS     100
#define CALLS_MOST 24

/* Instructions around those for the calls, of which each has two. */
#define LENGTH_MOST (2 * CALLS_MOST + 2)

/* How often a thread looks, without a call, at what another one does. */
#define LOOKS 2000000

enum how { BY_PRCTL, BY_SYSCALL, BY_PRCTL_THROUGH_SYSCALL, FOR_ALL_THREADS, HOWS };

static const char *const how_names[HOWS] = { "prctl", "seccomp", "prctl through syscall",
					     "seccomp for all threads" };

/* The calls in @list, which -1 ends. */
static struct sock_fprog filter_of(struct sock_filter code[LENGTH_MOST], const int *list)
{
	unsigned short n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (; *list >= 0; list++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)*list, 0, 1);
		code[n++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	return (struct sock_fprog){ n, code };
}

static void begin_filter(enum how how, const int *list)
{
	struct sock_filter code[LENGTH_MOST];
	struct sock_fprog filter = filter_of(code, list);
	long r = -1;

	NEEDS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (how == BY_PRCTL)
		r = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
	else if (how == BY_PRCTL_THROUGH_SYSCALL)
		r = syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
	else
		r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    how == FOR_ALL_THREADS ? SECCOMP_FILTER_FLAG_TSYNC : 0,
			    &filter);
	NEEDS(r == 0);
}

/* What a way to wait calls besides read(2). */
static const int calls_of[WAYS] = {
	[READ_PIPE] = SYS_read,
	[READ_SOCKET] = SYS_read,
	[READ_EVENTFD] = SYS_read,
	[RECV] = SYS_recvfrom,
	[RECVFROM] = SYS_recvfrom,
	[RECVMSG] = SYS_recvmsg,
#ifdef SYS_poll
	[POLL] = SYS_poll,
#else
	[POLL] = SYS_ppoll,
#endif
	[PPOLL] = SYS_ppoll,
	[SELECT] = SYS_pselect6,
	[PSELECT] = SYS_pselect6,
#ifdef SYS_epoll_wait
	[EPOLL_WAIT] = SYS_epoll_wait,
#else
	[EPOLL_WAIT] = SYS_epoll_pwait,
#endif
	[EPOLL_PWAIT] = SYS_epoll_pwait,
};

struct pair {
	struct line to, fro;
	enum how how;
};

static void answer(void *arg)
{
	struct pair *p = arg;
	const int list[] = { SYS_read, SYS_write, SYS_exit_group, calls_of[p->to.way], -1 };

	begin_filter(p->how, list);
	for (int i = 0; i < ROUNDS; i++) {
		if (line_take(&p->to) != 0)
			_exit(1);
		line_give(&p->fro);
	}
	_exit(0);
}

/* The waits before it have told the module what the descriptor is. */
static void each_way(void)
{
	for (enum way way = 0; way < WAYS; way++) {
		struct pair p = { .how = way % FOR_ALL_THREADS };
		pid_t child;

		line_open(&p.to, way);
		line_open(&p.fro, READ_PIPE);
		line_train(&p.to);
		child = begin_child(answer, &p);
		/* The end of the child is the end of what it writes. */
		(void)close(p.fro.out);
		p.fro.out = p.fro.in;
		for (int i = 0; i < ROUNDS; i++) {
			line_give(&p.to);
			NEEDS(line_take(&p.fro) == 0);
		}
		expect_child(way_names[way], child, 0);
		line_close(&p.to);
		line_close(&p.fro);
	}
}

/* Locks that know their owner, for which a thread waits that has never waited before. */
static pthread_mutex_t recursive, checking;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int is_running, may_begin, is_near, got;

static void lock_all(void)
{
	(void)pthread_mutex_lock(&recursive);
	(void)pthread_mutex_lock(&checking);
	(void)pthread_rwlock_wrlock(&rwlock);
}

static void unlock_all(void)
{
	(void)pthread_rwlock_unlock(&rwlock);
	(void)pthread_mutex_unlock(&checking);
	(void)pthread_mutex_unlock(&recursive);
}

static void *wait_for_locks(void *arg)
{
	set(&is_running, 1);
	while (!get(&may_begin))
		continue;
	set(&is_near, 1);
	lock_all();
	set(&got, 1);
	unlock_all();
	return arg;
}

static void look_for_a_while(void)
{
	for (int i = 0; i < LOOKS; i++)
		(void)get(&got);
}

static const int calls_of_threads[] = {
	SYS_futex,        SYS_exit_group,      SYS_exit,
	SYS_munmap,       SYS_madvise,         SYS_rt_sigprocmask,
	SYS_rt_sigreturn, SYS_restart_syscall, -1,
};

/* Its first calls are libc's, and not among those above. */
static pthread_t begin_running(void *(*body)(void *arg))
{
	pthread_t t = begin_thread(body, NULL);

	while (!get(&is_running))
		continue;
	return t;
}

/* Each lock is released for itself, so that each is waited for. */
static void contend(void *arg)
{
	pthread_t t;

	make_mutex_of(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PROCESS_PRIVATE,
		      PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	make_mutex_of(&checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PROCESS_PRIVATE,
		      PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	lock_all();
	t = begin_running(wait_for_locks);
	begin_filter(*(enum how *)arg, calls_of_threads);
	set(&may_begin, 1);
	while (!get(&is_near))
		continue;
	look_for_a_while();
	(void)pthread_mutex_unlock(&recursive);
	look_for_a_while();
	(void)pthread_mutex_unlock(&checking);
	look_for_a_while();
	(void)pthread_rwlock_unlock(&rwlock);
	(void)pthread_join(t, NULL);
	_exit(!get(&got));
}

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t to, fro;
static int word;

/* Any of them, the first time in this process. */
static void *use_others(void *arg)
{
	set(&is_running, 1);
	(void)pthread_barrier_wait(&barrier);
	(void)sem_wait(&to);
	(void)sem_post(&fro);
	(void)pthread_mutex_lock(&plain);
	set(&got, 2);
	(void)pthread_cond_signal(&cond);
	(void)pthread_mutex_unlock(&plain);
	(void)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	(void)pthread_barrier_wait(&barrier);
	return arg;
}

static void wait_for_others(void *arg)
{
	pthread_t t;

	NEEDS(pthread_barrier_init(&barrier, NULL, 2) == 0);
	NEEDS(sem_init(&to, 0, 0) == 0 && sem_init(&fro, 0, 0) == 0);
	(void)pthread_mutex_lock(&plain);
	t = begin_running(use_others);
	begin_filter(*(enum how *)arg, calls_of_threads);
	(void)pthread_barrier_wait(&barrier);
	look_for_a_while();
	(void)sem_post(&to);
	(void)sem_wait(&fro);
	while (get(&got) != 2)
		(void)pthread_cond_wait(&cond, &plain);
	(void)pthread_mutex_unlock(&plain);
	look_for_a_while();
	set(&word, 1);
	(void)syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_join(t, NULL);
	_exit(0);
}

static void threads(void)
{
	for (enum how how = 0; how < HOWS; how++) {
		say_number(how_names[how], how);
		expect_child("owners", begin_child(contend, &how), 0);
		expect_child("others", begin_child(wait_for_others, &how), 0);
	}
}

/* What the kernel refuses is no filter: the program, and what stands in front, go on. */
static void refused(void)
{
	struct sock_fprog none = { 0, NULL };

	expect("a filter without instructions",
	       error_of(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none)), EINVAL);
	expect("a question for flags",
	       error_of(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL)), EFAULT);
	expect_number("no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
	expect_number("no filter", prctl(PR_GET_SECCOMP), 0);
}

/* It must be able to fail. */
static void call_another(void *arg)
{
	const struct rlimit no_dump = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &no_dump);
	begin_filter(BY_PRCTL, calls_of_threads);
	(void)getppid();
	_exit(arg != NULL);
}

#define SKIPPED 77

int main(void)
{
	if (prctl(PR_GET_SECCOMP) != 0) {
		puts("no seccomp(2) here, or a filter already");
		return SKIPPED;
	}
	say_begin();
	refused();
	each_way();
	threads();
	expect_child("another call", begin_child(call_another, NULL), SIGSYS);
	return say_end();
}
