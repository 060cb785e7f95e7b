/* SPDX-License-Identifier: MIT */
/* Ids, births and deaths of threads, over the real kernel, and over a /proc of the test's own. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/fixture.h"
#include "os/life.h"
#include "os/thread.h"

#define NAMESPACE_ONE (IW_BIRTH_BEGAN + 1)

static char **arguments;

static uint32_t kernels_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* What a thread says of itself to others. */
struct name {
	uint32_t id, birth;
};

static struct name own_name(void)
{
	return (struct name){ iw_thread_id(), iw_thread_birth() };
}

static enum iw_life life(struct name n)
{
	return iw_thread_life(n.id, n.birth);
}

static void test_self(void **state)
{
	struct name n;

	(void)state;
	errno = 4711;
	n = own_name();
	assert_int_equal(n.id, kernels_id());
	assert_true(n.birth & IW_BIRTH_BEGAN);
	assert_true(n.birth / NAMESPACE_ONE);
	assert_int_equal(iw_thread_birth(), n.birth);
	assert_int_equal(life(n), IW_ALIVE);
	assert_int_equal(errno, 4711);
}

static void test_what_is_not_known(void **state)
{
	struct name n = own_name();

	(void)state;
	errno = 4711;
	assert_int_equal(iw_thread_life(n.id, n.birth ^ 1), IW_DEAD);
	assert_int_equal(iw_thread_life(n.id, n.birth & ~IW_BIRTH_BEGAN), IW_UNKNOWN);
	assert_int_equal(iw_thread_life(n.id, n.birth & IW_BIRTH_BEGAN), IW_UNKNOWN);
	assert_int_equal(iw_thread_life(n.id, n.birth + NAMESPACE_ONE), IW_UNKNOWN);
	assert_int_equal(iw_thread_life(n.id, 0), IW_UNKNOWN);
	assert_int_equal(iw_thread_life(0, n.birth), IW_UNKNOWN);
	assert_int_equal(iw_thread_life(UINT32_MAX, n.birth), IW_UNKNOWN);
	assert_int_equal(errno, 4711);
}

static struct name parent;

static pthread_barrier_t told, asked;

static void *tell(void *arg)
{
	*(struct name *)arg = own_name();
	pthread_barrier_wait(&told);
	pthread_barrier_wait(&asked);
	return NULL;
}

static bool is_dead(void *arg)
{
	return life(*(struct name *)arg) == IW_DEAD;
}

static void test_thread(void **state)
{
	struct name n;
	pthread_t thread;

	(void)state;
	pthread_barrier_init(&told, NULL, 2);
	pthread_barrier_init(&asked, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, tell, &n), 0);
	pthread_barrier_wait(&told);
	assert_int_not_equal(n.id, iw_thread_id());
	assert_int_equal(n.birth / NAMESPACE_ONE, iw_thread_birth() / NAMESPACE_ONE);
	assert_int_equal(life(n), IW_ALIVE);
	assert_int_equal(iw_thread_life(n.id, n.birth ^ 1), IW_DEAD);
	pthread_barrier_wait(&asked);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* The kernel may tell of the end before the thread has gone. */
	assert_true(check_eventually(is_dead, &n));
	n.birth &= ~IW_BIRTH_BEGAN;
	assert_int_equal(life(n), IW_DEAD);
	n.birth = 0;
	assert_int_equal(life(n), IW_UNKNOWN);
}

/* A child that has told its name and waits for the end of the pipe; closing @fd ends it. */
static pid_t begin(int *fd, struct name *n, void (*first)(void))
{
	int up[2], down[2];
	pid_t child;

	CHECK(pipe(up) == 0 && pipe(down) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		struct name own;
		char byte;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (first)
			first();
		own = own_name();
		close(down[1]);
		CHECK(write(up[1], &own, sizeof(own)) == sizeof(own));
		CHECK(read(down[0], &byte, 1) == 0);
		_exit(EXIT_SUCCESS);
	}
	close(up[1]);
	close(down[0]);
	CHECK(read(up[0], n, sizeof(*n)) == sizeof(*n));
	close(up[0]);
	*fd = down[1];
	return child;
}

