/* SPDX-License-Identifier: MIT */
#include "usage.h"
#include "rows.h"

#include <ipcwait/base.h>
#include <stdio.h>

static const char before_rows[] = "Usage: sem_test ITEMS LOOPS [OPTION]...\n"
				  "       sem_test ITEMS --idle-us N [OPTION]...\n"
				  "       sem_test ITEMS --uncontended [OPTION]...\n"
				  "\n"
				  "A producer hands ITEMS items to a consumer through two "
				  "semaphores. For each item the\n"
				  "producer works for 2 x LOOPS and the consumer for "
				  "LOOPS, so the consumer waits. The table\n"
				  "compares semaphores with each other and with the "
				  "producer's work alone, the bound.\n"
				  "Numbers may end in k or M: sem_test 800k 2000.\n"
				  "\n"
				  "Rows:\n";

static const char after_rows[] =
	"\n"
	"  --rows LIST     only these rows, names with commas between (default: all)\n"
	"  --processes     two processes with shared memory instead of two threads\n"
	"  --both          two threads, and then two processes\n"
	"  --one-cpu       everything on one CPU\n"
	"  --idle-us N     no work: the producer sleeps for N us before each item, so that "
	"the\n"
	"                  consumer's waits are long; shows the CPU time per item\n"
	"  --uncontended   no hand-off: one thread posts and waits ITEMS times\n"
	"  --repeat N      runs per row, interleaved (default 5); from 3 on the first and "
	"the last\n"
	"                  are dropped; the table shows medians\n"
	"  --json FILE     also write all runs, medians and the environment to FILE\n"
	"  --no-progress   no progress bar (there is none either if stderr is not a "
	"terminal)\n"
	"  --check         exit with 3 if a bar is not reached\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 done; 1 a run failed; 2 bad arguments, nothing was run; 3 see "
	"--check.\n";

void usage_print_help(void)
{
	fputs(before_rows, stdout);
	for (int i = 0; i < ROW_COUNT; i++)
		printf("  %-15s %s\n", rows[i].name, rows[i].what);
	fputs(after_rows, stdout);
}

void usage_print_version(void)
{
	printf("sem_test, libipcwait %s\n", ipcwait_version());
}
