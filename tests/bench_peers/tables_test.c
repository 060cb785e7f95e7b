/* SPDX-License-Identifier: MIT */
/* Every table: names that fit a dimension and stand once; who is not there says why. */
#include "bench/peers/peers.h"
#include "common/cmocka_all.h"

#include <stdio.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static void check_peer(const char *name, const void *ops, const char *missing)
{
	static const char fit[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

	fprintf(stderr, "%s: %s\n", name, ops ? "there" : missing);
	CHECK(strspn(name, fit) == strlen(name) && *name);
	if (ops)
		CHECK(!missing);
	else
		CHECK(missing && (begins(missing, "not built: ") ||
				  begins(missing, "not yet in libipcwait: ")));
}

/* Of the rest of the table, whose first name is at @rest and whose rows have @size bytes. */
static void check_once(const char *name, const void *rest, size_t size)
{
	const char *other;

	for (const char *row = rest; (other = *(const char *const *)(const void *)row);
	     row += size)
		CHECK(strcmp(name, other) != 0);
}

static void test_sems(void **state)
{
	(void)state;
	CHECK(!strcmp(sem_peers[0].name, "ipcwait") &&
	      !strcmp(sem_peers[1].name, "glibc") &&
	      !strcmp(sem_peers[2].name, "glibc-again"));
	for (const struct sem_peer *p = sem_peers; p->name; p++) {
		check_peer(p->name, p->ops, p->missing);
		check_once(p->name, p + 1, sizeof(*p));
	}
}

static void test_locks(void **state)
{
	(void)state;
	CHECK(!strcmp(lock_peers[0].name, "ipcwait") &&
	      !strcmp(lock_peers[1].name, "glibc") &&
	      !strcmp(lock_peers[2].name, "glibc-again"));
	for (const struct lock_peer *p = lock_peers; p->name; p++) {
		check_peer(p->name, p->ops, p->missing);
		check_once(p->name, p + 1, sizeof(*p));
	}
}

/* A benchmark may have the names of both tables. */
static void test_tokens(void **state)
{
	(void)state;
	for (const struct lock_peer *p = token_peers; p->name; p++) {
		check_peer(p->name, p->ops, p->missing);
		check_once(p->name, p + 1, sizeof(*p));
		check_once(p->name, lock_peers, sizeof(*p));
	}
}

static void test_conds(void **state)
{
	(void)state;
	CHECK(!strcmp(cond_peers[0].name, "ipcwait") &&
	      !strcmp(cond_peers[1].name, "glibc") &&
	      !strcmp(cond_peers[2].name, "glibc-again"));
	for (const struct cond_peer *p = cond_peers; p->name; p++) {
		check_peer(p->name, p->ops, p->missing);
		check_once(p->name, p + 1, sizeof(*p));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sems),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_conds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
