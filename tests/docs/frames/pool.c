/* SPDX-License-Identifier: MIT */
/* What the fragment put back is got again. */
#include <ipcwait/pool.h>

#include <stdlib.h>
#include <string.h>

struct request {
	char bytes[100];
};

int main(void)
{
	/* @BLOCK@ */

	r = ipcwait_pool_get(requests);
	if (!r)
		return 1;
	memset(r, 1, sizeof(*r));
	ipcwait_pool_put(requests, r);
	ipcwait_pool_destroy(requests);
	return 0;
}
