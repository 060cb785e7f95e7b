/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interleave/shadow.h"
#include "interleave/trace.h"

#define STEPS_MAX  2000
#define PLACE_SIZE 80

/* Of a longer one only so many at the beginning and at the end are printed. */
#define PRINTED_MAX 100

struct step {
	unsigned thread;
	const void *code;
	char text[96];
};

static struct step steps[STEPS_MAX];
static unsigned used;
static bool on;
static const void *place;

static const char *const events[] = {
	"runs",
	"returns from its sleep for no reason",
	"gets a signal",
	"reaches its deadline",
	"is cancelled",
	"dies, with its process",
	"'s oldest store becomes visible",
};

void trace_begin(void)
{
	used = 0;
	on = true;
}

bool trace_on(void)
{
	return on;
}

void trace_place(const void *code)
{
	place = code;
}

const void *trace_place_now(void)
{
	return place;
}

static struct step *next(unsigned thread, const void *code)
{
	static struct step overflow;
	struct step *s = used < STEPS_MAX ? &steps[used++] : &overflow;

	s->thread = thread;
	s->code = code;
	return s;
}

void trace_step(unsigned thread, const volatile void *p, const char *what, uint64_t value)
{
	struct step *s;

	if (!on)
		return;
	s = next(thread, place);
	if (p)
		(void)snprintf(s->text, sizeof(s->text), "%-10s %s 0x%" PRIx64,
			       shadow_name(p), what, value);
	else
		(void)snprintf(s->text, sizeof(s->text), "%s%s%.0" PRIu64, what,
			       value ? ": " : "", value);
}

void trace_event(unsigned thread, unsigned event)
{
	if (on)
		(void)snprintf(next(thread, NULL)->text, sizeof(steps->text), "-- %s",
			       events[event]);
}

/* By how much the program was moved when it was loaded. */
static int note_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uintptr_t *)bias = info->dlpi_addr;
	return 1;
}

/* A program that turns addresses of this one into lines, or NULL. */
static FILE *open_addr2line(void)
{
	size_t size = 64 + (size_t)used * 20, at;
	char *command = malloc(size);
	uintptr_t bias = 0;
	FILE *f;

	if (!command)
		return NULL;
	(void)dl_iterate_phdr(note_bias, &bias);
	at = (size_t)snprintf(command, size, "addr2line -a -i -s -e /proc/%d/exe",
			      (int)getpid());
	for (unsigned i = 0; i < used; i++)
		at += (size_t)snprintf(command + at, size - at, " %" PRIxPTR,
				       steps[i].code ? (uintptr_t)steps[i].code - 1 - bias
						     : 0);
	(void)snprintf(command + at, size - at, " 2>&1");
	f = popen(command, "r");
	free(command);
	return f;
}

/* Not where an access is wrapped, but where it is meant. */
static bool is_wrapper(const char *line)
{
	return strncmp(line, "word.h", 6) == 0 || strncmp(line, "seam.h", 6) == 0;
}

/* The next address: a line with itself, then one for each function that was inlined there. */
static void read_place(FILE *lines, char *line, char where[PLACE_SIZE])
{
	where[0] = '\0';
	while (fgets(line, PLACE_SIZE, lines) && strncmp(line, "0x", 2) != 0) {
		line[strcspn(line, " \n")] = '\0';
		if (!where[0] || is_wrapper(where))
			memcpy(where, line, PLACE_SIZE);
	}
	if (strchr(where, '?'))
		where[0] = '\0';
}

static void print_step(unsigned i, const char *where)
{
	unsigned thread = steps[i].thread;
	char who[8] = "-";
	int indent = 0;

	if (thread < MODEL_THREADS_MAX) {
		(void)snprintf(who, sizeof(who), "%u", thread);
		indent = (int)thread * 2;
	}
	printf("%4u  %*s%-4s %-24s %s\n", i + 1, indent, "", who, where, steps[i].text);
}

void trace_print(void)
{
	FILE *lines = open_addr2line();
	char line[PLACE_SIZE] = "", where[PLACE_SIZE] = "";

	if (lines)
		(void)!fgets(line, sizeof(line), lines);
	for (unsigned i = 0; i < used; i++) {
		if (lines)
			read_place(lines, line, where);
		if (i < PRINTED_MAX || i + PRINTED_MAX >= used)
			print_step(i, where);
		else if (i == PRINTED_MAX)
			printf(" ...\n");
	}
	if (lines)
		(void)pclose(lines);
	on = false;
}
