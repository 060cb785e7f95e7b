/* SPDX-License-Identifier: MIT */
/* What `ipcwait doctor` says of the CPUs on which woken threads run. */
#include <stdio.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "../cli/doctor.h"
#include "../cli/doctor_place.h"

/* What was tried out, and how often. */
static struct doctor_place tried;
static unsigned tries;

void doctor_place_try(struct doctor_place *p)
{
	*p = tried;
	tries++;
}

static const struct doctor_finding *examine(const char *root)
{
	static struct doctor_finding all[DOCTOR_FINDINGS_MOST];
	static struct info info;
	unsigned n;

	info = (struct info){ .root = root };
	tries = 0;
	n = doctor_examine(all, &info);
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(all[i].what, "place"))
			return &all[i];
	fail_msg("there is no such check");
	return NULL;
}

static const struct doctor_finding *about(unsigned wakes, unsigned beside)
{
	tried = (struct doctor_place){ .wakes = wakes, .beside = beside };
	return examine("");
}

static void test_never_chosen(void **state)
{
	const struct doctor_finding *f = about(2000, 1980);

	(void)state;
	assert_int_equal(f->verdict, DOCTOR_NOTE);
	assert_non_null(strstr(f->text, "1980 of 2000 wakes"));
	assert_non_null(strstr(f->text, "does not choose it"));
	assert_non_null(strstr(f->advice, "`ipcwait run`"));
	assert_non_null(strstr(f->advice, "IPCWAIT_PLACE=1"));
	assert_non_null(strstr(f->advice, "`ipcwait awake`"));
}

static void test_chosen(void **state)
{
	const struct doctor_finding *f = about(2000, 12);

	(void)state;
	assert_int_equal(f->verdict, DOCTOR_OK);
	assert_non_null(strstr(f->text, "12 of 2000 wakes"));
	assert_null(f->advice);
}

/* Half is chosen, and more is not. */
static void test_between(void **state)
{
	(void)state;
	assert_int_equal(about(2000, 1000)->verdict, DOCTOR_OK);
	assert_int_equal(about(2000, 1001)->verdict, DOCTOR_NOTE);
}

static void test_not_judged(void **state)
{
	const struct doctor_finding *f;

	(void)state;
	tried = (struct doctor_place){ .why_not = "other programs want the CPUs",
				       .wakes = 4,
				       .beside = 4 };
	f = examine("");
	assert_int_equal(f->verdict, DOCTOR_UNKNOWN);
	assert_string_equal(f->text, "not judged where woken threads run: other programs "
				     "want the CPUs");
	assert_null(f->advice);
}

/* This machine says nothing about another. */
static void test_a_saved_tree(void **state)
{
	const struct doctor_finding *f;

	(void)state;
	tried = (struct doctor_place){ .wakes = 4, .beside = 4 };
	f = examine("tree");
	assert_int_equal(f->verdict, DOCTOR_UNKNOWN);
	assert_non_null(strstr(f->text, "saved tree"));
	assert_int_equal(tries, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_chosen), cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_between),      cmocka_unit_test(test_not_judged),
		cmocka_unit_test(test_a_saved_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