static void await_end(pid_t child)
{
	siginfo_t info;

	CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0);
}

static void test_child(void **state)
{
	struct name n;
	int fd;
	pid_t child = begin(&fd, &n, NULL);

	(void)state;
	assert_int_equal(n.id, child);
	assert_int_equal(n.birth / NAMESPACE_ONE, parent.birth / NAMESPACE_ONE);
	assert_int_equal(life(n), IW_ALIVE);
	close(fd);
	await_end(child);
	/* It is a zombie, and as dead as anything. */
	assert_int_equal(kill(child, 0), 0);
	assert_int_equal(life(n), IW_DEAD);
	assert_int_equal(iw_thread_life(n.id, n.birth & ~IW_BIRTH_BEGAN), IW_DEAD);
	assert_int_equal(check_reap(child), 0);
	assert_int_equal(life(n), IW_DEAD);
	assert_int_equal(iw_thread_id(), parent.id);
	assert_int_equal(iw_thread_birth(), parent.birth);
}

static void be_called_badly(void)
{
	CHECK(prctl(PR_SET_NAME, ") Z 1 (x) Z ") == 0);
}

static void test_name_of_program(void **state)
{
	struct name n;
	int fd;
	pid_t child = begin(&fd, &n, be_called_badly);

	(void)state;
	assert_int_equal(life(n), IW_ALIVE);
	close(fd);
	assert_int_equal(check_reap(child), 0);
	assert_int_equal(life(n), IW_DEAD);
}

/* A first thread that has ended is a zombie until all its process has. */
static void *outlive(void *arg)
{
	CHECK(check_eventually(is_dead, arg));
	CHECK_EQ(life(own_name()), IW_ALIVE);
	_exit(EXIT_SUCCESS);
}

static void end_the_first_thread(void)
{
	static struct name first;
	pthread_t thread;

	first = own_name();
	CHECK_EQ(life(first), IW_ALIVE);
	CHECK_EQ(pthread_create(&thread, NULL, outlive, &first), 0);
	pthread_exit(NULL);
}

/* Each of the copies, by whatever name the copying goes, has an id and a birth of its own. */
static pid_t by_fork(void)
{
	return fork();
}

static pid_t by_async_safe_fork(void)
{
	return _Fork();
}

static pid_t by_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t (*copy)(void);

static void *ask(void *arg)
{
	*(uint32_t *)arg = iw_thread_id();
	return NULL;
}

/* In a copy, whoever asks first: a new thread gets no number that an old one has kept. */
static void be_a_copy(bool thread_first)
{
	uint32_t others = 0;
	pthread_t thread;

	if (thread_first) {
		CHECK_EQ(pthread_create(&thread, NULL, ask, &others), 0);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		CHECK(others != 0 && others != parent.id && others != kernels_id());
	}
	CHECK_EQ(iw_thread_id(), kernels_id());
	CHECK(iw_thread_birth() != 0);
	CHECK_EQ(life(own_name()), IW_ALIVE);
	CHECK_EQ(life(parent), IW_ALIVE);
}

static void copy_twice(void)
{
	parent = own_name();
	for (int i = 0; i < 4; i++) {
		/* A thread needs a libc that knows of the fork. */
		bool thread_first = i / 2 && copy == by_fork;
		pid_t child = copy();

		CHECK(child >= 0);
		if (child == 0) {
			if (i % 2)
				be_a_copy(thread_first);
			child = copy();
			if (child == 0) {
				be_a_copy(thread_first);
				_exit(EXIT_SUCCESS);
			}
			CHECK_EQ(check_reap(child), 0);
			_exit(EXIT_SUCCESS);
		}
		CHECK_EQ(check_reap(child), 0);
		CHECK_EQ(iw_thread_id(), parent.id);
	}
}

