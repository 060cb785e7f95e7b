/* SPDX-License-Identifier: MIT */
/* The futex call through syscall(): errors and their order; and calls that are none of it. */
#include <linux/futex.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

#define ALL FUTEX_BITSET_MATCH_ANY

static uint32_t word = 5;

static long futex(const void *at, int op, uint32_t value, const void *timeout,
		  const void *other, uint32_t last)
{
	return syscall(SYS_futex, at, op, value, timeout, other, last);
}

/* What a call that does not sleep answers; errno is left alone by what succeeds. */
static void answers(const char *name, const void *at, int op, uint32_t value,
		    const void *timeout, int want)
{
	long is;

	errno = ERANGE;
	is = futex(at, op, value, timeout, NULL, ALL);
	expect(name, error_of(is), want);
	if (is == 0 && errno != ERANGE)
		say("errno after success", errno);
}

static const struct timespec none = { 0, 0 }, little = { 0, 2000000 }, past = { 1, 0 };

struct time_case {
	const char *name;
	struct timespec at;
};

static const struct time_case wrong_times[] = {
	{ "nanoseconds negative", { 0, -1 } },
	{ "nanoseconds a second", { 0, 1000000000 } },
	{ "seconds negative", { -1, 0 } },
};

/* Every operation that waits, with each flag. */
static void errors(int op, const char *name)
{
	static char odd[8] __attribute__((aligned(8)));
	char *unreadable = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const void *kernel = (const void *)(UINTPTR_MAX & ~(uintptr_t)4095);
	const void *nowhere = (const void *)16;
	int i;

	NEEDS(unreadable != MAP_FAILED);
	dprintf(1, "== %s\n", name);
	answers("another value", &word, op, 6, NULL, EAGAIN);
	answers("another value, a little", &word, op, 6, &little, EAGAIN);
	answers("the value, no time", &word, op, 5,
		(op & FUTEX_CMD_MASK) == FUTEX_WAIT ? &none : &past, ETIMEDOUT);
	answers("misaligned by 1", odd + 1, op, 0, &none, EINVAL);
	answers("misaligned by 2, another value", odd + 2, op, 9, &none, EINVAL);
	answers("NULL", NULL, op, 0, &none, EFAULT);
	answers("low memory", nowhere, op, 0, &none, EFAULT);
	answers("unreadable", unreadable, op, 0, &none, EFAULT);
	answers("of the kernel", kernel, op, 0, &none, EFAULT);
	answers("timeout unreadable", &word, op, 5, unreadable, EFAULT);
	answers("timeout unreadable, another value", &word, op, 6, unreadable, EFAULT);
	answers("timeout in low memory", &word, op, 5, nowhere, EFAULT);
	for (i = 0; i < 3; i++) {
		answers(wrong_times[i].name, &word, op, 5, &wrong_times[i].at, EINVAL);
		answers("and another value", &word, op, 6, &wrong_times[i].at, EINVAL);
		answers("and NULL", NULL, op, 6, &wrong_times[i].at, EINVAL);
	}
	NEEDS(munmap(unreadable, 4096) == 0);
}

/*
 * A word whose memory was unmapped or made unreadable before anybody waited. What comes afterwards
 * is the one difference that is known: the module believes a page that the kernel has read once.
 */
static void gone(void)
{
	uint32_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	NEEDS(page != MAP_FAILED);
	NEEDS(mprotect(page, 4096, PROT_NONE) == 0);
	answers("a page that was readable", page, FUTEX_WAIT_PRIVATE, 0, &little, EFAULT);
	NEEDS(munmap(page, 4096) == 0);
	answers("a page that was there", page, FUTEX_WAIT_PRIVATE, 0, &little, EFAULT);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEEDS(page != MAP_FAILED);
	answers("a page for reading, private", page, FUTEX_WAIT_PRIVATE, 0, &little,
		ETIMEDOUT);
	say("a page for reading, shared",
	    error_of(futex(page, FUTEX_WAIT, 0, &little, NULL, 0)));
	NEEDS(munmap(page, 4096) == 0);
}

