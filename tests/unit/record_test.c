/* SPDX-License-Identifier: MIT */
/* IPCWAIT_RECORD: what is in the file, and when there is none. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "env/facts.h"
#include "watch/record.h"

#define FILE_BYTES (IW_RECORD_LINES * 32)

static char folder[] = "/tmp/ipcwait-record-XXXXXX";
static char path[64], complaints[64];
static char content[FILE_BYTES + 1];

/* In a folder of its own, with stderr in a file beside it. */
static void prepare(void)
{
	int fd;

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/waits", folder);
	snprintf(complaints, sizeof(complaints), "%s/stderr", folder);
	fd = open(complaints, O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	fflush(stderr);
	CHECK_EQ(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
}

static void tidy_up(void)
{
	(void)unlink(path);
	CHECK_EQ(unlink(complaints), 0);
	CHECK_EQ(rmdir(folder), 0);
}

static size_t read_file(const char *name)
{
	FILE *f = fopen(name, "re");
	size_t n;

	CHECK(f);
	n = fread(content, 1, FILE_BYTES, f);
	CHECK_EQ(getc(f), EOF);
	fclose(f);
	content[n] = '\0';
	return n;
}

static unsigned lines_of_stderr(void)
{
	unsigned lines = 0;

	read_file(complaints);
	for (const char *p = content; *p; p++)
		lines += *p == '\n';
	return lines;
}

/* The length in line @i, for the object @address; the line must be whole. */
static uint64_t wait_in_line(unsigned i, uint64_t address)
{
	const char *line = content + (size_t)i * 32;
	uint64_t ns = 0, object = 0;
	int used = 0;

	CHECK_EQ(sscanf(line, "%" SCNu64 " %" SCNx64 "%n", &ns, &object, &used), 2);
	CHECK_EQ(used, 31);
	CHECK_EQ(line[31], '\n');
	CHECK_EQ(object, address);
	return ns;
}

static void only_newlines_from(unsigned i)
{
	for (size_t at = (size_t)i * 32; at < FILE_BYTES; at++)
		CHECK_EQ(content[at], '\n');
}

static struct ipcwait_window window;

static void one_line_for_each_wait(void)
{
	struct stat st;

	prepare();
	errno = 4711;
	iw_record_wait(path, &window, 1);
	iw_record_wait(path, &window, 123456789);
	iw_record_wait(path, NULL, UINT64_MAX);
	CHECK_EQ(errno, 4711);
	CHECK_EQ(read_file(path), FILE_BYTES);
	CHECK_EQ(content[0], '#');
	CHECK_EQ(content[31], '\n');
	CHECK_EQ(wait_in_line(1, (uintptr_t)&window), 1);
	CHECK_EQ(wait_in_line(2, (uintptr_t)&window), 123456789);
	CHECK_EQ(wait_in_line(3, 0), 1000000000000);
	only_newlines_from(4);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode, S_IFREG | 0600);
	CHECK_EQ(lines_of_stderr(), 0);
	tidy_up();
}

#define THREADS 4
#define EACH    2000

static void *record_some(void *arg)
{
	uint64_t first = (uintptr_t)arg;

	for (uint64_t i = 0; i < EACH; i++)
		iw_record_wait(path, &window, first + i);
	return NULL;
}

static void record_in_threads(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, record_some,
					(void *)(1 + i * EACH)),
			 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

/* Each number at most @most times; returns how many lines there are. */
static unsigned count_lines(unsigned most)
{
	static unsigned char seen[THREADS * EACH + 1];
	unsigned lines = 1;

	CHECK_EQ(read_file(path), FILE_BYTES);
	for (; lines < IW_RECORD_LINES && content[(size_t)lines * 32] != '\n'; lines++) {
		uint64_t ns = wait_in_line(lines, (uintptr_t)&window);

		CHECK(ns >= 1 && ns <= THREADS * EACH);
		CHECK(seen[ns]++ < most);
	}
	only_newlines_from(lines);
	return lines - 1;
}

/* Threads that come while the file is made go unrecorded, so the first wait is made alone. */
static void threads_get_lines_of_their_own(void)
{
	prepare();
	iw_record_wait(path, &window, 1);
	record_in_threads();
	CHECK_EQ(count_lines(2), THREADS * EACH + 1);
	tidy_up();
}

static void a_race_for_the_file_leaves_a_whole_one(void)
{
	prepare();
	record_in_threads();
	CHECK(count_lines(1) >= EACH);
	CHECK_EQ(lines_of_stderr(), 0);
	tidy_up();
}

static void children_share_the_file(void)
{
	pid_t child;

	prepare();
	iw_record_wait(path, &window, 1);
	child = fork();
	CHECK(child >= 0);
	record_in_threads();
	if (child == 0)
		_exit(0);
	CHECK_EQ(check_reap(child), 0);
	CHECK_EQ(count_lines(3), 2 * THREADS * EACH + 1);
	tidy_up();
}

static void good_after_a_crash(void)
{
	pid_t child;

	prepare();
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		iw_record_wait(path, &window, 17);
		iw_record_wait(path, &window, 18);
		kill(getpid(), SIGKILL);
	}
	CHECK(WIFSIGNALED(check_reap(child)));
	CHECK_EQ(read_file(path), FILE_BYTES);
	CHECK_EQ(wait_in_line(2, (uintptr_t)&window), 18);
	only_newlines_from(3);
	tidy_up();
}

