/* SPDX-License-Identifier: MIT */
/*
 * <ipcwait/explain.h>, and what is printed when a process ends. Looks for words that a reader
 * needs, not for the exact text. A process gathers its configuration once, so each test is a
 * process of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "env/facts.h"
#include "policy/window.h"
#include "watch/objects.h"
#include "watch/observe.h"
#include "watch/stats.h"

#define ROOM (1 << 20)

static char printed[ROOM];

/* Long enough for a wait to sleep. */
#define SOON_NS 50000000

static uint64_t waits_of(const struct ipcwait_sem *s)
{
	struct ipcwait_object_stats st;

	CHECK_EQ(ipcwait_object_stats_get(&s->window, &st, sizeof(st)), sizeof(st));
	return st.waits;
}

/*
 * Wait until the deadline. A wait that begins after its deadline is none, and not counted: a thread
 * that is switched out between the two makes another.
 */
static void expire(struct ipcwait_sem *s, uint64_t times)
{
	for (uint64_t counted = 0; counted < times; counted = waits_of(s))
		CHECK_EQ(ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(SOON_NS)),
			 -ETIMEDOUT);
}

static void take_environment(const char *explain, const char *stats)
{
	CHECK_EQ(setenv("IPCWAIT_CALIBRATION", "none", 1), 0);
	CHECK_EQ(explain ? setenv("IPCWAIT_EXPLAIN", explain, 1)
			 : unsetenv("IPCWAIT_EXPLAIN"),
		 0);
	CHECK_EQ(stats ? setenv("IPCWAIT_STATS", stats, 1) : unsetenv("IPCWAIT_STATS"), 0);
	iw_facts_forget();
}

/* Run @body in a process with this environment that ends with exit(); keep what it printed. */
static void run(const char *explain, const char *stats, void (*body)(void))
{
	size_t length = 0;
	int ends[2];
	pid_t child;
	ssize_t n;

	CHECK_EQ(pipe(ends), 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		CHECK_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		take_environment(explain, stats);
		body();
		exit(0); /* NOLINT */
	}
	close(ends[1]);
	while ((n = read(ends[0], printed + length, ROOM - 1 - length)) > 0)
		length += (size_t)n;
	printed[length] = '\0';
	close(ends[0]);
	CHECK_EQ(check_reap(child), 0);
}

static void has(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	fprintf(stderr, "no '%s' in:\n%s", part, text);
	CHECK(false);
}

static unsigned occurrences(const char *text, const char *part)
{
	unsigned n = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		n++;
	}
	return n;
}

static void explain(const struct ipcwait_window *w, char text[IPCWAIT_EXPLAIN_BYTES])
{
	int n = ipcwait_explain(w, text, IPCWAIT_EXPLAIN_BYTES);

	CHECK_EQ(n, strlen(text));
}

static void bad_arguments(void)
{
	_Alignas(8) char bytes[32] = { 0 };
	const struct ipcwait_window *crooked = (const void *)(bytes + 4);
	struct ipcwait_window w = { 0 };
	char text[8];

	errno = 4711;
	CHECK_EQ(ipcwait_explain(NULL, text, sizeof(text)), -EINVAL);
	CHECK_EQ(ipcwait_explain(&w, NULL, 1), -EINVAL);
	CHECK_EQ(ipcwait_explain(crooked, text, sizeof(text)), -EINVAL);
	CHECK(ipcwait_explain(&w, NULL, 0) > 0);
	CHECK_EQ(ipcwait_object_set_name(NULL, "x"), -EINVAL);
	CHECK_EQ(ipcwait_object_set_name(crooked, "x"), -EINVAL);
	CHECK_EQ(ipcwait_object_set_name(&w, NULL), -EINVAL);
	CHECK_EQ(errno, 4711);
}

