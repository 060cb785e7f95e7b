/* SPDX-License-Identifier: MIT */
/* ipcwait_bench: libipcwait and its peers, one file per question. docs/benchmarks.md. */
#include "questions.h"
#include "../shim/bench.h"

const char program_name[] = "ipcwait_bench";

int main(int argc, char **argv)
{
	add_uncontended();
	return bench_main(argc, argv);
}
