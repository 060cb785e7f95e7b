/* SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool terminal_obeys(int fd)
{
	const char *kind = getenv("TERM");

	return isatty(fd) && kind && *kind && strcmp(kind, "dumb") != 0;
}

bool terminal_has_colour(int fd)
{
	const char *none = getenv("NO_COLOR");

	return terminal_obeys(fd) && !(none && *none);
}