/* Cut anywhere, it is the beginning of the whole, and nothing is written beyond. */
static void is_cut_like_snprintf(void)
{
	static char whole[IPCWAIT_EXPLAIN_BYTES], part[IPCWAIT_EXPLAIN_BYTES + 1];
	struct ipcwait_window w = { 0 };

	for (int i = 0; i < 31; i++)
		iw_window_record(&w, 0, 1, 0);
	take_environment(NULL, NULL);
	explain(&w, whole);
	for (size_t size = 1; size <= strlen(whole) + 1; size++) {
		memset(part, 0x5a, sizeof(part));
		CHECK_EQ(ipcwait_explain(&w, part, size), strlen(whole));
		CHECK_EQ(strlen(part), size - 1);
		CHECK_EQ(memcmp(part, whole, size - 1), 0);
		CHECK_EQ(part[size], 0x5a);
	}
}

/* Whatever another process has written into a window, it is explained and fits. */
static void takes_any_window(void)
{
	static char text[IPCWAIT_EXPLAIN_BYTES];
	uint64_t seed = check_seed();

	take_environment("1", NULL);
	for (int i = 0; i < 20000; i++) {
		struct ipcwait_window w = { .bins = { check_random(&seed) },
					    .stamp = { (uint32_t)check_random(&seed) },
					    .state = { (uint32_t)check_random(&seed) } };

		CHECK(ipcwait_explain(&w, text, sizeof(text)) <
		      IPCWAIT_EXPLAIN_BYTES - IPCWAIT_NAME_BYTES);
	}
}

static void names(void)
{
	struct ipcwait_window w = { 0 }, nameless = { 0 };
	char text[IPCWAIT_EXPLAIN_BYTES];

	take_environment(NULL, NULL);
	CHECK_EQ(ipcwait_object_set_name(&w, "jobs"), 0);
	explain(&w, text);
	has(text, " \"jobs\"\n");
	has(text, "no wait in this process had to wait");
	explain(&nameless, text);
	has(text, "it has no name, and IPCWAIT_EXPLAIN is not set");
	CHECK_EQ(ipcwait_object_set_name(&w, "12345678901234567890123456789012"), -EINVAL);
	CHECK_EQ(ipcwait_object_set_name(&w, "a\nb"), -EINVAL);
	CHECK_EQ(ipcwait_object_set_name(&w, "a\x7f"), -EINVAL);
	explain(&w, text);
	has(text, " \"jobs\"\n");
	CHECK_EQ(ipcwait_object_set_name(&w, "1234567890123456789012345678901"), 0);
	explain(&w, text);
	has(text, " \"1234567890123456789012345678901\"\n");
	CHECK_EQ(ipcwait_object_set_name(&w, "\xc3\xa4"), 0);
	explain(&w, text);
	has(text, " \"\xc3\xa4\"\n");
	CHECK_EQ(ipcwait_object_set_name(&w, ""), 0);
	explain(&w, text);
	CHECK(!strchr(text, '"'));
}

static void table_full(void)
{
	static struct ipcwait_window windows[2 * IW_OBJECTS];
	char text[IPCWAIT_EXPLAIN_BYTES], name[16];
	unsigned named = 0, entries = 0;

	take_environment(NULL, NULL);
	for (unsigned i = 0; i < 2 * IW_OBJECTS; i++) {
		int r;

		snprintf(name, sizeof(name), "n%u", i);
		r = ipcwait_object_set_name(&windows[i], name);
		CHECK(r == 0 || r == -ENOSPC);
		named += r == 0;
	}
	for (unsigned i = 0; i < IW_OBJECTS; i++)
		entries += iw_object_at(&iw_objects, i) != NULL;
	CHECK_EQ(entries, named);
	CHECK(named > IW_OBJECTS / 2);
	CHECK_EQ(iw_objects.missed.v, 0);
	/* Those that are in stay in, and those that are not can still be explained. */
	CHECK_EQ(ipcwait_object_set_name(&windows[0], "first"), 0);
	explain(&windows[0], text);
	has(text, "\"first\"");
	explain(&windows[2 * IW_OBJECTS - 1], text);
}

static struct iw_facts watched = { .config = { .explain = true } };

static void observe(struct ipcwait_window *w, const struct iw_outcome *o)
{
	struct iw_outcome of_sem = *o;

	of_sem.window = w;
	of_sem.kind = IPCWAIT_KIND_SEM;
	iw_observe(&watched, &of_sem);
}

