/* SPDX-License-Identifier: MIT */
#include "counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers behind the label, one per CPU, and then words. */
static double sum(const char *numbers)
{
	double total = 0;
	char *end;

	for (;;) {
		unsigned long long n = strtoull(numbers, &end, 10);

		if (end == numbers)
			return total;
		total += (double)n;
		numbers = end;
	}
}

static void read_interrupt(const char *line, struct counters *c)
{
	line += strspn(line, " ");
	if (!strncmp(line, "RES:", 4))
		c->rescheduling = sum(line + 4);
	else if (!strncmp(line, "CAL:", 4))
		c->function_calls = sum(line + 4);
	else if (!strncmp(line, "LOC:", 4))
		c->local_timer = sum(line + 4);
}

static void read_stat(const char *line, struct counters *c)
{
	unsigned long long steal;

	if (!strncmp(line, "ctxt ", 5))
		c->switches = strtod(line + 5, NULL);
	else if (sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) == 1)
		c->steal_ticks = (double)steal;
}

/* Lines get as long as there are CPUs. */
static void read_lines(const char *path, struct counters *c,
		       void (*read)(const char *line, struct counters *c))
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0)
		read(line, c);
	free(line);
	if (f)
		fclose(f);
}

void counters_read(struct counters *c)
{
	*c = (struct counters){ NAN, NAN, NAN, NAN, NAN };
	read_lines("/proc/interrupts", c, read_interrupt);
	read_lines("/proc/stat", c, read_stat);
}

void counters_write_since(struct json *j, const struct counters *before)
{
	struct counters now;

	counters_read(&now);
	json_open(j, "interrupts", '{');
	json_number(j, "RES", now.rescheduling - before->rescheduling);
	json_number(j, "CAL", now.function_calls - before->function_calls);
	json_number(j, "LOC", now.local_timer - before->local_timer);
	json_close(j, '}');
	json_number(j, "context_switches", now.switches - before->switches);
	json_number(j, "steal_ticks", now.steal_ticks - before->steal_ticks);
}
