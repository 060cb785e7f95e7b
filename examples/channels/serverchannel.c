/* SPDX-License-Identifier: MIT */
/*
 * Fifty workers over channels, and nothing else: what it takes to ask and to answer.
 *
 *	serverchannel [-count=ROUNDS] [-capacity=N]
 *
 * As server beside it, without the writes, and with the same totals: -count=100000 comes to
 * 1499985000000000000, and -count=3000000 to 3387232619202732032, as what does not fit wraps.
 */
#include "ask.h"

const char program_name[] = "serverchannel";

int main(int argc, char **argv)
{
	return ask_workers(argc, argv, false);
}
