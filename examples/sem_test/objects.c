/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <ipcwait/explain.h>
#include <ipcwait/stats.h>

const char *const object_names[OBJECTS] = { "full", "empty" };

static int read_one(const struct ipcwait_window *w, struct object_cost *cost)
{
	struct ipcwait_object_stats st;
	int r = ipcwait_object_stats_get(w, &st, sizeof(st));

	if (r < 0)
		return r;
	*cost = (struct object_cost){
		.waits = st.waits,
		.gave_up = st.gave_up,
		.slept = st.waits - st.reasons[IPCWAIT_REASON_NONE],
		.spun_useful_ns = st.spun_useful_ns,
		.spun_wasted_ns = st.spun_wasted_ns,
		.slept_ns = st.slept_ns,
	};
	return 0;
}

int objects_begin(const struct sem_ops *ops, struct sem_room *const sems[OBJECTS],
		  struct object_cost costs[OBJECTS])
{
	int r = 0;

	for (unsigned i = 0; i < OBJECTS && !r; i++) {
		const struct ipcwait_window *w = ops->window(sems[i]);

		r = ipcwait_object_set_name(w, object_names[i]);
		if (!r)
			r = read_one(w, &costs[i]);
	}
	return r;
}

static void subtract(struct object_cost *cost, const struct object_cost *before)
{
	cost->waits -= before->waits;
	cost->gave_up -= before->gave_up;
	cost->slept -= before->slept;
	cost->spun_useful_ns -= before->spun_useful_ns;
	cost->spun_wasted_ns -= before->spun_wasted_ns;
	cost->slept_ns -= before->slept_ns;
}

int objects_end(const struct sem_ops *ops, struct sem_room *const sems[OBJECTS],
		struct object_cost costs[OBJECTS])
{
	int r = 0;

	for (unsigned i = 0; i < OBJECTS && !r; i++) {
		const struct ipcwait_window *w = ops->window(sems[i]);
		struct object_cost before = costs[i];

		r = read_one(w, &costs[i]);
		subtract(&costs[i], &before);
		if (!r)
			r = ipcwait_object_set_name(w, "");
	}
	return r;
}