static void bitsets(void)
{
	long is = futex(&word, FUTEX_WAIT_BITSET, 5, &past, NULL, 0);

	expect("bitset 0", error_of(is), EINVAL);
	is = futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 6, &past, NULL, 0);
	expect("bitset 0, another value", error_of(is), EINVAL);
	is = futex(NULL, FUTEX_WAIT_BITSET_PRIVATE, 6, &past, NULL, 0);
	expect("bitset 0, NULL", error_of(is), EINVAL);
	is = futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0);
	expect("wake with bitset 0", error_of(is), EINVAL);
	is = futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 5, &past, NULL, 1);
	expect("bitset 1", error_of(is), ETIMEDOUT);
}

static void others(void)
{
	uint32_t second = 7;
	long is;

	expect_number("wake nobody", futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0), 0);
	expect_number("wake nobody, private",
		      futex(&word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0), 0);
	expect("wake misaligned",
	       error_of(futex((char *)&word + 1, FUTEX_WAKE, 1, NULL, NULL, 0)), EINVAL);
	is = futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)1, &second, 6);
	expect("requeue, another value", error_of(is), EAGAIN);
	is = futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)1, &second, 5);
	expect_number("requeue nobody", is, 0);
	is = futex(&word, FUTEX_WAKE_OP, 1, (void *)1, &second,
		   FUTEX_OP(FUTEX_OP_ADD, 2, FUTEX_OP_CMP_EQ, 7));
	expect_number("wake and add", is, 0);
	expect_number("added", second, 9);
	expect("unknown operation", error_of(futex(&word, 60, 0, NULL, NULL, 0)), ENOSYS);
	expect("all bits of the operation", error_of(futex(&word, -1, 0, NULL, NULL, 0)),
	       ENOSYS);
	say("wait by the real-time clock",
	    error_of(futex(&word, FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 5, &none, NULL, 0)));
	say("wake by the real-time clock",
	    error_of(futex(&word, FUTEX_WAKE | FUTEX_CLOCK_REALTIME, 1, NULL, NULL, 0)));
	second = 0;
	expect_number("lock with inheritance",
		      futex(&second, FUTEX_LOCK_PI, 0, NULL, NULL, 0), 0);
	expect("again", error_of(futex(&second, FUTEX_LOCK_PI, 0, NULL, NULL, 0)), EDEADLK);
	expect_number("unlock with inheritance",
		      futex(&second, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0), 0);
	expect_number("the word", second, 0);
}

/* Of several words. The structure is the kernel's: struct futex_waitv. */
struct many_word {
	uint64_t value, at;
	uint32_t flags, reserved;
};

#define SIZE_32   2U
#define SIZE_PRIV (SIZE_32 | FUTEX_PRIVATE_FLAG)

static long waitv(struct many_word *w, unsigned n, unsigned flags,
		  const struct timespec *at, clockid_t clock)
{
	return syscall(SYS_futex_waitv, w, n, flags, at, clock);
}

