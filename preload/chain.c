/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <string.h>

#include "chain.h"

/*
 * Of the module's file; "" if the loader does not tell. Found at load, before other constructors
 * ask: later it might take a lock.
 */
static const char *module_name = "";

static __attribute__((constructor(101))) void find_name(void)
{
	Dl_info self;
	const char *slash;

	if (!dladdr(&module_name, &self))
		return;
	slash = strrchr(self.dli_fname, '/');
	module_name = slash ? slash + 1 : self.dli_fname;
}

char *iw_chain_value(char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '='
		       ? entry + length + 1
		       : NULL;
}

/* It may have been asked for by another path to the same file, or without one. */
static bool is_module(const char *entry, size_t length)
{
	size_t name = strlen(module_name);

	return name && length >= name &&
	       strncmp(entry + length - name, module_name, name) == 0 &&
	       (length == name || entry[length - name - 1] == '/');
}

const char *iw_chain_entry(const char *chain, size_t *length)
{
	const char *at = chain + strspn(chain, IW_CHAIN_SEPARATORS);

	while (*at) {
		*length = strcspn(at, IW_CHAIN_SEPARATORS);
		if (is_module(at, *length))
			return at;
		at += *length + strspn(at + *length, IW_CHAIN_SEPARATORS);
	}
	return NULL;
}

const char *iw_chain_of(char *const *environment)
{
	size_t length;

	for (; environment && *environment; environment++) {
		const char *chain = iw_chain_value(*environment, IW_CHAIN_VARIABLE);

		if (chain)
			return iw_chain_entry(chain, &length) ? chain : NULL;
	}
	return NULL;
}

void iw_chain_cut(char *chain)
{
	char *at = chain + strspn(chain, IW_CHAIN_SEPARATORS);

	while (*at) {
		size_t length = strcspn(at, IW_CHAIN_SEPARATORS);
		char *next = at + length + strspn(at + length, IW_CHAIN_SEPARATORS);

		if (is_module(at, length))
			memmove(at, next, strlen(next) + 1);
		else
			at = next;
	}
}
