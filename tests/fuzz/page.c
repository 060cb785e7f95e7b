/* SPDX-License-Identifier: MIT */
/*
 * A statistics page, which its owner writes as it likes, and what `ipcwait stat` and `top` make of
 * it. The input is the page; its last two bytes say where one byte is another at the second look.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ipcwait/base.h>

#include "../cli/stat.h"
#include "../cli/symbol.h"
#include "../tools/common/complain.h"
#include "../tools/common/foreign_file.h"
#include "common/fuzz.h"
#include "fuzz/utf8.h"

#define SERIES_MOST 4000

const char program_name[] = "page";

int64_t ipcwait_now_ns(void)
{
	return 1;
}

static void write_page(int fd, const uint8_t *data, size_t size)
{
	FUZZ_CHECK(ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A reader of metrics refuses a text with one series twice. */
static void check_series(char *text)
{
	static char *series[SERIES_MOST];
	size_t n = 0;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *value = strrchr(line, ' ');

		if (line[0] == '#')
			continue;
		FUZZ_CHECK(value && value[-1] == '}' && n < SERIES_MOST);
		*value = '\0';
		series[n++] = line;
	}
	qsort(series, n, sizeof(*series), by_text);
	for (size_t i = 1; i < n; i++)
		FUZZ_CHECK(strcmp(series[i - 1], series[i]) != 0);
}

static void check_metrics(const struct watched *w)
{
	static const char end[] = "# EOF\n";
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	FUZZ_CHECK(f);
	stat_write_metrics(f, w);
	FUZZ_CHECK(fclose(f) == 0);
	FUZZ_CHECK(strlen(text) == size && is_utf8(text, size));
	FUZZ_CHECK(size > sizeof(end) && !strcmp(text + size - sizeof(end) + 1, end));
	check_series(text);
	free(text);
}

static void check_rows(const struct watched *w)
{
	char label[100];

	for (unsigned t = PAGE_OBJECTS; t <= PAGE_CALL_SITES; t++) {
		for (unsigned i = 0; i < w->rows[t]; i++) {
			const struct watched_row *r = &w->row[t][i];

			FUZZ_CHECK(r->spun <= r->waits);
			FUZZ_CHECK(r->kind <= IPCWAIT_KIND_COUNT);
			FUZZ_CHECK(watched_process_of(w, r)->pid == r->pid);
			watched_label(r, label, sizeof(label));
			FUZZ_CHECK(is_harmless(label));
		}
	}
}

/* What came since the first look, if it is still a page. */
static void look_again(struct pages *pages, const struct watched *before)
{
	struct watched now, since;

	(void)watched_look_again(&now, pages);
	watched_since(&since, &now, before);
	watched_sort(&since);
	if (since.processes) {
		check_rows(&since);
		check_metrics(&since);
	}
	watched_free(&since);
	watched_free(&now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ipcwait_page_head head;
	struct page page = { .uid = 1000 };
	struct pages pages = { .page = &page, .n = 1 };
	struct watched before;
	uint16_t change;
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	if (size < sizeof(head) + sizeof(change))
		return 0;
	size -= sizeof(change);
	memcpy(&change, data + size, sizeof(change));
	memcpy(&head, data, sizeof(head));
	page.pid = (pid_t)head.pid;
	page.fd = fd;
	write_page(fd, data, size);
	(void)watched_look_again(&before, &pages);
	symbols_begin(0);
	if (before.processes) {
		check_rows(&before);
		check_metrics(&before);
	}
	FUZZ_CHECK(pwrite(fd, &change, 1, change % size) == 1);
	look_again(&pages, &before);
	FUZZ_CHECK(ftruncate(fd, change % size) == 0);
	look_again(&pages, &before);
	watched_free(&before);
	foreign_file_free(page.head, page.bytes);
	return 0;
}
