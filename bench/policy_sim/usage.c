/* SPDX-License-Identifier: MIT */
#include "usage.h"
#include "../../tools/rules/rule.h"

#include <stdio.h>

static const char before_policies[] =
	"Usage: policy_sim [OPTION]...\n"
	"\n"
	"How good is a rule that decides how long to spin before a sleep? A wait of\n"
	"length X costs X if it ends within the spin, else the spin and B, the price of\n"
	"a sleep. The best is min(X, B), for those who know X. Rules run over a suite of\n"
	"waits, synthetic and recorded, under a virtual clock; the same seed gives the\n"
	"same figures.\n"
	"\n"
	"Policies:\n";

static const char after_policies[] =
	"\n"
	"  --b-us LIST    price of a sleep in us, one or more with commas (default 30)\n"
	"  --seed N       another draw of the same suite (default 1)\n"
	"  --waits N      length of the synthetic members (default 20000)\n"
	"  --policy LIST  only these, names with commas between (default: all)\n"
	"  --trace FILE   only these waits, of a recorded trace: a wait in ns a line,\n"
	"                 # for comments, or what `ipcwait report --waits` wrote; may be\n"
	"                 given up to 64 times\n"
	"  --suite        with --trace: the synthetic waits as well\n"
	"  --members      also a table of all members of the suite\n"
	"  --json FILE    also write everything to FILE\n"
	"  --svg FILE     also draw it; needs gnuplot\n"
	"  --check        exit with 3 if ipcwait misses a bar\n"
	"  --help\n"
	"\n"
	"Exit status: 0 done; 1 failed; 2 bad arguments or trace, nothing was run; 3 see\n"
	"--check.\n";

void usage_print_help(void)
{
	fputs(before_policies, stdout);
	for (unsigned i = 0; i < n_rules; i++)
		printf("  %-11s %s\n", rules[i]->name, rules[i]->what);
	fputs(after_policies, stdout);
}
