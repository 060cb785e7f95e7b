/* SPDX-License-Identifier: MIT */
/* preload/original.c: everything is found, and where libc marks a shared condition variable. */
#include <dlfcn.h>
#include <string.h>

#include "common/cmocka_all.h"

#include "original.h"

#define THREADS 8

/* Pointers to functions in front of the two words. */
#define POINTERS (offsetof(struct originals, cond_mark) / sizeof(void *))

static void test_all_is_found_at_load(void **state)
{
	void *f[POINTERS];

	(void)state;
	assert_int_equal(iw_originals.found.v, 1);
	memcpy(f, &iw_originals, sizeof(f));
	for (unsigned i = 0; i < POINTERS; i++)
		assert_non_null(f[i]);
}

/* A function's address, as dlsym() has it. */
#define ADDRESS(f) ((uintptr_t)(f))

static void test_it_is_libcs(void **state)
{
	(void)state;
	assert_int_equal(ADDRESS(original()->sem_wait),
			 ADDRESS(dlsym(RTLD_NEXT, "sem_wait")));
	assert_int_equal(ADDRESS(original()->syscall),
			 ADDRESS(dlsym(RTLD_NEXT, "syscall")));
#ifdef __x86_64__
	assert_int_equal(ADDRESS(original()->cond_wait),
			 ADDRESS(dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2")));
	assert_int_equal(ADDRESS(original()->cond_init),
			 ADDRESS(dlvsym(RTLD_NEXT, "pthread_cond_init", "GLIBC_2.3.2")));
#endif
}

/* Bit 0 of the marked word, of a new one with these attributes. */
static uint32_t mark_of(int shared, clockid_t clock)
{
	pthread_condattr_t attributes;
	pthread_cond_t c;
	uint32_t mark;

	memset(&c, 0xff, sizeof(c));
	assert_int_equal(pthread_condattr_init(&attributes), 0);
	assert_int_equal(pthread_condattr_setpshared(&attributes, shared), 0);
	assert_int_equal(pthread_condattr_setclock(&attributes, clock), 0);
	assert_int_equal(pthread_cond_init(&c, &attributes), 0);
	mark = ((const uint32_t *)&c)[original()->cond_mark] & 1;
	assert_int_equal(pthread_cond_destroy(&c), 0);
	assert_int_equal(pthread_condattr_destroy(&attributes), 0);
	return mark;
}

static void test_the_mark_of_shared_ones(void **state)
{
	(void)state;
	assert_in_range(original()->cond_mark, 1,
			sizeof(pthread_cond_t) / sizeof(uint32_t) - 1);
	assert_int_equal(mark_of(PTHREAD_PROCESS_SHARED, CLOCK_REALTIME), 1);
	assert_int_equal(mark_of(PTHREAD_PROCESS_SHARED, CLOCK_MONOTONIC), 1);
	assert_int_equal(mark_of(PTHREAD_PROCESS_PRIVATE, CLOCK_REALTIME), 0);
	assert_int_equal(mark_of(PTHREAD_PROCESS_PRIVATE, CLOCK_MONOTONIC), 0);
}

static void *find(void *arg)
{
	struct originals *found = arg;

	*found = *original();
	return NULL;
}

/* As if they all came before the constructor. */
static void threads_find_the_same(void)
{
	struct originals before = *original(), found[THREADS];
	pthread_t t[THREADS];

	memset(&iw_originals, 0, sizeof(iw_originals));
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&t[i], NULL, find, &found[i]), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK_EQ(pthread_join(t[i], NULL), 0);
		CHECK_EQ(memcmp(&found[i], &before, sizeof(before)), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_found_at_load),
		cmocka_unit_test(test_it_is_libcs),
		cmocka_unit_test(test_the_mark_of_shared_ones),
		CHILD_TEST(threads_find_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
