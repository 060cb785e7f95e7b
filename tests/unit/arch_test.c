/* SPDX-License-Identifier: MIT */
/*
 * What lib/arch says of this CPU, and that its instructions do no harm. Without CMocka, so
 * that scripts/check can run it under emulation too. Times are not tested: an emulator has
 * its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/check.h"
#include "os/cpu.h"
#include "os/seam.h"
#include "os/syscall.h"

#define S INT64_C(1000000000)

/* HWCAP_EVTSTRM of AArch64. */
#define EVENT_STREAM (1ul << 2)

static void test_ticks(void)
{
	uint64_t before = iw_arch_ticks(), now = before;

	for (int i = 0; i < 100000; i++) {
		uint64_t last = now;

		iw_arch_pause();
		now = iw_arch_ticks();
		CHECK(now >= last);
	}
	CHECK(now > before);
}

static void *tell_pointer(void *arg)
{
	*(char **)arg = iw_arch_thread_pointer();
	return NULL;
}

static void test_thread_pointer(void)
{
	char *other = NULL;
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, tell_pointer, &other), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK(iw_arch_thread_pointer() != NULL);
	CHECK(other != NULL);
	CHECK(other != iw_arch_thread_pointer());
}

/* Whether or not there is rseq. */
static void test_rseq(void)
{
	CHECK(IW_ARCH_RSEQ_SIGNATURE != 0);
	iw_rseq_arm();
	iw_pause();
	iw_rseq_disarm();
	CHECK(!iw_rseq_offset || iw_rseq_disturbed());
	CHECK(!iw_rseq_offset || *iw_rseq_field() == 0);
}

#ifdef __x86_64__
/* By the kernel's word, which leaves out what it has switched off. */
static bool kernel_says(const char *flag)
{
	static char line[8192];
	FILE *cpuinfo = fopen("/proc/cpuinfo", "r");
	bool found = false;

	CHECK(cpuinfo != NULL);
	while (!found && fgets(line, sizeof(line), cpuinfo))
		found = strncmp(line, "flags", 5) == 0 && strstr(line, flag);
	CHECK_EQ(fclose(cpuinfo), 0);
	return found;
}

static void test_detection(void)
{
	CHECK(iw_cpu_can_monitor() || !kernel_says(" waitpkg"));
	CHECK_EQ(iw_arch_can_monitor(0), iw_arch_can_monitor(~0ul));
	CHECK_EQ(iw_arch_can_monitor(0), iw_cpu_can_monitor());
}
#elif defined(__aarch64__)
static void test_detection(void)
{
	CHECK(iw_arch_can_monitor(EVENT_STREAM));
	CHECK(!iw_arch_can_monitor(~EVENT_STREAM));
}
#else
static void test_detection(void)
{
	CHECK(!iw_arch_can_monitor(~0ul));
	CHECK(!iw_cpu_can_monitor());
}
#endif

/* On other CPUs the instructions are legal whether or not they are of use. */
static bool may_monitor(void)
{
#ifdef __x86_64__
	return iw_cpu_can_monitor();
#else
	return true;
#endif
}

static _Atomic uint32_t word;

static void *answer(void *arg)
{
	(void)arg;
	for (uint32_t i = 1; i < 200; i += 2) {
		while (atomic_load(&word) != i)
			iw_pause();
		atomic_store(&word, i + 1);
	}
	return NULL;
}

/* Each store is seen, however far off the deadline is. */
static void test_stores_end_it(void)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, answer, NULL), 0);
	for (uint32_t i = 1; i < 200; i += 2) {
		atomic_store(&word, i);
		for (;;) {
			iw_monitor(&word);
			if (atomic_load_explicit(&word, memory_order_relaxed) == i + 1)
				break;
			iw_monitor_wait(iw_arch_ticks() + (UINT64_C(1) << 40));
		}
	}
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* Nobody stores: the deadline, a past one and none to speak of end it. */
static void test_deadlines_end_it(void)
{
	uint64_t begin = iw_arch_ticks(), until = begin + 1000000;

	while (iw_arch_ticks() < until) {
		iw_monitor(&word);
		iw_monitor_wait(until);
	}
	iw_monitor(&word);
	iw_monitor_wait(begin);
	iw_monitor(&word);
	iw_monitor_wait(0);
}

#define PAGE 4096

/* Results and errors as the kernel has them, six arguments in their places, errno left alone. */
static void test_syscalls(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char text[PAGE], *mapped;

	CHECK(fd >= 0);
	CHECK_EQ(pread(fd, text, PAGE, PAGE), PAGE);
	errno = 4711;
	CHECK_EQ(iw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), getpid());
	CHECK_EQ(iw_syscall(SYS_close, -1, 0, 0, 0, 0, 0), -EBADF);
	CHECK_EQ(iw_syscall(SYS_mmap, 0, PAGE, PROT_READ, MAP_PRIVATE, -1, PAGE), -EBADF);
	mapped = (char *)iw_syscall(SYS_mmap, 0, PAGE, PROT_READ, MAP_PRIVATE, fd, PAGE);
	CHECK_EQ(memcmp(mapped, text, PAGE), 0);
	CHECK_EQ(iw_syscall(SYS_munmap, (long)mapped, PAGE, 0, 0, 0, 0), 0);
	CHECK_EQ(errno, 4711);
	CHECK_EQ(close(fd), 0);
}

int main(void)
{
	check_watchdog(30);
	test_syscalls();
	test_ticks();
	test_thread_pointer();
	test_rseq();
	test_detection();
	if (!may_monitor()) {
		printf("this CPU has no monitor: its instructions were not run\n");
		return 0;
	}
	test_stores_end_it();
	test_deadlines_end_it();
	return 0;
}
