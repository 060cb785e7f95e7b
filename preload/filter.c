/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "../tools/common/calls_form.h"
#include "env/config.h"
#include "env/facts.h"
#include "fd.h"
#include "filter.h"
#include "module.h"
#include "original.h"
#include "os/calls.h"
#include "os/fork.h"
#include "os/move.h"
#include "os/seam.h"
#include "os/status.h"
#include "watch/page.h"

/*
 * A filter for all threads finds some of them in a look at a descriptor, from which they come to
 * the next question within a slice of the scheduler: so long it waits for them, in ns.
 */
#define LEFT_NS 20000000

/*
 * The same for threads within a move, which may have to wait for the other CPU: the time between
 * two looks, in ns, and the number of looks.
 */
#define MOVE_NS      1000000
#define MOVE_MS_MOST 1000

/* Before all constructors that make calls. The numbers up to 100 are the compiler's. */
#define FIRST 101

/*
 * The file that tells of filters tells the CPUs too. And the module notes no thread in memory that
 * processes share, so that its name need not be drawn.
 */
#define NOT_NEEDED ((uint32_t)(IW_CALL_AFFINITY | IW_CALL_RANDOM))

#define SAME(ours, handed_down) \
	_Static_assert((unsigned)(ours) == (unsigned)(handed_down), "the form")
SAME(IW_CALL_YIELD, CALLS_YIELD);
SAME(IW_CALL_FLAGS, CALLS_FLAGS);
SAME(IW_CALL_KIND, CALLS_KIND);
SAME(IW_CALL_READ_NOW, CALLS_READ_NOW);
SAME(IW_CALL_POLL, CALLS_POLL);
SAME(IW_CALL_RECV, CALLS_RECV);
SAME(IW_CALL_AFFINITY, CALLS_AFFINITY);
SAME(IW_CALL_FORGET, CALLS_FORGET);
SAME(IW_CALL_THREAD_ID, CALLS_THREAD_ID);
SAME(IW_CALL_RANDOM, CALLS_RANDOM);
SAME(IW_CALL_FILES, CALLS_FILES);
SAME(IW_CALL_OPTION, CALLS_OPTION);
SAME(IW_CALL_MOVE, CALLS_MOVE);

/* What has been found to be allowed behind @filters of them; 0: nothing has. */
static uint32_t handed_down(uint32_t filters)
{
	const char *text = iw_config_variable(CALLS_VARIABLE);
	char *end;

	if (!text || !filters || strtoul(text, &end, 10) != filters || *end != ':')
		return 0;
	return (uint32_t)strtoul(end + 1, NULL, 16);
}

static __attribute__((constructor(FIRST))) void look_for_filter(void)
{
	int saved_errno = errno;
	struct iw_status s;

	/* What cannot be read, as in a chroot without /proc, counts as a filter. */
	if (!iw_status_read(&s))
		iw_calls_forbid(IW_CALLS_EXTRA);
	else
		iw_calls_forbid(
			NOT_NEEDED |
			(s.filtered ? IW_CALLS_EXTRA & ~handed_down(s.filters) : 0));
	errno = saved_errno;
}

bool iw_filter_begins_by_prctl(long a, long b, long c)
{
	return a == PR_SET_SECCOMP && (b == SECCOMP_MODE_STRICT || c);
}

/* Without a filter the kernel only tells whether it knows the flags. */
bool iw_filter_begins(long a, long b, long c)
{
	(void)b;
	return a == SECCOMP_SET_MODE_STRICT || (a == SECCOMP_SET_MODE_FILTER && c);
}

/* What was to be said at the end cannot be said then. */
static void say_what_is_lost(const struct iw_facts *facts)
{
	static struct ipcwait_word32 warned;
	static const char why[] = "the program filters its system calls from now on";

	if (facts && facts->config.stats)
		iw_config_warn_once(&warned, "IPCWAIT_STATS", why);
	else if (facts && facts->config.explain)
		iw_config_warn_once(&warned, "IPCWAIT_EXPLAIN", why);
}

static void wait_for(int64_t ns)
{
	uint32_t word = 0;

	(void)iw_futex_wait(&word, word, iw_clock_ns() + ns, true);
}

/* The process whose memory this is, as a child of vfork(2) has its parent's. 0: not known. */
static pid_t owner;

static void become_owner(void)
{
	owner = iw_call_allowed(IW_CALL_THREAD_ID) ? getpid() : 0;
	iw_moves_forget();
}

static __attribute__((constructor(FIRST))) void hook(void)
{
	static const struct iw_fork_hooks hooks = { .in_child = become_owner };

	become_owner();
	(void)iw_fork_hook(IW_FORK_FILTER, &hooks);
}

/* The page is made and the facts are completed first: both take system calls. */
bool iw_filter_before(bool all_threads)
{
	int saved_errno = errno;
	bool looks = iw_fd_is_on() && !__libc_single_threaded;

	if (owner && iw_call_allowed(IW_CALL_THREAD_ID) && getpid() != owner)
		return false;
	iw_page_make_due();
	say_what_is_lost(iw_facts());
	if (iw_calls_begin_filter() && all_threads && looks)
		wait_for(LEFT_NS);
	for (int i = 0; all_threads && i < MOVE_MS_MOST && iw_moves_under_way(); i++)
		wait_for(MOVE_NS);
	errno = saved_errno;
	return true;
}

long iw_filter_after(long result, bool noted)
{
	int saved_errno = errno;

	if (result < 0 && noted)
		iw_calls_no_filter();
	errno = saved_errno;
	return result;
}

/* With as many arguments as the program gives, as in syscall(). */
IW_INTERPOSED int prctl(int option, ...)
{
	va_list rest;
	long a, b, c, d;
	bool noted;

	va_start(rest, option);
	a = va_arg(rest, long);
	b = va_arg(rest, long);
	c = va_arg(rest, long);
	d = va_arg(rest, long);
	va_end(rest);
	if (!iw_filter_begins_by_prctl(option, a, b))
		return original()->prctl(option, a, b, c, d);
	noted = iw_filter_before(false);
	return (int)iw_filter_after(original()->prctl(option, a, b, c, d), noted);
}
