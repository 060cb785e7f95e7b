/* SPDX-License-Identifier: MIT */
/* What <ipcwait/explain.h> and IPCWAIT_STATS=1 say of moves to other CPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "env/facts.h"
#include "watch/explain.h"
#include "watch/observe.h"
#include "watch/stats.h"

#define ROOM 8192

static char text[ROOM];

static struct iw_facts watched = { .config = { .explain = true } };

static void sleep_because_of(struct ipcwait_window *w, enum iw_reason reason)
{
	iw_observe(&watched, &(struct iw_outcome){ .window = w,
						   .kind = IPCWAIT_KIND_SEM,
						   .reason = reason });
}

static void count(enum iw_moves move, unsigned n)
{
	while (n--)
		iw_count_move(move);
}

static void has(const char *part)
{
	if (strstr(text, part))
		return;
	fprintf(stderr, "no '%s' in:\n%s", part, text);
	CHECK(false);
}

static void explain(const struct ipcwait_window *w)
{
	int n = ipcwait_explain(w, text, sizeof(text));

	CHECK_EQ(n, strlen(text));
}

static void begin(const char *place)
{
	CHECK_EQ(place ? setenv("IPCWAIT_PLACE", place, 1) : unsetenv("IPCWAIT_PLACE"), 0);
	iw_facts_forget();
}

/* Beside the reason, and nowhere else. */
static void says_what_became_of_moves(void)
{
	struct ipcwait_window w = { .bins = { 3 } }, other = { .bins = { 3 } };

	begin(NULL);
	sleep_because_of(&w, IW_SAME_CPU);
	sleep_because_of(&other, IW_WINDOW_OVER);
	count(IW_MOVES_APART, 6);
	count(IW_MOVES_KEPT, 3);
	count(IW_MOVES_BACK, 2);
	count(IW_MOVES_UNDONE, 1);
	explain(&w);
	has("moved threads 6 times away from their waker's CPU: 3 kept, 2 back, 1 "
	    "undone\n");
	count(IW_MOVES_APART, 1);
	explain(&w);
	has(" 7 times away from their waker's CPU: 3 kept, 2 back, 1 undone, 1 on trial\n");
	explain(&other);
	CHECK(!strstr(text, "moved"));
}

static void says_that_moves_are_off(void)
{
	struct ipcwait_window w = { .bins = { 3 } };

	begin("0");
	sleep_because_of(&w, IW_SAME_CPU);
	explain(&w);
	has("no thread of this process may be moved (IPCWAIT_PLACE)\n");
}

/* Threads that may run on one CPU only are not, whatever the user has asked for. */
static void says_that_none_was_moved(void)
{
	struct ipcwait_window w = { .bins = { 3 } };

	begin("1");
	sleep_because_of(&w, IW_SAME_CPU);
	explain(&w);
	has(iw_facts()->movable
		    ? "no thread of this process was moved\n"
		    : "no thread of this process may be moved (IPCWAIT_PLACE)\n");
}

/* As it is printed when the process ends. */
static void print_stats(void)
{
	FILE *f = tmpfile();
	size_t n;

	CHECK(f && dup2(fileno(f), STDERR_FILENO) == STDERR_FILENO);
	iw_stats_print();
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	CHECK_EQ(fclose(f), 0);
}

static void counted_at_exit(void)
{
	begin(NULL);
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 4);
	iw_count(IPCWAIT_KIND_SEM, IW_SLEPT, 2);
	iw_count(IPCWAIT_KIND_MUTEX, IW_EXPIRED, 3);
	iw_count(IPCWAIT_KIND_COND, IW_INTERRUPTED, 1);
	print_stats();
	CHECK(!strstr(text, "waker"));
	iw_count_reason(IW_SAME_CPU);
	count(IW_MOVES_APART, 1);
	count(IW_MOVES_KEPT, 1);
	print_stats();
	has("libipcwait: 1 of 10 waits began on the CPU of their waker\n");
	has("libipcwait: moved threads 1 times away from their waker's CPU: 1 kept, 0 "
	    "back, "
	    "0 undone\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(says_what_became_of_moves),
		CHILD_TEST(says_that_moves_are_off),
		CHILD_TEST(says_that_none_was_moved),
		CHILD_TEST(counted_at_exit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
