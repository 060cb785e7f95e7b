/* SPDX-License-Identifier: MIT */
/* The kernel's lists of CPUs, as the library and as the programs read them. */
#include <stdlib.h>
#include <string.h>

#include "../../tools/common/cpu_list.h"
#include "common/fuzz.h"
#include "env/topology.h"

#define COMPARED 128

/* A range that runs backwards holds nothing for the library, and is a mistake for programs. */
static void check_programs(const char *text, const struct iw_cpu_mask *mask)
{
	unsigned first;

	if (!cpu_list_count(text, &first))
		return;
	FUZZ_CHECK(iw_cpu_mask_has(mask, first));
	for (unsigned cpu = 0; cpu < COMPARED; cpu++)
		FUZZ_CHECK(cpu_list_has(text, cpu) == iw_cpu_mask_has(mask, cpu));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct iw_cpu_mask mask = { { 0 } };

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (iw_topology_parse_list(text, &mask)) {
		FUZZ_CHECK(strspn(text, "0123456789,-") == strcspn(text, "\n"));
		check_programs(text, &mask);
	}
	free(text);
	return 0;
}
