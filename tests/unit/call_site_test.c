/* SPDX-License-Identifier: MIT */
/*
 * Where a program waits is what new objects learn from: whatever it waits with, the library
 * must take for it a place in the program, and not one of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "kinds.h"

/* The program's code, by the linker. */
extern const char __executable_start[], etext[]; /* NOLINT(bugprone-reserved-identifier) */

static const char place_is[] = "last waited for at 0x";

/* Where the object was waited for last, as it is explained; 0 if nothing is said of it. */
static uintptr_t site_of(const struct ipcwait_window *w)
{
	char text[IPCWAIT_EXPLAIN_BYTES];
	const char *place;

	CHECK(ipcwait_explain(w, text, sizeof(text)) > 0);
	place = strstr(text, place_is);
	return place ? (uintptr_t)strtoull(place + strlen(place_is), NULL, 16) : 0;
}

static void check_kind(const struct kind *k, int64_t deadline_ns)
{
	struct place *place = calloc(1, sizeof(*place));
	struct kinds_waiter *w;
	uintptr_t site;

	CHECK(place != NULL);
	k->block(place->bytes);
	w = kinds_start(k, place->bytes, deadline_ns);
	k->release(place->bytes);
	CHECK_EQ(kinds_join(w), 0);
	site = site_of(k->window(place->bytes));
	if (site < (uintptr_t)__executable_start || site >= (uintptr_t)etext)
		fail_msg("%s: waited for at %#lx", k->name, (unsigned long)site);
	/* It stays mapped: the explanation belongs to the address. */
}

static void test_every_wait_is_in_the_program(void **state)
{
	(void)state;
	for (unsigned i = 0; kinds[i]; i++) {
		check_kind(kinds[i], IPCWAIT_FOREVER);
		if (!kinds[i]->no_deadline)
			check_kind(kinds[i], ipcwait_deadline_in_ns(60000000000));
	}
}

/* Two functions, so that the compiler does not make one call of both. */
static __attribute__((noinline)) int wait_here(struct ipcwait_sem *s)
{
	int r = ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(1000000));

	return r + 1;
}

static __attribute__((noinline)) int wait_there(struct ipcwait_sem *s)
{
	int r = ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(1000001));

	return r + 2;
}

static void test_each_call_is_a_site(void **state)
{
	static struct ipcwait_sem s[3];
	uintptr_t here, there;

	(void)state;
	assert_int_equal(wait_here(&s[0]), -ETIMEDOUT + 1);
	assert_int_equal(wait_there(&s[1]), -ETIMEDOUT + 2);
	assert_int_equal(wait_here(&s[2]), -ETIMEDOUT + 1);
	here = site_of(&s[0].window);
	there = site_of(&s[1].window);
	assert_true(here != 0 && there != 0 && here != there);
	assert_int_equal(site_of(&s[2].window), here);
	/* On the same object the last one counts. */
	assert_int_equal(wait_there(&s[2]), -ETIMEDOUT + 2);
	assert_int_equal(site_of(&s[2].window), there);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_wait_is_in_the_program),
		cmocka_unit_test(test_each_call_is_a_site),
	};

	(void)argc;
	check_environment(argv, "IPCWAIT_EXPLAIN", "1");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