static void counts_every_wait(void)
{
	struct ipcwait_window w = { .bins = { 3 } };
	char text[IPCWAIT_EXPLAIN_BYTES];

	take_environment("1", NULL);
	for (int i = 0; i < 7; i++)
		observe(&w, &(struct iw_outcome){ .spun_useful_ns = 1000 });
	for (unsigned r = IW_NO_REASON + 1; r < IW_REASONS; r++)
		for (unsigned i = 0; i < 100 + r; i++)
			observe(&w, &(struct iw_outcome){ .reason = (enum iw_reason)r,
							  .result = i ? 0 : -ETIMEDOUT,
							  .spun_wasted_ns = 1000,
							  .slept_ns = 1000000,
							  .window_ns = 4200 });
	explain(&w, text);
	has(text, "sem with");
	has(text, "7 of 1743 waits ended without a sleep, 16 gave up");
	has(text, "7.0 us spun to good purpose, 1.7 ms in vain, 1.7 s asleep");
	has(text, "1736 slept");
	has(text, " was 4.2 us");
	for (unsigned r = IW_NO_REASON + 1; r < IW_REASONS; r++) {
		char line[80];

		snprintf(line, sizeof(line), " %u  %s: %s", 100 + r,
			 iw_reason_name((enum iw_reason)r),
			 iw_reason_sentence((enum iw_reason)r));
		has(text, line);
	}
}

#define THREADS 4
#define ROUNDS  20000

static struct ipcwait_window contended[8];

static void *observe_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++)
		observe(&contended[i % 8],
			&(struct iw_outcome){ .reason = IW_WINDOW_OVER });
	return NULL;
}

/* Threads that meet an object for the first time share its entry, and no wait is lost. */
static void threads_share_an_entry(void)
{
	char text[IPCWAIT_EXPLAIN_BYTES];
	pthread_t thread[THREADS];

	take_environment("1", NULL);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, observe_often, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	for (int i = 0; i < 8; i++) {
		explain(&contended[i], text);
		has(text, "\n  0 of 10000 waits ended without a sleep");
	}
}

static struct ipcwait_sem jobs, other;

static void wait_on_jobs(void)
{
	CHECK_EQ(ipcwait_object_set_name(&jobs.window, "jobs"), 0);
	expire(&jobs, 3);
}

static void explained_at_exit(void)
{
	run("1", NULL, wait_on_jobs);
	has(printed, "sem with its window at ");
	has(printed, "\"jobs\"");
	has(printed, "  0 of 3 waits ended without a sleep, 3 gave up");
	CHECK(!strstr(printed, "libipcwait:"));
	run("1", "1", wait_on_jobs);
	has(printed, "3 gave up");
	has(printed, "libipcwait: a sleep and its wake cost ");
	has(printed, "sem    waits that timed out");
	CHECK(!strstr(printed, "futex  "));
	run(NULL, "1", wait_on_jobs);
	has(printed, "sem    waits that timed out                  3\n");
	CHECK(!strstr(printed, "jobs"));
	run(NULL, NULL, wait_on_jobs);
	CHECK_EQ(strlen(printed), 0);
	run("0", "0", wait_on_jobs);
	CHECK_EQ(strlen(printed), 0);
}

static void do_nothing(void)
{
}

static void end_at_once(void)
{
	wait_on_jobs();
	_exit(0);
}

static void silent_if_there_is_nothing_to_tell(void)
{
	run("1", "1", do_nothing);
	CHECK_EQ(strlen(printed), 0);
	run("1", "1", end_at_once);
	CHECK_EQ(strlen(printed), 0);
}

/* Numbers as long as they can be, but for times, of which there are few. */
#define COUNTED (UINT64_MAX / 2)

static void count_everything(void)
{
	CHECK(iw_facts() != NULL);
	for (unsigned k = 0; k < IPCWAIT_KIND_COUNT; k++)
		for (unsigned e = 0; e < IW_EVENTS; e++)
			iw_count((enum ipcwait_kind)k, (enum iw_event)e, COUNTED);
	for (unsigned r = IW_NO_REASON + 1; r < IW_REASONS; r++)
		iw_count_reason((enum iw_reason)r);
}

