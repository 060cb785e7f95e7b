/* SPDX-License-Identifier: MIT */
/* The kernel's lists of CPUs. */
#include <stdlib.h>
#include <string.h>

#include "common/fuzz.h"
#include "env/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct iw_cpu_mask mask = { { 0 } };

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (iw_topology_parse_list(text, &mask))
		FUZZ_CHECK(strspn(text, "0123456789,-") == strcspn(text, "\n"));
	free(text);
	return 0;
}
