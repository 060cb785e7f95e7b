/* SPDX-License-Identifier: MIT */
#include "env/cgroup.h"
#include "env/quota.h"

uint32_t iw_quota_hundredths(const char *root)
{
	struct iw_cgroup_names names;
	struct iw_cgroup_places places;

	(void)iw_cgroup_read_names(root, &names);
	if (!iw_cgroup_guess(root, &names, &places))
		iw_cgroup_find(root, &names, &places);
	return iw_cgroup_hundredths(&places);
}
