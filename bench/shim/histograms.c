/* SPDX-License-Identifier: MIT */
#include "histograms.h"

#include "../../tools/common/complain.h"
#include "../../tools/common/outfile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct kept {
	struct kept *next;
	const char *benchmark; /* lives as long as the program */
	char name[32];
	struct histogram h;
};

static struct outfile file;
static struct kept *first, **last = &first;

int histograms_open(const char *path)
{
	if (!*path)
		return complain("--histograms needs a file name");
	return outfile_open(&file, "--histograms", path);
}

void histograms_abandon(void)
{
	outfile_abandon(&file);
}

static struct kept *find(const char *benchmark, const char *name)
{
	struct kept *k = first;

	while (k && (strcmp(k->benchmark, benchmark) || strcmp(k->name, name)))
		k = k->next;
	return k;
}

void histograms_keep(const char *benchmark, const char *name, const struct histogram *h)
{
	struct kept *k;

	k = find(benchmark, name);
	if (!k) {
		k = calloc(1, sizeof(*k));
		if (!k)
			give_up("no memory");
		k->benchmark = benchmark;
		strncpy(k->name, name, sizeof(k->name) - 1);
		*last = k;
		last = &k->next;
	}
	k->h = *h;
}

void histograms_drop(const char *benchmark)
{
	for (struct kept *k = first; k; k = k->next)
		if (!strcmp(k->benchmark, benchmark))
			memset(&k->h, 0, sizeof(k->h));
}

static void write_line(const struct kept *k)
{
	bool any = false;

	fprintf(file.f, "{\"name\": \"%s\", \"histogram\": \"%s\", \"unit\": \"ns\", ",
		k->benchmark, k->name);
	fprintf(file.f, "\"buckets\": [");
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!k->h.bucket[i])
			continue;
		fprintf(file.f, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]",
			any ? ", " : "", histogram_low(i), histogram_end(&k->h, i),
			k->h.bucket[i]);
		any = true;
	}
	fputs("]}\n", file.f);
}

int histograms_complete(void)
{
	for (const struct kept *k = first; k; k = k->next)
		if (k->h.count)
			write_line(k);
	return outfile_complete(&file);
}
