/* SPDX-License-Identifier: MIT */
#include "cpu_list.h"

#include <stdlib.h>

/* Linux has at most 8192 CPUs on any machine; a number beyond this is no CPU. */
#define CPU_MOST 65535

struct range {
	unsigned long from, to;
};

static bool take_number(const char **at, unsigned long *n)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*n = strtoul(*at, &end, 10);
	*at = end;
	return true;
}

/* The range that @at begins with. Returns what is behind it, "" at the end; NULL: it is none. */
static const char *take(const char *at, struct range *r)
{
	if (!take_number(&at, &r->from))
		return NULL;
	r->to = r->from;
	if (*at == '-' && (at++, !take_number(&at, &r->to)))
		return NULL;
	if (r->from > r->to || r->to > CPU_MOST)
		return NULL;
	if (!*at || *at == '\n')
		return "";
	return *at == ',' && at[1] ? at + 1 : NULL;
}

unsigned cpu_list_count(const char *list, unsigned *first)
{
	unsigned count = 0;
	struct range r;

	do {
		list = take(list, &r);
		if (!list)
			return 0;
		if (!count && first)
			*first = (unsigned)r.from;
		count += (unsigned)(r.to - r.from) + 1;
	} while (*list);
	return count;
}

bool cpu_list_has(const char *list, unsigned cpu)
{
	struct range r;

	do {
		list = take(list, &r);
		if (list && r.from <= cpu && cpu <= r.to)
			return true;
	} while (list && *list);
	return false;
}
