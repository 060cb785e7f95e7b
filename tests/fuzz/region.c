/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the header of memory that programs share: attach says what its header lists, changes
 * nothing but 64 bytes that are zero, and says the same again.
 */
#include <errno.h>
#include <string.h>

#include <ipcwait/region.h>

#include "common/fuzz.h"
#include "fuzz/input.h"
#include "os/clock.h"

/* What is in the header does not depend on it. */
void iw_clock_find_ahead(void)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ipcwait_region zero;
	struct input in = { data, size };
	struct ipcwait_region before, r;
	int first, layout;

	take_bytes(&in, &before, sizeof(before));
	r = before;
	layout = ipcwait_region_layout(&r);
	FUZZ_CHECK(layout >= -EINVAL && layout < 256 && (layout >= 0 || layout == -EINVAL));
	first = ipcwait_region_attach(&r);
	if (memcmp(&before, &zero, sizeof(zero)) == 0) {
		FUZZ_CHECK(first == 0 && ipcwait_region_layout(&r) == IPCWAIT_LAYOUT);
	} else {
		FUZZ_CHECK(memcmp(&before, &r, sizeof(r)) == 0);
		FUZZ_CHECK(first == (layout < 0                 ? -EINVAL
				     : layout == IPCWAIT_LAYOUT ? 0
								: -EPROTO));
	}
	FUZZ_CHECK(ipcwait_region_attach(&r) == first);
	return 0;
}
