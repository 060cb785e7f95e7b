/* SPDX-License-Identifier: MIT */
/*
 * hwloc knows more than /sys: it corrects what kernels and firmware say wrongly. It is loaded
 * when a calibration asks for it and not linked, so that programs do not start with it, and
 * calibrate without it where it is missing. docs/adr/0013-hwloc-at-run-time.md
 */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/auxv.h>

#include <hwloc.h>

#include "env/topology.h"

/* The soname of all versions 2, which the build asks for. */
#define LIBRARY "libhwloc.so.15"

/* clang-format off */
#define FUNCTIONS(X) \
	X(topology_init) X(topology_load) X(topology_destroy) \
	X(topology_set_all_types_filter) X(topology_set_type_filter) \
	X(get_type_depth) X(get_obj_by_depth) X(bitmap_next)
/* clang-format on */

#define DECLARE(name) __typeof__ (&hwloc_##name)(name);

struct hwloc {
	void *library;
	hwloc_topology_t topology;
	FUNCTIONS(DECLARE)
};

/* The form that POSIX gives for functions found with dlsym(). */
#define FIND(name) (*(void **)(void *)&h->name = dlsym(h->library, "hwloc_" #name)) &&

static bool find_functions(struct hwloc *h)
{
	return FUNCTIONS(FIND) true;
}

static const struct {
	hwloc_obj_type_t type;
	enum ipcwait_distance distance;
} shared[] = {
	{ HWLOC_OBJ_CORE, IPCWAIT_DISTANCE_CORE },
	{ HWLOC_OBJ_L2CACHE, IPCWAIT_DISTANCE_L2 },
	{ HWLOC_OBJ_L3CACHE, IPCWAIT_DISTANCE_L3 },
	{ HWLOC_OBJ_PACKAGE, IPCWAIT_DISTANCE_PACKAGE },
};

#define SHARED (sizeof(shared) / sizeof(shared[0]))

/* Only what is asked for: devices would take most of the time. */
static bool load_topology(struct hwloc *h)
{
	bool ok =
		!h->topology_set_all_types_filter(h->topology, HWLOC_TYPE_FILTER_KEEP_NONE);

	for (unsigned i = 0; ok && i < SHARED; i++)
		ok = !h->topology_set_type_filter(h->topology, shared[i].type,
						  HWLOC_TYPE_FILTER_KEEP_ALL);
	return ok && !h->topology_load(h->topology);
}

static void copy_set(const struct hwloc *h, hwloc_const_cpuset_t set,
		     struct iw_cpu_mask *mask)
{
	int cpu = -1;

	while ((cpu = h->bitmap_next(set, cpu)) >= 0 && cpu < IW_CPU_MOST)
		iw_cpu_mask_add(mask, (unsigned)cpu);
}

static void copy_shared(const struct hwloc *h, hwloc_obj_t o, struct iw_neighbours *n)
{
	for (unsigned i = 0; i < SHARED; i++)
		if (o->type == shared[i].type)
			copy_set(h, o->cpuset, &n->sharing[shared[i].distance]);
}

static bool read_neighbours(const struct hwloc *h, unsigned cpu, struct iw_neighbours *n)
{
	int depth = h->get_type_depth(h->topology, HWLOC_OBJ_PU);
	unsigned i = 0;
	hwloc_obj_t o;

	do
		o = h->get_obj_by_depth(h->topology, depth, i++);
	while (o && o->os_index != cpu);
	if (!o)
		return false;
	for (; o; o = o->parent)
		copy_shared(h, o, n);
	return true;
}

/* In secure mode its environment variables would decide what code runs. */
bool iw_topology_from_hwloc(unsigned cpu, struct iw_neighbours *n)
{
	struct hwloc h = { .library = NULL };
	bool known = false;

	if (getauxval(AT_SECURE))
		return false;
	h.library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	if (!h.library)
		return false;
	if (find_functions(&h) && !h.topology_init(&h.topology)) {
		known = load_topology(&h) && read_neighbours(&h, cpu, n);
		h.topology_destroy(h.topology);
	}
	(void)dlclose(h.library);
	return known;
}
