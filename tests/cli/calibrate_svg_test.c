/* SPDX-License-Identifier: MIT */
/* Above the picture of ipcwait calibrate: machine, date, B, and whether it was disturbed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "../cli/calibrate.h"
#include "../tools/common/gnuplot.h"
#include "../tools/common/machine.h"

static struct calibrate_result r;
static const char *cpu = "A CPU";
static char *text;

/* In the place of those that are linked otherwise: a script is all that comes of it. */
int gnuplot_draw(FILE *out, void (*write)(FILE *script, const void *arg), const void *arg)
{
	write(out, arg);
	return 0;
}

void machine_read(struct machine *m)
{
	*m = (struct machine){ .cpus_usable = 2, .cpus_online = 4 };
	snprintf(m->cpu, sizeof(m->cpu), "%s", cpu);
	snprintf(m->kernel, sizeof(m->kernel), "Linux 6.1");
	snprintf(m->hypervisor, sizeof(m->hypervisor), "KVM");
}

const char *calibrate_distance(uint32_t distance)
{
	return distance ? "near" : "far";
}

static void draw_it(void)
{
	size_t size;
	FILE *f = open_memstream(&text, &size);

	CHECK(f != NULL);
	CHECK_EQ(calibrate_draw(f, &r), 0);
	CHECK_EQ(fclose(f), 0);
}

static void where_and_when(void)
{
	r = (struct calibrate_result){ .now = { .pair_count = 1,
						.measured_at_s = 1764158400,
						.block_ns = 26400,
						.waker_ns = 7300 } };
	draw_it();
	CHECK(strstr(text, "'A CPU, 2 of 4 CPUs, Linux 6.1, hypervisor: KVM'") != NULL);
	CHECK(strstr(text, "'2025-11-26 12:00 UTC, libipcwait ") != NULL);
	CHECK(strstr(text, "B, what a sleep costs: 26.4 us, of it 7.3 us for the waker'") !=
	      NULL);
	free(text);
}

static void how_well(void)
{
	static const struct {
		double cpus;
		uint32_t used, discarded;
		const char *want;
	} rows[] = {
		{ 0.04, 9, 1, "'Not disturbed: other programs kept 0.04 CPUs busy" },
		{ 0.4, 9, 1, "'DISTURBED: other programs kept 0.40 CPUs busy" },
		{ 0.04, 1, 9,
		  "'DISTURBED: most samples had to be discarded (9, 1 were used)'" },
		{ -1, 1, 9,
		  "'DISTURBED: most samples had to be discarded (9, 1 were used)'" },
		{ -1, 9, 1, "'Not known whether it was disturbed" },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = (struct calibrate_result){ .other_cpus = rows[i].cpus };
		r.now.samples_used = rows[i].used;
		r.now.samples_discarded = rows[i].discarded;
		draw_it();
		CHECK(strstr(text, rows[i].want) != NULL);
		free(text);
	}
}

/* A name that wants to be a command is letters between quotes. */
static void names_are_no_commands(void)
{
	cpu = "A'\n!touch x\n`y`\"\\";
	r = (struct calibrate_result){ 0 };
	draw_it();
	CHECK(strstr(text, "'A   touch x  y   , 2 of 4 CPUs") != NULL);
	cpu = "A CPU";
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(where_and_when),
		CHILD_TEST(how_well),
		CHILD_TEST(names_are_no_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
