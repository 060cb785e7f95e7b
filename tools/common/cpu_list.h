/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them: "0-3,8". */
#ifndef TOOLS_CPU_LIST_H
#define TOOLS_CPU_LIST_H

#include <stdbool.h>

/* How many are in @list, and the first of them (NULL: do not tell); 0 if it is no such list. */
unsigned cpu_list_count(const char *list, unsigned *first);

/* Is @cpu in it? */
bool cpu_list_has(const char *list, unsigned cpu);

#endif