static void test_copies(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		copy = (pid_t(*[])(void)){ by_fork, by_async_safe_fork, by_clone }[i];
		assert_int_equal(check_in_child(copy_twice), 0);
	}
}

static volatile pid_t copied;

static void fork_in_handler(int signal)
{
	(void)signal;
	copied = _Fork();
}

/* What the interrupted call returns in the child is lost, but nothing that it keeps. */
static void be_copied_anywhere(void)
{
	struct sigaction action = { .sa_handler = fork_in_handler };

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	copied = -1;
	CHECK(raise(SIGUSR1) == 0);
	CHECK_EQ(iw_thread_id(), kernels_id());
	if (copied == 0)
		_exit(EXIT_SUCCESS);
	CHECK_EQ(check_reap(copied), 0);
}

/* exec(3) leaves id and beginning as they are; that is what birth is more than those for. */
static void replace(void)
{
	char name[32], *argv[] = { arguments[0], name, NULL };
	struct name n = own_name();

	(void)snprintf(name, sizeof(name), "%u:%u", n.id, n.birth);
	(void)execv("/proc/self/exe", argv);
	CHECK(!"execv");
}

static int be_the_replacement(const char *name)
{
	struct name old;

	CHECK_EQ(sscanf(name, "%u:%u", &old.id, &old.birth), 2);
	CHECK_EQ(old.id, iw_thread_id());
	CHECK_EQ(life(old), IW_DEAD);
	CHECK_EQ(life(own_name()), IW_ALIVE);
	return EXIT_SUCCESS;
}

static void no_proc(void)
{
	struct name other;
	int fd;
	pid_t child;

	iw_life_proc = "/nonexistent";
	child = begin(&fd, &other, NULL);
	CHECK_EQ(other.birth, 0);
	CHECK_EQ(iw_thread_birth(), 0);
	CHECK_EQ(life(own_name()), IW_UNKNOWN);
	CHECK_EQ(life(other), IW_UNKNOWN);
	close(fd);
	CHECK_EQ(check_reap(child), 0);
	CHECK_EQ(life(other), IW_UNKNOWN);
	CHECK_EQ(iw_thread_life(other.id, NAMESPACE_ONE), IW_UNKNOWN);
}

/*
 * A /proc of the test's own. What stands behind the name of the program, from its state on:
 * zeroes, and in between when the thread began and where its stack is.
 */
#define STAT_REST(state, start, stack)                              \
	state " 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 " start \
	      " 5799936 413 184467440737"                           \
	      "09551615 1 1 " stack " 0 0 0\n"

static void put_stat(const struct fixture *f, const char *folder, uint32_t id,
		     const char *rest)
{
	char path[128], text[512];

	(void)snprintf(path, sizeof(path), "/%s/stat", folder);
	(void)snprintf(text, sizeof(text), "%u (a) Z 1 (b c) %s", id, rest);
	fixture_put(f, path, text);
}

/* What @rest says about @n, which lives. */
static enum iw_life said(const struct fixture *f, struct name n, const char *rest)
{
	char folder[64];

	(void)snprintf(folder, sizeof(folder), "%u/task/%u", n.id, n.id);
	put_stat(f, folder, n.id, rest);
	return life(n);
}

static void begin_proc(struct fixture *f, uint32_t self)
{
	fixture_begin(f);
	put_stat(f, "thread-self", self, STAT_REST("R", "4711", "140724603453440"));
	fixture_put(f, "/thread-self/ns/pid", "");
	iw_life_proc = f->root;
}

static const struct fixture *made_up;

static void find_itself(void)
{
	put_stat(made_up, "thread-self", kernels_id(),
		 STAT_REST("R", "4711", "140724603453440"));
}

