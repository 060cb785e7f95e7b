/* SPDX-License-Identifier: MIT */
/*
 * Where the control groups of a process are, by the library's own rules (lib/env/cgroup.c), which
 * a user of the library cannot call: what is shown has to be what the library obeys.
 * tests/cli/info_quota_test.c and tests/fuzz/info.c compare the two.
 */
#ifndef CLI_INFO_CGROUP_H
#define CLI_INFO_CGROUP_H

#include "info.h"

/* Of a group's name, and of a path to it. What is longer is not found. */
#define INFO_GROUP_BYTES 768

/* With the controller of CPU time, and the one hierarchy of version 2. */
enum info_cgroup_version { INFO_CGROUP_V1, INFO_CGROUP_V2, INFO_CGROUP_VERSIONS };

struct info_cgroup {
	char name[INFO_GROUP_BYTES]; /* "": there is none */
	char path[INFO_GROUP_BYTES]; /* of its folder; "": it is not mounted */
	size_t top;                  /* length of the mount point in it */
};

/* False, and @why, if the names cannot be read. */
bool info_find_cgroups(const struct info *info,
		       struct info_cgroup group[INFO_CGROUP_VERSIONS],
		       char why[INFO_TEXT_BYTES]);

#endif
