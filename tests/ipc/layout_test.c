/* SPDX-License-Identifier: MIT */
/*
 * Programs that share memory without having been built together: each learns from the header,
 * before it uses an object, whether that was made for its own layout.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "layout_other.h"
#include "process.h"
#include "region.h"

#define PROCESSES 6
#define ROUNDS    300
#define LONG_NS   INT64_C(100000000000)

static void attach(struct region *r)
{
	CHECK_EQ(ipcwait_region_attach(&r->header), 0);
}

/* Nobody is the first by agreement, and some are killed meanwhile. */
static void all_at_once(void)
{
	for (int round = 0; round < ROUNDS / PROCESSES; round++) {
		struct region *r = region_create();
		pid_t child[PROCESSES];

		for (int i = 0; i < PROCESSES; i++)
			child[i] = region_fork(r, attach);
		CHECK(kill(child[round % PROCESSES], SIGKILL) == 0);
		for (int i = 0; i < PROCESSES; i++)
			CHECK(i == round % PROCESSES || check_reap(child[i]) == 0);
		(void)check_reap(child[round % PROCESSES]);
		attach(r);
		CHECK_EQ(ipcwait_region_layout(&r->header), IPCWAIT_LAYOUT);
		region_destroy(r);
	}
}

static void use(struct region *r)
{
	attach(r);
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
}

static void same_layout(void)
{
	struct region *r = region_create();
	pid_t user = region_fork(r, use);

	attach(r);
	CHECK_EQ(ipcwait_sem_wait_until(&r->items, ipcwait_deadline_in_ns(LONG_NS)), 0);
	region_join(user);
	region_destroy(r);
}

/* It has looked, and done nothing else. */
static void be_refused(struct region *r)
{
	struct region before;

	memcpy(&before, r, sizeof(before));
	CHECK_EQ(ipcwait_region_attach(&r->header), -EPROTO);
	CHECK_EQ(ipcwait_region_layout(&r->header), OTHER_LAYOUT);
	CHECK(memcmp(&before, r, sizeof(before)) == 0);
}

/* As the later version would stamp it, if the library that is loaded were of that version too. */
static void other_layout(void)
{
	struct region *r = region_create();

	attach(r);
	((unsigned char *)&r->header)[7] = OTHER_LAYOUT;
	for (int i = 0; i < PROCESSES; i++)
		region_join(region_fork(r, be_refused));
	region_destroy(r);
}

static void be_refused_as_other(struct region *r)
{
	CHECK_EQ(other_attach(&r->header), -EPROTO);
}

/* A program that was compiled with later headers, and finds an earlier library. */
static void other_program(void)
{
	struct region *r = region_create();

	region_join(region_fork(r, be_refused_as_other));
	CHECK_EQ(ipcwait_region_layout(&r->header), -EINVAL);
	attach(r);
	region_join(region_fork(r, be_refused_as_other));
	region_destroy(r);
}

/* The number stands behind the magic, at byte 8. */
static void channel_of_other_layout(void)
{
	struct ipcwait_channel_params params = { .elem_size = 8, .capacity = 2 };
	uint32_t other = OTHER_LAYOUT;
	int fd = memfd_create("layout_test", MFD_CLOEXEC);
	struct ipcwait_channel *made, *ch;

	CHECK(fd >= 0);
	CHECK_EQ(ipcwait_channel_create_shared(fd, &params, &made), 0);
	CHECK_EQ(ipcwait_channel_attach(fd, &ch), 0);
	ipcwait_channel_destroy(ch);
	CHECK(pwrite(fd, &other, sizeof(other), 8) == sizeof(other));
	CHECK_EQ(ipcwait_channel_attach(fd, &ch), -EPROTO);
	ipcwait_channel_destroy(made);
	CHECK(close(fd) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(all_at_once),
		CHILD_TEST(same_layout),
		CHILD_TEST(other_layout),
		CHILD_TEST(other_program),
		CHILD_TEST(channel_of_other_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
