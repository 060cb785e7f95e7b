/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 40

#define TO_LINE_START_AND_CLEAR "\r\033[K"

void progress_show(void *unused, uint32_t done, uint32_t total)
{
	int full = total ? (int)((uint64_t)done * BAR_WIDTH / total) : 0;
	char bar[BAR_WIDTH + 1];

	(void)unused;
	if (!isatty(STDERR_FILENO))
		return;
	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', (size_t)full);
	bar[BAR_WIDTH] = 0;
	fprintf(stderr, TO_LINE_START_AND_CLEAR "[%s] calibrating, %.1f of %.1f s", bar,
		done / 1e6, total / 1e6);
}

void progress_end(void)
{
	if (isatty(STDERR_FILENO))
		fputs(TO_LINE_START_AND_CLEAR, stderr);
}