static void stops_when_full(void)
{
	prepare();
	for (unsigned i = 0; i < 2 * IW_RECORD_LINES; i++)
		iw_record_wait(path, &window, 1 + i);
	CHECK_EQ(read_file(path), FILE_BYTES);
	for (unsigned i = 1; i < IW_RECORD_LINES; i++)
		CHECK_EQ(wait_in_line(i, (uintptr_t)&window), i);
	CHECK_EQ(lines_of_stderr(), 0);
	tidy_up();
}

static void existing_file_is_left_alone(void)
{
	FILE *f;

	prepare();
	f = fopen(path, "we");
	CHECK(f && fputs("precious", f) >= 0);
	CHECK_EQ(fclose(f), 0);
	for (int i = 0; i < 3; i++)
		iw_record_wait(path, &window, 1);
	CHECK_EQ(lines_of_stderr(), 1);
	CHECK_EQ(read_file(path), 8);
	CHECK_EQ(strcmp(content, "precious"), 0);
	tidy_up();
}

static void links_are_not_followed(void)
{
	char target[96];

	prepare();
	snprintf(target, sizeof(target), "%s/target", folder);
	CHECK_EQ(symlink(target, path), 0);
	iw_record_wait(path, &window, 1);
	CHECK_EQ(lines_of_stderr(), 1);
	CHECK_EQ(access(target, F_OK), -1);
	tidy_up();
}

static void no_such_folder(void)
{
	char elsewhere[96];

	prepare();
	snprintf(elsewhere, sizeof(elsewhere), "%s/no/waits", folder);
	for (int i = 0; i < 3; i++)
		iw_record_wait(elsewhere, &window, 1);
	CHECK_EQ(lines_of_stderr(), 1);
	tidy_up();
}

/* As on a full disk: what was begun is taken away again. */
static void no_room_for_the_file(void)
{
	struct rlimit limit = { FILE_BYTES / 2, FILE_BYTES / 2 };

	prepare();
	CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 3; i++)
		iw_record_wait(path, &window, 1);
	CHECK_EQ(access(path, F_OK), -1);
	CHECK_EQ(lines_of_stderr(), 1);
	tidy_up();
}

/* Through the engine: the true length of a wait that slept, not how long it slept. */
static void waits_are_recorded(void)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	struct ipcwait_stats st;
	unsigned waits = 0;

	prepare();
	CHECK_EQ(setenv("IPCWAIT_CALIBRATION", "none", 1), 0);
	CHECK_EQ(setenv("IPCWAIT_RECORD", path, 1), 0);
	iw_facts_forget();
	for (int i = 0; i < 5; i++)
		CHECK_EQ(ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(50000000)),
			 -ETIMEDOUT);
	CHECK(ipcwait_stats_get(&st, sizeof(st)) > 0);
	/* On one CPU nothing is measured. */
	if (st.usable_cpus > 1) {
		CHECK_EQ(read_file(path), FILE_BYTES);
		for (; content[(size_t)(waits + 1) * 32] != '\n'; waits++)
			CHECK(wait_in_line(waits + 1, (uintptr_t)&s.window) >= 2000000);
		CHECK_EQ(waits, 5);
	}
	tidy_up();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(one_line_for_each_wait),
		CHILD_TEST(threads_get_lines_of_their_own),
		CHILD_TEST(a_race_for_the_file_leaves_a_whole_one),
		CHILD_TEST(children_share_the_file),
		CHILD_TEST(good_after_a_crash),
		CHILD_TEST(stops_when_full),
		CHILD_TEST(existing_file_is_left_alone),
		CHILD_TEST(links_are_not_followed),
		CHILD_TEST(no_such_folder),
		CHILD_TEST(no_room_for_the_file),
		CHILD_TEST(waits_are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
