/* SPDX-License-Identifier: MIT */
/* Says what is in LD_PRELOAD, and its first argument. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	const char *chain = getenv("LD_PRELOAD");

	printf("%s|%s\n", chain ? chain : "", argc > 1 ? argv[1] : "");
	return 0;
}
