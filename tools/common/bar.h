/* SPDX-License-Identifier: MIT */
/* A progress bar: one line on stderr, only where a person looks at it. */
#ifndef TOOLS_BAR_H
#define TOOLS_BAR_H

#include <stdbool.h>

/* Is stderr a terminal that can clear a line? If not, the others do nothing. */
bool bar_possible(void);

/* Over the one before: @share of it is done, from 0 to 1, and a text behind it. */
__attribute__((format(printf, 2, 3))) void bar_draw(double share, const char *format, ...);

/* Leave no trace of it. */
void bar_clear(void);

/* What is written for that. */
#define BAR_TO_LINE_START_AND_CLEAR "\r\033[K"

#endif
