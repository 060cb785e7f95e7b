/* SPDX-License-Identifier: MIT */
/* The names of threads, and births that cannot be read at first, over the real kernel. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "os/life.h"

static void *tell_name(void *arg)
{
	*(uint64_t *)arg = iw_thread_name();
	return NULL;
}

/* Those of one process differ in the low part, and in nothing else. */
static void names_in_a_process(void)
{
	uint64_t own = iw_thread_name();

	CHECK(own & IW_NAME_THREAD);
	CHECK(own >> IW_NAME_BITS < 1 << 15);
	for (int i = 0; i < 20; i++) {
		uint64_t other = 0;
		pthread_t thread;

		CHECK_EQ(pthread_create(&thread, NULL, tell_name, &other), 0);
		CHECK_EQ(pthread_join(thread, NULL), 0);
		CHECK(other & IW_NAME_THREAD);
		CHECK((other ^ own) & IW_NAME_THREAD);
		CHECK_EQ(other >> IW_NAME_BITS, own >> IW_NAME_BITS);
		CHECK_EQ(iw_thread_name(), own);
	}
}

/* Children that have copied the same memory, before it has a name in it or after. */
static void names_of_copies(void)
{
	uint64_t names[8];
	int fds[2];

	CHECK(pipe(fds) == 0);
	for (int i = 0; i < 8; i++) {
		pid_t child;

		if (i == 4)
			(void)iw_thread_name();
		child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			uint64_t name = iw_thread_name();

			CHECK(write(fds[1], &name, sizeof(name)) == sizeof(name));
			_exit(EXIT_SUCCESS);
		}
		CHECK_EQ(check_reap(child), 0);
		CHECK(read(fds[0], &names[i], sizeof(names[i])) == sizeof(names[i]));
	}
	/* Two may be alike by chance, three are not. */
	for (int i = 1; i < 8; i++)
		CHECK((names[i] ^ names[0]) >> IW_NAME_BITS ||
		      (names[i] ^ iw_thread_name()) >> IW_NAME_BITS);
}

static void allow_descriptors(rlim_t n)
{
	struct rlimit limit;

	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	limit.rlim_cur = n < limit.rlim_max ? n : limit.rlim_max;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void *tell_birth(void *arg)
{
	*(uint32_t *)arg = iw_thread_birth();
	CHECK(iw_thread_has_birth(*(uint32_t *)arg));
	return NULL;
}

static uint32_t birth_of_another(void)
{
	uint32_t birth = 0;
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, tell_birth, &birth), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	return birth;
}

static void births_without_descriptors(void)
{
	uint32_t drawn, read;

	allow_descriptors(0);
	errno = 4711;
	drawn = iw_thread_birth();
	CHECK_EQ(errno, 4711);
	CHECK(drawn & IW_BIRTH_BEGAN && drawn & ~IW_BIRTH_BEGAN);
	CHECK(!iw_birth_known(drawn));
	CHECK_EQ(iw_thread_birth(), drawn);
	CHECK(iw_thread_has_birth(drawn));
	CHECK(birth_of_another() != drawn);
	CHECK_EQ(iw_thread_life(iw_thread_id(), drawn), IW_ALIVE);
	CHECK_EQ(iw_thread_life(iw_thread_id(), drawn ^ 1), IW_DEAD);

	allow_descriptors(64);
	read = iw_thread_birth();
	CHECK(iw_birth_known(read));
	CHECK_EQ(read & ~IW_BIRTH_BEGAN, drawn & ~IW_BIRTH_BEGAN);
	CHECK(iw_thread_has_birth(read));
	CHECK(iw_thread_has_birth(drawn));
	CHECK(!iw_thread_has_birth(read & ~IW_BIRTH_BEGAN));
	/* It is kept from now on, and nobody takes what was drawn for a proof. */
	allow_descriptors(0);
	CHECK_EQ(iw_thread_birth(), read);
	CHECK_EQ(iw_thread_life((uint32_t)getppid(), drawn), IW_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(names_in_a_process),
		CHILD_TEST(names_of_copies),
		CHILD_TEST(births_without_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