/* Longer than any buffer on the way: every counter is there. */
static void statistics_are_not_cut(void)
{
	char number[24];
	const char *last = printed;

	snprintf(number, sizeof(number), "%" PRIu64 "\n", COUNTED);
	run(NULL, "1", count_everything);
	CHECK_EQ(occurrences(printed, number), IPCWAIT_KIND_COUNT * (IW_EVENTS - 3));
	CHECK_EQ(occurrences(printed, " s\n"), IPCWAIT_KIND_COUNT * 3);
	for (unsigned k = 0; k < IPCWAIT_KIND_COUNT; k++) {
		char heading[64];

		snprintf(heading, sizeof(heading), "\n  %-6s waits that ended spinning",
			 iw_kind_name((enum ipcwait_kind)k));
		last = strstr(last, heading);
		CHECK(last != NULL);
	}
	for (unsigned r = IW_NO_REASON + 1; r < IW_REASONS; r++)
		has(last, iw_reason_name((enum iw_reason)r));
	CHECK(strlen(printed) > 4096);
	CHECK_EQ(printed[strlen(printed) - 1], '\n');
}

static void *end_from_thread(void *arg)
{
	(void)arg;
	CHECK_EQ(ipcwait_object_set_name(&other.window, "other"), 0);
	expire(&other, 2);
	exit(0); /* NOLINT */
}

static void end_in_a_thread(void)
{
	pthread_t thread;

	wait_on_jobs();
	CHECK_EQ(pthread_create(&thread, NULL, end_from_thread, NULL), 0);
	for (;;)
		pause();
}

static void any_thread_may_exit(void)
{
	run("1", NULL, end_in_a_thread);
	has(printed, "3 gave up");
	has(printed, "2 gave up");
}

/* The memory of an object may be gone by the end. */
static void wait_on_what_goes(void)
{
	struct ipcwait_sem *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(s != MAP_FAILED);
	CHECK_EQ(ipcwait_object_set_name(&s->window, "gone"), 0);
	expire(s, 4);
	CHECK_EQ(munmap(s, 4096), 0);
}

static void dead_objects_are_explained(void)
{
	run("1", NULL, wait_on_what_goes);
	has(printed, "\"gone\"");
	has(printed, "  0 of 4 waits ");
}

static void wait_on_many(void)
{
	static struct ipcwait_window many[300];

	/* Gathers the facts. */
	CHECK(ipcwait_explain(&many[0], NULL, 0) > 0);
	for (int i = 0; i < 300; i++)
		observe(&many[i], &(struct iw_outcome){ .reason = IW_WINDOW_OVER });
}

/* Every wait is either told of or counted as not told of. */
static void too_many_objects(void)
{
	const char *line;
	unsigned told;

	run("1", NULL, wait_on_many);
	line = strstr(printed, "libipcwait: ");
	CHECK(line);
	told = occurrences(printed, "  0 of 1 waits ended without a sleep, 0 gave up");
	CHECK(told <= IW_OBJECTS);
	CHECK_EQ(strtoul(line + strlen("libipcwait: "), NULL, 10), 300 - told);
}

static void wait_without_stderr(void)
{
	close(STDERR_FILENO);
	wait_on_jobs();
}

static void stderr_may_be_closed(void)
{
	run("1", "1", wait_without_stderr);
	CHECK_EQ(strlen(printed), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(bad_arguments),
		CHILD_TEST(is_cut_like_snprintf),
		CHILD_TEST(takes_any_window),
		CHILD_TEST(names),
		CHILD_TEST(table_full),
		CHILD_TEST(counts_every_wait),
		CHILD_TEST(threads_share_an_entry),
		CHILD_TEST(explained_at_exit),
		CHILD_TEST(silent_if_there_is_nothing_to_tell),
		CHILD_TEST(statistics_are_not_cut),
		CHILD_TEST(any_thread_may_exit),
		CHILD_TEST(dead_objects_are_explained),
		CHILD_TEST(too_many_objects),
		CHILD_TEST(stderr_may_be_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