static void several(void)
{
	static uint32_t words[3] = { 1, 2, 3 };
	struct many_word w[130];
	int i;

	memset(w, 0, sizeof(w));
	for (i = 0; i < 130; i++)
		w[i] = (struct many_word){ words[i % 3], (uintptr_t)&words[i % 3],
					   SIZE_PRIV, 0 };
	if (error_of(waitv(w, 3, 0, &past, CLOCK_MONOTONIC)) == ENOSYS) {
		say("futex_waitv", ENOSYS);
		return;
	}
	expect("several, over", error_of(waitv(w, 3, 0, &past, CLOCK_MONOTONIC)),
	       ETIMEDOUT);
	expect("several, over, realtime", error_of(waitv(w, 3, 0, &past, CLOCK_REALTIME)),
	       ETIMEDOUT);
	say("several, clock of the process",
	    error_of(waitv(w, 3, 0, &past, CLOCK_PROCESS_CPUTIME_ID)));
	expect("several, flags", error_of(waitv(w, 3, 1, &past, CLOCK_MONOTONIC)), EINVAL);
	expect("several, none", error_of(waitv(w, 0, 0, &past, CLOCK_MONOTONIC)), EINVAL);
	expect("several, too many", error_of(waitv(w, 129, 0, &past, CLOCK_MONOTONIC)),
	       EINVAL);
	expect("several, NULL", error_of(waitv(NULL, 3, 0, &past, CLOCK_MONOTONIC)),
	       EINVAL);
	say("several, unreadable",
	    error_of(waitv((void *)16, 3, 0, &past, CLOCK_MONOTONIC)));
	expect("several, a wrong time",
	       error_of(waitv(w, 3, 0, &wrong_times[1].at, CLOCK_MONOTONIC)), EINVAL);
	w[1].value = 9;
	expect("several, another value", error_of(waitv(w, 3, 0, NULL, 0)), EAGAIN);
	w[1].value = 2;
	w[2].flags = 0;
	say("several, no size", error_of(waitv(w, 3, 0, &past, CLOCK_MONOTONIC)));
	w[2].flags = SIZE_PRIV;
	w[2].reserved = 1;
	expect("several, reserved", error_of(waitv(w, 3, 0, &past, CLOCK_MONOTONIC)),
	       EINVAL);
	w[2].reserved = 0;
	w[2].at++;
	expect("several, misaligned", error_of(waitv(w, 3, 0, &past, CLOCK_MONOTONIC)),
	       EINVAL);
	w[2].at = 16;
	expect("several, low memory", error_of(waitv(w, 3, 0, &past, CLOCK_MONOTONIC)),
	       EFAULT);
}

/* Calls that have nothing to do with waits, of no to six arguments. */
static void unchanged(void)
{
	char text[8] = "";
	int pipe_ends[2], status = -1;
	long is;

	expect_true("getpid", syscall(SYS_getpid) == getpid());
	expect_true("gettid", syscall(SYS_gettid) == gettid());
	expect_number("pipe2", syscall(SYS_pipe2, pipe_ends, 0), 0);
	expect_number("write", syscall(SYS_write, pipe_ends[1], "six args", 8), 8);
	expect_number("read", syscall(SYS_read, pipe_ends[0], text, 7), 7);
	expect_true("what was read", strcmp(text, "six arg") == 0);
	expect("close", error_of(syscall(SYS_close, pipe_ends[0])), 0);
	expect("close again", error_of(syscall(SYS_close, pipe_ends[0])), EBADF);
	is = syscall(SYS_mmap, NULL, 8192L, (long)(PROT_READ | PROT_WRITE),
		     (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
	expect_true("mmap", is != -1);
	memset((void *)is, 1, 8192);
	expect("munmap", error_of(syscall(SYS_munmap, is, 8192L)), 0);
	expect("mmap at an odd offset",
	       error_of(syscall(SYS_mmap, NULL, 4096L, (long)PROT_READ, (long)MAP_PRIVATE,
				(long)pipe_ends[1], 5L)),
	       EINVAL);
	expect("no such call", error_of(syscall(100000L)), ENOSYS);
	expect("a negative call", error_of(syscall(-1L)), ENOSYS);
	is = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
	if (is == 0)
		_exit(9);
	expect_true("clone", is > 0 && waitpid((pid_t)is, &status, 0) == is);
	expect_number("the clone", status, 9 << 8);
}

int main(void)
{
	say_begin();
	errors(FUTEX_WAIT, "wait");
	errors(FUTEX_WAIT_PRIVATE, "wait, private");
	errors(FUTEX_WAIT_BITSET, "wait with a bitset");
	errors(FUTEX_WAIT_BITSET_PRIVATE, "wait with a bitset, private");
	errors(FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME,
	       "wait with a bitset, realtime");
	gone();
	bitsets();
	others();
	several();
	unchanged();
	return say_end();
}
