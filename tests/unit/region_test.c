/* SPDX-License-Identifier: MIT */
/* <ipcwait/region.h>: what is there decides what attach says, and nothing else is changed. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "common/cmocka_all.h"

#include <ipcwait/ipcwait.h>

/* As a program in another language, or one that looks at a file, reads it. */
static const char magic[] = { 'i', 'p', 'c', 'w', 'a', 'i', 't' };

#define THREADS 4
#define ROUNDS  2000

static struct ipcwait_region with_layout(unsigned layout)
{
	struct ipcwait_region r = { 0 };

	memcpy(&r, magic, sizeof(magic));
	memset((char *)&r + sizeof(magic), (int)layout, 1);
	return r;
}

static void assert_attach(const struct ipcwait_region *there, int want,
			  const struct ipcwait_region *after)
{
	struct ipcwait_region r = *there;

	assert_int_equal(ipcwait_region_attach(&r), want);
	assert_memory_equal(&r, after, sizeof(r));
}

static void test_zeros_are_stamped(void **state)
{
	struct ipcwait_region zero = { 0 }, stamped = with_layout(IPCWAIT_LAYOUT);

	(void)state;
	assert_int_equal(ipcwait_region_layout(&zero), -EINVAL);
	assert_attach(&zero, 0, &stamped);
	assert_attach(&stamped, 0, &stamped);
	assert_int_equal(ipcwait_region_layout(&stamped), IPCWAIT_LAYOUT);
}

static void test_other_layouts(void **state)
{
	(void)state;
	for (unsigned layout = 0; layout < 256; layout++) {
		struct ipcwait_region r = with_layout(layout);

		assert_int_equal(ipcwait_region_layout(&r), (int)layout);
		assert_attach(&r, layout == IPCWAIT_LAYOUT ? 0 : -EPROTO, &r);
	}
}

/* A program that was compiled with other headers than the library that it has loaded. */
static void test_program_of_another_layout(void **state)
{
	struct ipcwait_region r = { 0 }, zero = { 0 };

	(void)state;
	assert_int_equal(ipcwait_impl_region_attach(&r, IPCWAIT_LAYOUT + 1), -EPROTO);
	assert_memory_equal(&r, &zero, sizeof(r));
	r = with_layout(IPCWAIT_LAYOUT + 1);
	assert_int_equal(ipcwait_impl_region_attach(&r, IPCWAIT_LAYOUT + 1), -EPROTO);
}

/* One bit of a header or of nothing is another: then it is no header. */
static void test_no_header(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 8 * sizeof(struct ipcwait_region); bit++) {
		struct ipcwait_region no = { 0 }, r = with_layout(IPCWAIT_LAYOUT);

		((unsigned char *)&no)[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_attach(&no, -EINVAL, &no);
		assert_int_equal(ipcwait_region_layout(&no), -EINVAL);
		if (bit / 8 >= sizeof(magic))
			continue;
		((unsigned char *)&r)[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_attach(&r, -EINVAL, &r);
		assert_int_equal(ipcwait_region_layout(&r), -EINVAL);
	}
}

static void test_bad_places(void **state)
{
	struct ipcwait_region r[2] = { 0 };

	(void)state;
	assert_int_equal(ipcwait_region_attach(NULL), -EINVAL);
	assert_int_equal(ipcwait_region_layout(NULL), -EINVAL);
	for (unsigned at = 1; at < 8; at++) {
		void *p = (char *)r + at;

		assert_int_equal(ipcwait_region_attach(p), -EINVAL);
		assert_int_equal(ipcwait_region_layout(p), -EINVAL);
	}
	assert_int_equal(((char *)r)[8], 0);
}

/* One that has its stamp is not written to. */
static void test_read_only(void **state)
{
	struct ipcwait_region *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(r != MAP_FAILED);
	assert_int_equal(ipcwait_region_attach(r), 0);
	assert_int_equal(mprotect(r, sizeof(*r), PROT_READ), 0);
	assert_int_equal(ipcwait_region_attach(r), 0);
	assert_int_equal(munmap(r, sizeof(*r)), 0);
}

static struct ipcwait_region regions[ROUNDS];

static void *attach_all(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < ROUNDS; i++)
		CHECK_EQ(ipcwait_region_attach(&regions[i]), 0);
	return NULL;
}

static void test_all_at_once(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, attach_all, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zeros_are_stamped),
		cmocka_unit_test(test_other_layouts),
		cmocka_unit_test(test_program_of_another_layout),
		cmocka_unit_test(test_no_header),
		cmocka_unit_test(test_bad_places),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_all_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
