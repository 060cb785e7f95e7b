/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "os/file.h"
#include "watch/text.h"

#define TENTHS 10

void iw_text_add(struct iw_text *t, const char *format, ...)
{
	size_t used = t->length < t->room ? t->length : t->room;
	va_list args;
	int n;

	va_start(args, format);
	/* clang-tidy 14 sees no va_start() in any but the first of several files. */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
	n = vsnprintf(used < t->room ? t->bytes + used : NULL, t->room - used, format,
		      args);
	va_end(args);
	t->length += n > 0 ? (size_t)n : 0;
}

/* Whole numbers only: the decimal point of printf() follows the program's locale. */
void iw_text_add_time(struct iw_text *t, int width, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };
	unsigned i = 0;
	uint64_t tenth_ns;

	while (i < 2 && ns < units[i].ns)
		i++;
	tenth_ns = units[i].ns / TENTHS;
	iw_text_add(t, "%*" PRIu64 ".%" PRIu64 " %s", width, ns / units[i].ns,
		    ns % units[i].ns / tenth_ns, units[i].name);
}

void iw_text_print(const struct iw_text *t)
{
	if (t->room)
		iw_file_complain(t->bytes, t->length < t->room ? t->length : t->room - 1);
}
