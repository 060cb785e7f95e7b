/* SPDX-License-Identifier: MIT */
/* Where the preload module is, and how the loader gets to know of it. */
#include "run.h"
#include "../tools/common/complain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE_NAME    "libipcwait-preload.so"
#define CHAIN_VARIABLE "LD_PRELOAD"

/* What separates the entries of the chain; no entry can hold it. */
#define SEPARATORS " :"

/* Of this program's file, with a slash behind it. */
static int own_folder(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	path[n < 0 ? 0 : n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return -ENOENT;
	slash[1] = '\0';
	return 0;
}

/* In the tree in which both were built, or where both are installed. */
static bool find_own(char path[PATH_MAX])
{
	static const char *const places[] = { "../preload/" MODULE_NAME,
					      "../" LIBRARY_FOLDER "/" MODULE_NAME };
	char folder[PATH_MAX], file[2 * PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (own_folder(folder))
			break;
		snprintf(file, sizeof(file), "%s%s", folder, places[i]);
		if (realpath(file, path))
			return true;
	}
	return realpath(LIBRARY_FOLDER_WHOLE "/" MODULE_NAME, path) != NULL;
}

int run_module_find(char path[PATH_MAX], const char *wanted)
{
	if (!wanted && !find_own(path))
		return complain("cannot find " MODULE_NAME
				" beside this program or in " LIBRARY_FOLDER_WHOLE
				"; give its path with --module");
	if (wanted && !realpath(wanted, path))
		return complain("cannot use the module '%s': %s", shown(wanted, -1),
				strerror(errno));
	if (access(path, R_OK) != 0)
		return complain("cannot use the module '%s': %s", shown(path, -1),
				strerror(errno));
	if (!run_is_module(path))
		return complain("cannot use the module '%s': it is no shared library for "
				"programs of this machine",
				shown(path, -1));
	if (strpbrk(path, SEPARATORS "$"))
		return complain("cannot use the module '%s': " CHAIN_VARIABLE
				" takes no blanks, colons and dollar signs in a path",
				shown(path, -1));
	return 0;
}

static bool has(const char *chain, const char *module)
{
	size_t length = strlen(module);

	for (const char *at = chain; *at; at += strcspn(at, SEPARATORS)) {
		at += strspn(at, SEPARATORS);
		if (strcspn(at, SEPARATORS) == length && !strncmp(at, module, length))
			return true;
	}
	return false;
}

int run_module_chain(const char *module)
{
	const char *old = getenv(CHAIN_VARIABLE);
	char *chain = NULL;
	int r;

	if (old && has(old, module))
		return 0;
	if (old && *old && asprintf(&chain, "%s:%s", module, old) < 0)
		return complain("cannot set " CHAIN_VARIABLE ": %s", strerror(errno));
	r = setenv(CHAIN_VARIABLE, chain ? chain : module, 1);
	free(chain);
	return r ? complain("cannot set " CHAIN_VARIABLE ": %s", strerror(errno)) : 0;
}
