/* SPDX-License-Identifier: MIT */
/*
 * The shared library as programs in other languages see it: nothing but names. Links the
 * real shared object and no static copy, so that what is found is what users get.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <dlfcn.h>

#include <cmocka.h>

#include <ipcwait/ipcwait.h>

/* Every symbol of lib/libipcwait.map. */
static const struct {
	const char *name;
	const char *node;
} exports[] = {
#include "exports.inc"
};

/* The library's own function, not the twin that the headers compile into this program. */
static void *find(const char *name)
{
	void *f = dlsym(RTLD_DEFAULT, name);
	Dl_info info;

	if (!f)
		fail_msg("%s: %s", name, dlerror());
	/* dladdr() knows no thread-local storage. */
	if (!strcmp(name, "ipcwait_impl_pool_entries"))
		return f;
	assert_int_not_equal(dladdr(f, &info), 0);
	if (!strstr(info.dli_fname, "libipcwait.so"))
		fail_msg("%s is found in %s", name, info.dli_fname);
	return f;
}

static void every_symbol_has_its_version(void **state)
{
	(void)state;
	assert_true(sizeof(exports) > 0);
	for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++) {
		void *f = find(exports[i].name);

		if (dlvsym(RTLD_DEFAULT, exports[i].name, exports[i].node) != f)
			fail_msg("%s is not %s", exports[i].name, exports[i].node);
	}
}

static void internal_names_are_hidden(void **state)
{
	(void)state;
	/* A name that exists keeps this test honest. */
	assert_non_null(dlsym(RTLD_DEFAULT, "ipcwait_version"));
	assert_null(dlsym(RTLD_DEFAULT, "iw_wait"));
	assert_null(dlsym(RTLD_DEFAULT, "iw_wake"));
	assert_null(dlsym(RTLD_DEFAULT, "iw_futex_wait"));
	assert_null(dlsym(RTLD_DEFAULT, "iw_thread"));
}

static void program_and_library_agree_on_the_version(void **state)
{
	(void)state;
	assert_string_equal(ipcwait_version(), IPCWAIT_TEST_VERSION);
}

/* What is posted through a twin is taken by inline code, and the other way round. */
static void twins_work_with_inline_code(void **state)
{
	int (*wait)(struct ipcwait_sem *) = NULL;
	int (*trywait)(struct ipcwait_sem *) = NULL;
	int (*post)(struct ipcwait_sem *) = NULL;
	int (*post_n)(struct ipcwait_sem *, uint32_t) = NULL;
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);

	(void)state;
	*(void **)&wait = find("ipcwait_sem_wait");
	*(void **)&trywait = find("ipcwait_sem_trywait");
	*(void **)&post = find("ipcwait_sem_post");
	*(void **)&post_n = find("ipcwait_sem_post_n");

	assert_int_equal(trywait(&s), -EAGAIN);
	assert_int_equal(post(&s), 0);
	assert_int_equal(ipcwait_sem_wait(&s), 0);
	assert_int_equal(ipcwait_sem_post_n(&s, 2), 0);
	assert_int_equal(wait(&s), 0);
	assert_int_equal(trywait(&s), 0);
	assert_int_equal(trywait(&s), -EAGAIN);
	assert_int_equal(post_n(&s, 5), 0);
	assert_int_equal(ipcwait_sem_value(&s), 5);
	assert_int_equal(post_n(&s, IPCWAIT_SEM_VALUE_MAX), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_value(&s), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_symbol_has_its_version),
		cmocka_unit_test(internal_names_are_hidden),
		cmocka_unit_test(program_and_library_agree_on_the_version),
		cmocka_unit_test(twins_work_with_inline_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
