/* SPDX-License-Identifier: MIT */
/*
 * A checked build says what was done wrong, in one line, and aborts; and it lets pass what is
 * right. Each mistake is made in a child process.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "kinds.h"
#include "misuse.h"

#define LINE_MOST 512

/* What a child has written to stderr, and how it has ended. */
struct ended {
	char text[LINE_MOST];
	int status;
};

static void begin_child(const int *ends)
{
	const struct rlimit none = { 0, 0 };

	CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
	CHECK(close(ends[0]) == 0);
	/* No core file. */
	CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
	check_watchdog(60);
}

static void run(void (*body)(void *arg), void *arg, struct ended *e)
{
	size_t length = 0;
	ssize_t n;
	pid_t child;
	int ends[2];

	(void)fflush(NULL);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		begin_child(ends);
		body(arg);
		_exit(0);
	}
	(void)close(ends[1]);
	while ((n = read(ends[0], e->text + length, LINE_MOST - 1 - length)) > 0)
		length += (size_t)n;
	(void)close(ends[0]);
	e->text[length] = '\0';
	e->status = check_reap(child);
}

/* One line, such as "libipcwait: sem 0x7f12ab34: ipcwait_sem_post(): finished". */
static void assert_told(const struct ended *e, const char *kind, const char *call,
			const char *what)
{
	char begin[LINE_MOST], end[LINE_MOST];
	const char *at = strstr(e->text, ": ipcwait_");

	(void)snprintf(begin, sizeof(begin), "libipcwait: %.*s ", (int)strcspn(kind, ","),
		       kind);
	(void)snprintf(end, sizeof(end), ": %s(): %s", call, what);
	print_message("%s", e->text);
	assert_true(WIFSIGNALED(e->status) && WTERMSIG(e->status) == SIGABRT);
	assert_true(strncmp(e->text, begin, strlen(begin)) == 0);
	assert_non_null(at);
	assert_true(strncmp(at, end, strlen(end)) == 0);
	assert_ptr_equal(strchr(e->text, '\n'), e->text + strlen(e->text) - 1);
}

/* The mistakes that can be made with any kind. */
static void init_null(void *kind)
{
	const struct kind *k = kind;

	(void)k->init(NULL, 0);
}

static void init_misaligned(void *kind)
{
	const struct kind *k = kind;
	struct place p = { 0 };

	(void)k->init(p.bytes + 4, 0);
}

static void init_flags(void *kind)
{
	const struct kind *k = kind;
	struct place p = { 0 };

	(void)k->init(&p, 1u << 31);
}

static void fini_null(void *kind)
{
	const struct kind *k = kind;

	(void)k->fini(NULL);
}

static void fini_misaligned(void *kind)
{
	const struct kind *k = kind;
	struct place p = { 0 };

	(void)k->fini(p.bytes + 4);
}

static void fini_twice(void *kind)
{
	const struct kind *k = kind;
	struct place p = { 0 };

	CHECK_EQ(k->fini(&p), 0);
	(void)k->fini(&p);
}

static void wait_finished(void *kind)
{
	const struct kind *k = kind;
	struct place p = { 0 };

	CHECK_EQ(k->fini(&p), 0);
	(void)k->wait(&p, 0);
}

static void wait_marked(void *kind)
{
	const struct kind *k = kind;
	struct place p = { 0 };

	k->block(&p);
	p.bytes[k->flags_at + k->flags_bits / 8 - 1] = 1;
	(void)kinds_wait(k, &p, 0);
}

