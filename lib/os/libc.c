/* SPDX-License-Identifier: MIT */
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "os/libc.h"

/* Nobody has a reason to stand in front of this one. Other libcs lack it. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

struct search {
	uintptr_t address, libc;
	bool same;
};

static bool has(const struct dl_phdr_info *library, uintptr_t address)
{
	for (unsigned i = 0; i < library->dlpi_phnum; i++) {
		const ElfW(Phdr) *s = &library->dlpi_phdr[i];

		if (s->p_type == PT_LOAD &&
		    address - (library->dlpi_addr + s->p_vaddr) < s->p_memsz)
			return true;
	}
	return false;
}

/* Ends with the library that has the address. */
static int look_at_library(struct dl_phdr_info *library, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	if (!has(library, s->address))
		return 0;
	s->same = has(library, s->libc);
	return 1;
}

bool iw_is_libcs(const void *function)
{
	struct search s = { .address = (uintptr_t)function,
			    .libc = (uintptr_t)gnu_get_libc_version };

	return !s.libc || (dl_iterate_phdr(look_at_library, &s) && s.same);
}