static void made_up_proc(void)
{
	struct fixture f;
	struct name other;
	uint32_t without_stack;
	pid_t child;
	int fd;

	begin_proc(&f, kernels_id());
	CHECK(iw_thread_birth() & IW_BIRTH_BEGAN);
	without_stack = iw_thread_birth() & ~IW_BIRTH_BEGAN;
	made_up = &f;
	child = begin(&fd, &other, find_itself);
	/* Both began at once and have one stack, as children of a fork may. */
	CHECK(other.birth != iw_thread_birth());
	/* There is no file, as on a system that hides others' processes. */
	CHECK_EQ(life(other), IW_UNKNOWN);
	CHECK_EQ(said(&f, other, STAT_REST("R", "4711", "140724603453440")), IW_ALIVE);
	CHECK_EQ(iw_thread_life(other.id, without_stack), IW_UNKNOWN);
	CHECK_EQ(said(&f, other, STAT_REST("D", "4712", "140724603453440")), IW_DEAD);
	CHECK_EQ(said(&f, other, STAT_REST("S", "4711", "140724603453456")), IW_DEAD);
	CHECK_EQ(said(&f, other, STAT_REST("S", "4712", "0")), IW_UNKNOWN);
	CHECK_EQ(said(&f, other, STAT_REST("Z", "4711", "0")), IW_DEAD);
	CHECK_EQ(iw_thread_life(other.id, without_stack), IW_DEAD);
	CHECK_EQ(said(&f, other, STAT_REST("X", "4711", "140724603453440")), IW_DEAD);
	CHECK_EQ(said(&f, other, "R 1 1"), IW_UNKNOWN);
	CHECK_EQ(said(&f, other, ""), IW_UNKNOWN);
	close(fd);
	CHECK_EQ(check_reap(child), 0);
	fixture_end(&f);
}

/* /proc shows the threads of another namespace: nothing in it is about those of ours. */
static void proc_of_another_namespace(void)
{
	struct fixture f;
	struct name child;
	int fd;
	pid_t pid;

	begin_proc(&f, kernels_id() + 1);
	CHECK(iw_thread_birth() != 0);
	CHECK(!iw_birth_known(iw_thread_birth()));
	child = (struct name){ parent.id, iw_thread_birth() };
	CHECK_EQ(said(&f, child, STAT_REST("Z", "4711", "140724603453440")), IW_UNKNOWN);
	pid = begin(&fd, &child, NULL);
	CHECK_EQ(life(child), IW_UNKNOWN);
	close(fd);
	CHECK_EQ(check_reap(pid), 0);
	CHECK_EQ(life(child), IW_DEAD);
	fixture_end(&f);
}

/* Times of a time namespace mean nothing in another, and so births do not. */
static void time_namespace(void)
{
	uint32_t before, inode_sum;
	struct stat pids, times;
	struct fixture f;
	char path[128];

	begin_proc(&f, kernels_id());
	fixture_put(&f, "/thread-self/ns/time", "");
	before = iw_thread_birth() / NAMESPACE_ONE;
	(void)snprintf(path, sizeof(path), "%s/thread-self/ns/pid", f.root);
	CHECK(stat(path, &pids) == 0);
	(void)snprintf(path, sizeof(path), "%s/thread-self/ns/time", f.root);
	CHECK(stat(path, &times) == 0);
	inode_sum = (uint32_t)((pids.st_ino + 5 * times.st_ino) % 1023);
	CHECK_EQ(before, inode_sum + 1);
	fixture_end(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_what_is_not_known),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_name_of_program),
		CHILD_TEST(end_the_first_thread),
		cmocka_unit_test(test_copies),
		CHILD_TEST(be_copied_anywhere),
		CHILD_TEST(replace),
		CHILD_TEST(no_proc),
		CHILD_TEST(made_up_proc),
		CHILD_TEST(proc_of_another_namespace),
		CHILD_TEST(time_namespace),
	};

	arguments = argv;
	if (argc > 1)
		return be_the_replacement(argv[1]);
	parent = own_name();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