/* A private object in memory that a child shares. */
static void wait_elsewhere(void *kind)
{
	const struct kind *k = kind;
	void *o = mmap(NULL, sizeof(struct place), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int status;

	CHECK(o != MAP_FAILED);
	CHECK_EQ(k->init(o, IPCWAIT_PRIVATE), 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		(void)k->wait(o, 0);
		_exit(0);
	}
	status = check_reap(child);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
		abort();
}

/* A private object that is waited for at another address than it was made at. */
static void wait_at_other_address(void *kind)
{
	const struct kind *k = kind;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("twice", MFD_CLOEXEC);
	char *first = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(fd >= 0 && ftruncate(fd, (off_t)page) == 0 && first != MAP_FAILED);
	for (int i = 0; i < 2; i++)
		CHECK(mmap(first + (size_t)i * page, page, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	CHECK_EQ(k->init(first, IPCWAIT_PRIVATE), 0);
	(void)k->wait(first + page, 0);
}

enum call { INIT, FINI, WAIT };

static const struct {
	void (*body)(void *kind);
	enum call call;
	const char *what;
} common[] = {
	{ init_null, INIT, "NULL\n" },
	{ init_misaligned, INIT, "misaligned\n" },
	{ init_flags, INIT, "unknown flags\n" },
	{ fini_null, FINI, "NULL\n" },
	{ fini_misaligned, FINI, "misaligned\n" },
	{ fini_twice, FINI, "finished\n" },
	{ wait_finished, WAIT, "finished\n" },
	{ wait_marked, WAIT, "unknown flags, or of another layout\n" },
	{ wait_elsewhere, WAIT, "private to process " },
	{ wait_at_other_address, WAIT, "private, and mapped twice\n" },
};

static bool is_of_private(void (*body)(void *kind))
{
	return body == wait_elsewhere || body == wait_at_other_address;
}

static void test_common(void **state)
{
	(void)state;
	for (const struct kind *const *at = kinds; *at; at++) {
		const struct kind *k = *at;
		const char *const calls[] = { k->init_name, k->fini_name, k->wait_name };

		for (unsigned i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
			const char *call = calls[common[i].call];
			struct ended e;

			if (!call || (is_of_private(common[i].body) && !k->knows_process))
				continue;
			run(common[i].body, (void *)k, &e);
			assert_told(&e, k->name, call, common[i].what);
		}
	}
}

static void run_plain(void *body)
{
	(*(void (*const *)(void))body)();
}

static void assert_all_told(const struct misuse *m)
{
	for (; m->body; m++) {
		struct ended e;

		run(run_plain, (void *)&m->body, &e);
		assert_told(&e, m->kind, m->call, m->what);
	}
}

static void test_own(void **state)
{
	const struct misuse *const all[] = { misuse_of_sem,   misuse_of_futex,
					     misuse_of_mutex, misuse_of_rwlock,
					     misuse_of_cond,  misuse_of_gates,
					     misuse_of_sets };

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_all_told(all[i]);
}

static void post_named(void *arg)
{
	static struct ipcwait_sem sem;

	(void)arg;
	CHECK_EQ(ipcwait_object_set_name(&sem.window, "jobs"), 0);
	CHECK_EQ(ipcwait_sem_fini(&sem), 0);
	(void)ipcwait_sem_post(&sem);
}

static void test_name(void **state)
{
	struct ended e;

	(void)state;
	run(post_named, NULL, &e);
	assert_told(&e, "sem", "ipcwait_sem_post", "finished\n");
	assert_non_null(strstr(e.text, " 'jobs': ipcwait_sem_post()"));
}

static void assert_silent(const struct ended *e)
{
	assert_string_equal(e->text, "");
	assert_int_equal(e->status, 0);
}

/* A whole life, with everything that may come out of it. */
static void live(void *kind)
{
	const struct kind *k = kind;
	struct kinds_waiter *w;
	struct place p = { 0 };

	k->block(&p);
	if (!k->no_deadline)
		CHECK_EQ(kinds_wait(k, &p, 0), -ETIMEDOUT);
	w = kinds_start(k, &p, IPCWAIT_FOREVER);
	if (k->fini)
		CHECK_EQ(k->fini(&p), -EBUSY);
	k->release(&p);
	CHECK_EQ(kinds_join(w), 0);
	if (k->fini)
		CHECK_EQ(k->fini(&p), 0);
}

static void test_no_misuse(void **state)
{
	struct ended e;

	(void)state;
	for (const struct kind *const *k = kinds; *k; k++) {
		run(live, (void *)*k, &e);
		assert_silent(&e);
	}
	for (unsigned i = 0; no_misuse[i]; i++) {
		run(run_plain, (void *)&no_misuse[i], &e);
		assert_silent(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_common),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_no_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
