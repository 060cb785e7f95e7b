/* SPDX-License-Identifier: MIT */
/* Eight bytes say which place is looked for, and the others are the file. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../cli/elf_place.h"
#include "common/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct elf_place place;
	uint64_t offset;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	if (size < sizeof(offset))
		return 0;
	memcpy(&offset, data, sizeof(offset));
	data += sizeof(offset);
	size -= sizeof(offset);
	FUZZ_CHECK(ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
	memset(&place, 0xff, sizeof(place));
	if (!elf_place_find(fd, offset, &place))
		FUZZ_CHECK(place.address == offset && !place.function[0]);
	FUZZ_CHECK(memchr(place.function, 0, sizeof(place.function)));
	/* A name comes from the file. */
	FUZZ_CHECK(!place.function[0] ||
		   memmem(data, size, place.function, strlen(place.function)));
	return 0;
}
