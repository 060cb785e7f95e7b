/* SPDX-License-Identifier: MIT */
/*
 * The share of the CPUs that the process's control groups may use, of both versions of
 * cgroups. See cgroups(7) and, in Linux, Documentation/admin-guide/cgroup-v2.rst and
 * Documentation/scheduler/sched-bwc.rst.
 *
 * What cannot be read or makes no sense is left out: a missing limit is an unknown one.
 * Every function takes the root directory, "" but for tests.
 */
#ifndef IW_ENV_CGROUP_H
#define IW_ENV_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Several times as long as Kubernetes makes them. What is longer is not found. */
#define IW_CGROUP_PATH_BYTES 768

/* Of a hierarchy of version 1 with the controller cpu, and of the one of version 2. */
enum iw_cgroup_version { IW_CGROUP_V1, IW_CGROUP_V2, IW_CGROUP_VERSIONS };

/* The groups as the process sees them, "" where there is none. */
struct iw_cgroup_names {
	char name[IW_CGROUP_VERSIONS][IW_CGROUP_PATH_BYTES];
};

/* Where their files are. */
struct iw_cgroup_place {
	char path[IW_CGROUP_PATH_BYTES]; /* "" if it is not mounted */
	size_t top; /* length of the mount point in it: the groups above are not visible */
};

struct iw_cgroup_places {
	struct iw_cgroup_place place[IW_CGROUP_VERSIONS];
};

/* From /proc/self/cgroup. False, and no names, if that cannot be read. */
bool iw_cgroup_read_names(const char *root, struct iw_cgroup_names *names);

/*
 * Where they are mounted as a rule. True if the one that limits CPU time is there: the other
 * version has no say in it then. Else see iw_cgroup_find().
 */
bool iw_cgroup_guess(const char *root, const struct iw_cgroup_names *names,
		     struct iw_cgroup_places *places);

/* From /proc/self/mountinfo, which may be long. */
void iw_cgroup_find(const char *root, const struct iw_cgroup_names *names,
		    struct iw_cgroup_places *places);

/*
 * The tightest quota / period of all groups from the process's own up to the last visible one, in
 * CPUs times 100; 0: none is known.
 */
uint32_t iw_cgroup_hundredths(const struct iw_cgroup_places *places);

#endif
