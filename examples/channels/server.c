/* SPDX-License-Identifier: MIT */
/*
 * Fifty workers over channels, who write to the null device on the way: a server in small, with a
 * system call for each of its messages.
 *
 *	server [-count=ROUNDS] [-capacity=N]
 *
 * A round is a number to each of the workers, a write of 30 bytes for each, and an answer from
 * each; the worker writes as well, and works for a moment. -count=100000 comes to
 * 1499985000000000000. Channels hold one number, or as many as -capacity says; with 0 they are Go's
 * unbuffered ones, and a sender waits until its number has been taken, which is a second sleep for
 * each message.
 */
#include "ask.h"

const char program_name[] = "server";

int main(int argc, char **argv)
{
	return ask_workers(argc, argv, true);
}
