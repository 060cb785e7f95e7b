/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "begin_again.h"
#include "complain.h"

void begin_again(char **argv, const char *name, const char *value)
{
	if (!(value ? setenv(name, value, 1) : unsetenv(name)))
		(void)execv("/proc/self/exe", argv);
	complain("%s cannot be changed: %s", name, strerror(errno));
}
