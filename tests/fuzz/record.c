/* SPDX-License-Identifier: MIT */
/* A record of waits, and what `ipcwait report` makes of it. The input is the file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ipcwait/base.h>

#include "../cli/report.h"
#include "../cli/symbol.h"
#include "../tools/common/complain.h"
#include "common/fuzz.h"

const char program_name[] = "record";
const char *program_command;

const char *ipcwait_version(void)
{
	return "0";
}

/* What a thousand files that are no records would say. */
int complain(const char *format, ...)
{
	(void)format;
	return -EINVAL;
}

int refuse(const char *format, ...)
{
	(void)format;
	return -EINVAL;
}

void give_up(const char *format, ...)
{
	(void)format;
	abort();
}

const char *shown(const char *text, int length)
{
	(void)length;
	return text;
}

static void check_output(void (*show)(FILE *f, const struct report *r),
			 const struct report *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	FUZZ_CHECK(f);
	show(f, report);
	FUZZ_CHECK(fclose(f) == 0);
	FUZZ_CHECK(strlen(text) == size);
	for (size_t i = 0; i < size; i++)
		FUZZ_CHECK((text[i] >= ' ' && text[i] <= '~') || text[i] == '\n');
	free(text);
}

static void write_folded(FILE *f, const struct report *r)
{
	report_write_folded(f, r->waits, REPORT_TIME);
}

static void write_waits(FILE *f, const struct report *r)
{
	report_write_waits(f, r->waits);
}

static void check_report(const struct waits *w, enum waits_by by)
{
	struct report r = { .waits = w, .by = by, .shown = 20, .histograms = true };
	uint64_t waits = 0;

	waits_sum(&r.sums, w, by);
	for (size_t i = 0; i < r.sums.n; i++)
		waits += r.sums.row[i].waits;
	FUZZ_CHECK(waits == w->n);
	check_output(report_print, &r);
	check_output(report_write_json, &r);
	check_output(report_write_html, &r);
	check_output(write_folded, &r);
	check_output(write_waits, &r);
	waits_sum_free(&r.sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;
	struct waits w;

	if (fd < 0) {
		fd = memfd_create("fuzz", 0);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	FUZZ_CHECK(ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
	if (waits_open(&w, path))
		return 0;
	/* Who has written it may cut it short at any time. */
	FUZZ_CHECK(ftruncate(fd, 0) == 0);
	/* The input's paths are not opened. */
	symbols_begin(0);
	check_report(&w, WAITS_BY_OBJECT);
	check_report(&w, WAITS_BY_SITE);
	waits_close(&w);
	return 0;
}
