/* SPDX-License-Identifier: MIT */
/* The semaphore and the futex; and private objects between processes. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/check.h"
#include "kinds.h"
#include "misuse.h"

static struct ipcwait_sem sem;
static struct place place;

static struct ipcwait_sem *finished(void)
{
	CHECK_EQ(ipcwait_sem_init(&sem, 1, 0), 0);
	CHECK_EQ(ipcwait_sem_fini(&sem), 0);
	return &sem;
}

static void init_value(void)
{
	(void)!ipcwait_sem_init(&sem, IPCWAIT_SEM_VALUE_MAX + 1u, 0);
}

static void wait_finished(void)
{
	(void)!ipcwait_sem_wait(finished());
}

static void post_finished(void)
{
	(void)ipcwait_sem_post(finished());
}

static void post_n_finished(void)
{
	(void)ipcwait_sem_post_n(finished(), 2);
}

static void value_finished(void)
{
	(void)ipcwait_sem_value(finished());
}

/* It would wake nobody: the kernel finds those who sleep on a private object by address. */
static void post_by_other_address(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("twice", MFD_CLOEXEC);
	char *first = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(fd >= 0 && ftruncate(fd, (off_t)page) == 0 && first != MAP_FAILED);
	for (int i = 0; i < 2; i++)
		CHECK(mmap(first + (size_t)i * page, page, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	CHECK_EQ(ipcwait_sem_init((void *)first, 0, IPCWAIT_PRIVATE), 0);
	CHECK_EQ(ipcwait_sem_post((void *)first), 0);
	(void)ipcwait_sem_post((void *)(first + page));
}

const struct misuse misuse_of_sem[] = {
	{ init_value, "sem", "ipcwait_sem_init", "value out of range\n" },
	{ wait_finished, "sem", "ipcwait_sem_wait", "finished\n" },
	{ post_finished, "sem", "ipcwait_sem_post", "finished\n" },
	{ post_n_finished, "sem", "ipcwait_sem_post_n", "finished\n" },
	{ value_finished, "sem", "ipcwait_sem_value", "finished\n" },
	{ post_by_other_address, "sem", "ipcwait_sem_post", "private, and mapped twice\n" },
	{ 0 },
};

static uint32_t *word(void)
{
	return (uint32_t *)(void *)place.bytes;
}

static uint32_t *crooked(void)
{
	return (uint32_t *)(void *)(place.bytes + 2);
}

static void futex_wait_null(void)
{
	(void)!ipcwait_futex_wait(NULL, 0, 0, NULL, 0);
}

static void futex_wait_misaligned(void)
{
	(void)!ipcwait_futex_wait(crooked(), 0, 0, NULL, 0);
}

static void futex_wait_window(void)
{
	struct ipcwait_window *w = (struct ipcwait_window *)(void *)(place.bytes + 12);

	(void)!ipcwait_futex_wait(word(), 0, 0, w, 0);
}

static void futex_wait_flags(void)
{
	(void)!ipcwait_futex_wait(word(), 0, 0, NULL, 4);
}

static void futex_wake_null(void)
{
	(void)ipcwait_futex_wake(NULL, 1, 0);
}

static void futex_wake_misaligned(void)
{
	(void)ipcwait_futex_wake(crooked(), 1, 0);
}

static void futex_wake_flags(void)
{
	(void)ipcwait_futex_wake(word(), 1, IPCWAIT_INTERRUPTIBLE);
}

const struct misuse misuse_of_futex[] = {
	{ futex_wait_null, "futex", "ipcwait_futex_wait", "NULL\n" },
	{ futex_wait_misaligned, "futex", "ipcwait_futex_wait", "misaligned\n" },
	{ futex_wait_window, "futex", "ipcwait_futex_wait", "misaligned window\n" },
	{ futex_wait_flags, "futex", "ipcwait_futex_wait", "unknown flags\n" },
	{ futex_wake_null, "futex", "ipcwait_futex_wake", "NULL\n" },
	{ futex_wake_misaligned, "futex", "ipcwait_futex_wake", "misaligned\n" },
	{ futex_wake_flags, "futex", "ipcwait_futex_wake", "unknown flags\n" },
	{ 0 },
};

static void sem_overflow(void)
{
	CHECK_EQ(ipcwait_sem_init(&sem, IPCWAIT_SEM_VALUE_MAX, 0), 0);
	CHECK_EQ(ipcwait_sem_post(&sem), -EOVERFLOW);
	CHECK_EQ(ipcwait_sem_wait(&sem), 0);
	CHECK_EQ(ipcwait_sem_post(&sem), 0);
	CHECK_EQ(ipcwait_sem_value(&sem), IPCWAIT_SEM_VALUE_MAX);
	CHECK_EQ(ipcwait_sem_trywait(&sem), 0);
}

/* A child has a copy of its own, so it is the child's. */
static void private_and_copied(void)
{
	pid_t child;

	CHECK_EQ(ipcwait_sem_init(&sem, 1, IPCWAIT_PRIVATE), 0);
	CHECK_EQ(ipcwait_sem_wait(&sem), 0);
	CHECK_EQ(ipcwait_sem_post(&sem), 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		CHECK_EQ(ipcwait_sem_wait(&sem), 0);
		_exit(0);
	}
	CHECK_EQ(check_reap(child), 0);
	CHECK_EQ(ipcwait_sem_wait(&sem), 0);
}

/* The object is where it was made first, then elsewhere, and never in two places. */
static void private_and_moved(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *o =
		mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *to = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ipcwait_sem *s = o;

	CHECK(o != MAP_FAILED && to != MAP_FAILED);
	CHECK_EQ(ipcwait_sem_init(s, 1, IPCWAIT_PRIVATE), 0);
	CHECK_EQ(ipcwait_sem_post(s), 0);
	s = mremap(o, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	CHECK((void *)s == to);
	CHECK_EQ(ipcwait_sem_post(s), 0);
	CHECK_EQ(ipcwait_sem_value(s), 3);
	CHECK_EQ(ipcwait_sem_wait(s), 0);
}

/* A shared object may be mapped as often as one likes. */
static void shared_and_mapped_twice(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("twice", MFD_CLOEXEC);
	void *a, *b;

	CHECK(fd >= 0 && ftruncate(fd, (off_t)page) == 0);
	a = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	b = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(a != MAP_FAILED && b != MAP_FAILED);
	CHECK_EQ(ipcwait_sem_init(a, 0, 0), 0);
	CHECK_EQ(ipcwait_sem_post(b), 0);
	CHECK_EQ(ipcwait_sem_wait(a), 0);
}

void (*const no_misuse[])(void) = { sem_overflow, private_and_copied, private_and_moved,
				    shared_and_mapped_twice, NULL };
