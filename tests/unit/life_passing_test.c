/* SPDX-License-Identifier: MIT */
/* lib/os/life.c, where the namespace cannot be read for a while, or at all. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cmocka_all.h"
#include "os/life.h"

#define NAMESPACE_ONE (IW_BIRTH_BEGAN + 1)

/* What stat(2) says of files with that name, and how often it has said so. */
static struct {
	const char *name;
	int error;
	unsigned times;
} stat_fails;

/* In place of the C library's. */
int stat(const char *path, struct stat *st)
{
	const char *name = strrchr(path, '/');

	if (stat_fails.name && name && strcmp(name + 1, stat_fails.name) == 0) {
		stat_fails.times++;
		errno = stat_fails.error;
		return -1;
	}
	return fstatat(AT_FDCWD, path, st, 0);
}

static void *ask_birth(void *birth)
{
	*(uint32_t *)birth = iw_thread_birth();
	CHECK_EQ(stat_fails.times, 1);
	CHECK_EQ(iw_thread_birth(), *(uint32_t *)birth);
	CHECK_EQ(stat_fails.times, stat_fails.error == ENOENT ? 1 : 2);
	CHECK_EQ(iw_thread_life(iw_thread_id(), iw_thread_birth()),
		 *(uint32_t *)birth ? IW_ALIVE : IW_UNKNOWN);
	stat_fails.name = NULL;
	*(uint32_t *)birth = iw_thread_birth();
	return NULL;
}

/* Of a new thread, which has no birth yet, at last. */
static uint32_t birth_after(const char *name, int error)
{
	uint32_t birth;
	pthread_t thread;

	stat_fails.name = name;
	stat_fails.error = error;
	stat_fails.times = 0;
	CHECK_EQ(pthread_create(&thread, NULL, ask_birth, &birth), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	return birth;
}

/* What passes is not kept; what does not is asked once. */
static void namespace_not_read(void)
{
	static const char *const names[] = { "pid", "time" };
	static const int errors[] = { ENOMEM, EINTR, EMFILE, ENFILE };

	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < 4; j++) {
			uint32_t birth = birth_after(names[i], errors[j]);

			CHECK(iw_birth_known(birth));
			CHECK_EQ(birth / NAMESPACE_ONE, iw_thread_birth() / NAMESPACE_ONE);
		}
	CHECK_EQ(birth_after("pid", ENOENT), 0);
	CHECK(iw_birth_known(birth_after("time", ENOENT)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(namespace_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
