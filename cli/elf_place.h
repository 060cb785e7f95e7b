/* SPDX-License-Identifier: MIT */
/* What an ELF file says about a place in it. Anybody may have written the file. */
#ifndef CLI_ELF_PLACE_H
#define CLI_ELF_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#define ELF_NAME_BYTES 128

struct elf_place {
	uint64_t address; /* what the file itself calls the place */
	char function
		[ELF_NAME_BYTES]; /* its beginning; "" if no table names the function */
	uint64_t into;            /* from the beginning of the function */
};

/*
 * The place @offset in the file behind @fd. It reads at most one table of symbols and one of those
 * for the loader, of SYMBOLS_MOST (4 million) each; and never maps the file, which may become
 * shorter. False: it is no ELF file of 64 bits for this order of bytes, or loads nothing there.
 */
bool elf_place_find(int fd, uint64_t offset, struct elf_place *place);

#endif
