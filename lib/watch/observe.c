/* SPDX-License-Identifier: MIT */
#include "watch/explain.h"
#include "watch/objects.h"
#include "watch/observe.h"
#include "watch/record.h"

static void add(struct ipcwait_word64 *count, uint64_t n)
{
	/* ORD observe.X1: relaxed, statistic. */
	(void)ipcwait_impl_add64_relaxed(count, n);
}

/* Keeps a copy of the window: at exit, when it is shown, its memory may be gone. */
static void note(struct iw_object *object, const struct iw_outcome *o)
{
	add(&object->counts[IW_OBJECT_WAITS], 1);
	add(&object->counts[IW_OBJECT_GAVE_UP], o->result != 0);
	add(&object->counts[IW_OBJECT_SPUN_USEFUL_NS], o->spun_useful_ns);
	add(&object->counts[IW_OBJECT_SPUN_WASTED_NS], o->spun_wasted_ns);
	add(&object->counts[IW_OBJECT_SLEPT_NS], o->slept_ns);
	add(&object->reasons[o->reason], 1);
	/* ORD observe.X2: relaxed, statistic: the last of several threads wins. */
	if (o->window_ns)
		ipcwait_impl_store64_relaxed(&object->chosen_ns, o->window_ns);
	ipcwait_impl_store64_relaxed(&object->bins,
				     ipcwait_impl_load64_relaxed(&o->window->bins));
	ipcwait_impl_store32_relaxed(&object->state,
				     ipcwait_impl_load32_relaxed(&o->window->state));
	ipcwait_impl_store32_relaxed(&object->kind, (uint32_t)o->kind + 1);
	ipcwait_impl_store32_relaxed(&object->resumable, o->resumable);
	ipcwait_impl_store64_relaxed(&object->site, o->site);
}

void iw_observe(const struct iw_facts *facts, const struct iw_outcome *o)
{
	const struct iw_config *config = &facts->config;

	if (config->explain) {
		struct iw_object *object = iw_object_get(o->window);

		if (object)
			note(object, o);
	}
	if (config->record_path[0] && o->wait_ns)
		iw_record_wait(config->record_path, o->window, o->wait_ns);
}

/*
 * exit() and the end of main() come here, _exit() and a deadly signal do not. A process in
 * which no wait ever had to wait has not completed its facts, and has nothing to tell.
 */
static __attribute__((destructor)) void tell_at_exit(void)
{
	const struct iw_facts *facts = iw_facts_known();

	if (facts && facts->config.stats)
		iw_stats_print();
	if (facts && facts->config.explain)
		iw_explain_print();
}
