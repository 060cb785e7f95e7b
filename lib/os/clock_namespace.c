/* SPDX-License-Identifier: MIT */
/*
 * Where this process's CLOCK_MONOTONIC stands beside that of the first time namespace
 * (time_namespaces(7), since Linux 5.6). A line for each clock: name, seconds, nanoseconds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ipcwait/impl/word.h>

#include "os/clock.h"
#include "os/file.h"

#define NS_PER_S INT64_C(1000000000)

/* More seconds than the kernel takes, and so few that ns fit. */
#define MOST_S INT64_C(4611686018)

/* In ns; 0 in the first namespace, and until it is known. */
static struct ipcwait_word64 ahead;

uint64_t iw_clock_common(uint64_t now_ns)
{
	/* ORD clock_namespace.X1: relaxed, no order needed: all times are as good as before. */
	return now_ns - ipcwait_impl_load64_relaxed(&ahead);
}

int64_t iw_clock_ahead_in(const char *text)
{
	static const char name[] = "monotonic";
	long long s, ns;
	char *end;

	if (strncmp(text, name, sizeof(name) - 1) != 0)
		return 0;
	s = strtoll(text + sizeof(name) - 1, &end, 10);
	/* It would pass over the end of the line. */
	if (*end != ' ')
		return 0;
	ns = strtoll(end, &end, 10);
	if (*end != '\n' || s < -MOST_S || s > MOST_S || ns < 0 || ns >= NS_PER_S)
		return 0;
	return (int64_t)s * NS_PER_S + (int64_t)ns;
}

/* Terminated, empty if it cannot be read. */
static void read_name(const char *link, char *name, size_t size)
{
	ssize_t n = readlink(link, name, size - 1);

	name[n < 0 ? 0 : n] = '\0';
}

/* The first namespace has had this name since there are others (PROC_TIME_INIT_INO in Linux). */
#define FIRST "time:[4026531834]"

/* The file is about the namespace of children, which need not be the own one. */
static bool is_another(void)
{
	char own[64], of_children[64];

	read_name("/proc/self/ns/time", own, sizeof(own));
	if (!own[0] || strcmp(own, FIRST) == 0)
		return false;
	read_name("/proc/self/ns/time_for_children", of_children, sizeof(of_children));
	return strcmp(own, of_children) == 0;
}

void iw_clock_find_ahead(void)
{
	int saved_errno = errno;
	int64_t ahead_ns = 0;
	char text[128];

	if (is_another()) {
		(void)iw_file_read("/proc/self/timens_offsets", text, sizeof(text));
		ahead_ns = iw_clock_ahead_in(text);
	}
	/*
	 * What can be read no more, after chroot(2), has not changed.
	 *
	 * ORD clock_namespace.X2: relaxed, no order needed: it guards no data.
	 */
	if (ahead_ns)
		ipcwait_impl_store64_relaxed(&ahead, (uint64_t)ahead_ns);
	errno = saved_errno;
}
