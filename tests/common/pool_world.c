/* SPDX-License-Identifier: MIT */
#include "common/check.h"
#include "common/pool_world.h"

struct ipcwait_pool *pool;

int pool_begin(uint64_t max_elems, uint32_t magazine)
{
	struct ipcwait_pool_params params = { .elem_size = 64,
					      .max_elems = max_elems,
					      .magazine = magazine };

	return ipcwait_pool_create(&params, &pool);
}

struct ipcwait_pool_stats pool_stats(void)
{
	struct ipcwait_pool_stats st;

	CHECK_EQ(ipcwait_pool_stats_get(pool, &st, sizeof(st)), sizeof(st));
	return st;
}

void pool_end(void)
{
	(void)ipcwait_pool_trim(pool);
	CHECK_EQ(pool_stats().used, 0);
	CHECK_EQ(pool_stats().bytes, 0);
	ipcwait_pool_destroy(pool);
}
