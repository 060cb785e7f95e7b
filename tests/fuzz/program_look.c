/* SPDX-License-Identifier: MIT */
/* Any bytes as the file of a program that is about to be started. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fuzz.h"
#include "../tools/common/program_look.h"

/* What is said of it makes sense, and is the same again. */
static void check(const struct program_look *l)
{
	FUZZ_CHECK(memchr(l->interpreter, '\0', sizeof(l->interpreter)));
	FUZZ_CHECK(!(l->elf && l->script));
	FUZZ_CHECK(l->elf || (!l->sanitized && !l->class && !l->machine));
	FUZZ_CHECK(!l->script || l->interpreter[0]);
	FUZZ_CHECK(!l->sanitized || l->interpreter[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program_look l, again;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	bool read;

	FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	memset(&l, 0xff, sizeof(l));
	read = program_look_at(&l, fd);
	FUZZ_CHECK(read);
	check(&l);
	read = program_look_at(&again, fd);
	FUZZ_CHECK(read && memcmp(&l, &again, sizeof(l)) == 0);
	(void)close(fd);
	return 0;
}
