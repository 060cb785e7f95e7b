/* SPDX-License-Identifier: MIT */
/*
 * Runs the litmus tests in each kind of memory, and compares the outcomes seen with those of the
 * table. An argument is part of the names of those to run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interleave/explore.h"
#include "interleave/litmus.h"

/* Loads of old values in an execution; more than any of the tests has loads. */
#define STALE 16

/* A set of outcomes: digits as a number, or a race. */
#define RACE 10000

struct outcomes {
	bool has[RACE + 1];
};

struct litmus_memory litmus_memory;
unsigned litmus_register[LITMUS_REGISTERS];
const struct litmus *litmus;

static const char *const memory_names[] = { "sc", "tso", "weak" };

static struct outcomes seen;
static struct explored found; /* too large for a stack */
static unsigned wrong;

static void begin(void)
{
	model_share(&litmus_memory, sizeof(litmus_memory));
	memset(litmus_register, 0, sizeof(litmus_register));
}

static void end(void)
{
	unsigned outcome = 0;

	if (litmus->end)
		litmus->end();
	for (unsigned i = 0; i < litmus->registers; i++)
		outcome = outcome * 10 + litmus_register[i];
	seen.has[outcome] = true;
}

/* Adds the outcomes in @text. */
static void add(struct outcomes *set, const char *text)
{
	while (text && *text) {
		char *rest;
		unsigned long outcome = strtoul(text, &rest, 10);

		if (rest == text) {
			outcome = RACE;
			rest += strlen("race");
		}
		set->has[outcome] = true;
		text = rest + strspn(rest, " ");
	}
}

static void print_outcome(unsigned outcome)
{
	if (outcome == RACE)
		printf(" race");
	else
		printf(" %0*u", (int)litmus->registers, outcome);
}

static void print_row(enum model_memory memory)
{
	struct outcomes sc = { 0 };
	unsigned n = 0;

	add(&sc, litmus->sc);
	for (unsigned i = 0; i <= RACE; i++)
		n += seen.has[i];
	printf("%-20s %-4s %7" PRIu64 " executions, %2u outcomes", litmus->name,
	       memory_names[memory], found.executions, n);
	if (litmus->gap)
		printf(", gap %s", litmus->gap);
	if (litmus->never)
		printf(", never %s", litmus->never);
	for (unsigned i = 0; i <= RACE; i++)
		if (seen.has[i] && !sc.has[i]) {
			printf(", beyond sc");
			print_outcome(i);
		}
	printf("\n");
}

static void complain_if(bool bad, unsigned outcome, const char *what)
{
	if (!bad)
		return;
	print_outcome(outcome);
	printf(" %s\n", what);
	wrong++;
}

static void judge(enum model_memory memory)
{
	struct outcomes allowed = { 0 }, others = { 0 };

	add(&allowed, litmus->sc);
	add(&allowed, memory >= MODEL_TSO ? litmus->tso : NULL);
	add(&allowed, memory >= MODEL_WEAK ? litmus->weak : NULL);
	add(&others, litmus->gap);
	add(&others, litmus->never);
	for (unsigned i = 0; i <= RACE; i++) {
		complain_if(seen.has[i] && !allowed.has[i], i,
			    "was seen, and is forbidden");
		complain_if(!seen.has[i] && allowed.has[i], i,
			    "is allowed, and was not seen");
		complain_if(others.has[i] && allowed.has[i], i, "is in the table twice");
	}
}

static void run(enum model_memory memory)
{
	const struct model_scenario s = {
		.name = litmus->name,
		.threads = litmus->threads,
		.begin = begin,
		.thread = litmus->thread,
		.end = end,
		.search = { .stale = STALE },
	};
	const struct run_params params = { &s, memory,
					   litmus->bound ? litmus->bound : UNBOUNDED,
					   STEPS_MOST };

	memset(&seen, 0, sizeof(seen));
	explore_all(&params, 0, 0, &found);
	if (found.worst.verdict == MODEL_RACE)
		seen = (struct outcomes){ .has[RACE] = true };
	print_row(memory);
	complain_if(found.worst.verdict != MODEL_PASS && found.worst.verdict != MODEL_RACE,
		    RACE, found.worst.text);
	judge(memory);
}

/* Returns how many there were. */
static unsigned run_table(const struct litmus *table, const char *name)
{
	unsigned n = 0;

	for (litmus = table; litmus->name; litmus++) {
		if (name && !strstr(litmus->name, name))
			continue;
		for (int memory = 0; memory < MODEL_MEMORIES; memory++)
			run((enum model_memory)memory);
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	unsigned tests;

	coroutine_prepare();
	tests = run_table(litmus_pairs, name);
	tests += run_table(litmus_more, name);
	printf("%u tests, %u outcomes not as expected\n", tests, wrong);
	return wrong || !tests ? 1 : 0;
}
