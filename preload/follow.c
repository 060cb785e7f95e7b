/* SPDX-License-Identifier: MIT */
/* What `ipcwait run` has put into the environment, and how it goes out of that again. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "../tools/common/tally_form.h"
#include "env/config.h"
#include "tally.h"

#define CHAIN_VARIABLE "LD_PRELOAD"
#define SEPARATORS     " :"

/* Where the value of one variable begins; NULL if @entry is another. */
static char *value_of(char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '='
		       ? entry + length + 1
		       : NULL;
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* It may have been asked for by another path to the same file, or without one. */
static bool is_module(const char *entry, size_t length, const char *module)
{
	size_t name = strlen(module);

	return length >= name && strncmp(entry + length - name, module, name) == 0 &&
	       (length == name || entry[length - name - 1] == '/');
}

static void cut(char *chain, const char *module)
{
	char *at = chain + strspn(chain, SEPARATORS);

	while (*at) {
		size_t length = strcspn(at, SEPARATORS);
		char *next = at + length + strspn(at + length, SEPARATORS);

		if (is_module(at, length, module))
			memmove(at, next, strlen(next) + 1);
		else
			at = next;
	}
}

/*
 * The texts become shorter, or empty, where they are. That needs no memory, and no entry goes away:
 * some runtimes look behind the last for what the kernel has put there.
 */
static void leave(void)
{
	static const char here;
	Dl_info self;

	if (!dladdr(&here, &self))
		return;
	for (char **entry = environ; *entry; entry++) {
		char *chain = value_of(*entry, CHAIN_VARIABLE);
		char *tally = value_of(*entry, TALLY_VARIABLE);

		if (chain)
			cut(chain, base(self.dli_fname));
		if (tally)
			*tally = '\0';
	}
}

__attribute__((constructor)) static void load(void)
{
	const char *tally = iw_config_variable(TALLY_VARIABLE);
	const char *follow = iw_config_variable(FOLLOW_VARIABLE);
	int saved_errno = errno;

	if (tally)
		tally_join(tally);
	if (follow && strcmp(follow, "0") == 0)
		leave();
	errno = saved_errno;
}
