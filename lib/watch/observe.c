/* SPDX-License-Identifier: MIT */
#include "policy/cost.h"
#include "policy/policy.h"
#include "watch/explain.h"
#include "watch/objects.h"
#include "watch/observe.h"
#include "watch/page.h"
#include "watch/record.h"

struct ipcwait_word32 iw_observed;

void iw_observe_more(enum iw_observed what)
{
	/* ORD observe.X4: relaxed, statistic as observe.X3. */
	uint32_t now = ipcwait_impl_load32_relaxed(&iw_observed);

	/* ORD observe.X7: relaxed, statistic as observe.X3. */
	while (!ipcwait_impl_cas32_relaxed(&iw_observed, &now, now | (uint32_t)what))
		;
}

static void add(struct ipcwait_word64 *count, uint64_t n)
{
	/* ORD observe.X1: relaxed, statistic. */
	if (n)
		(void)ipcwait_impl_add64_relaxed(count, n);
}

static bool counts_all(const struct iw_untold *u)
{
	/* ORD observe.X5: relaxed, statistic as observe.X3. */
	return u->all || ipcwait_impl_load32_relaxed(&iw_observed) & IW_OBSERVE_ALL;
}

/* What @n waits are counted in, or that there is no room for them. */
static struct iw_object *entry(struct iw_objects *t, uint64_t address, uint64_t n)
{
	struct iw_object *o = iw_object_get(t, address);

	if (!o)
		add(&t->missed, n);
	return o;
}

/* Of the last waits; either may be NULL. */
struct entries {
	struct iw_object *object, *site;
};

static struct entries entries_of(const struct iw_untold *u, uint64_t n)
{
	struct entries e = { NULL, NULL };

	e.object = counts_all(u) ? entry(&iw_objects, u->window, n)
				 : iw_object_find(&iw_objects, u->window);
	if (u->site && (e.object || counts_all(u)))
		e.site = entry(&iw_call_sites, u->site, n);
	return e;
}

static void add_quick(struct iw_object *object, const struct iw_untold *u)
{
	add(&object->counts[IW_OBJECT_WAITS], u->waits);
	add(&object->counts[IW_OBJECT_SPUN_USEFUL_NS], u->spun_ns);
	add(&object->reasons[IW_NO_REASON], u->waits);
}

static void tell_of(struct iw_untold *u, const struct entries *e)
{
	if (e->object)
		add_quick(e->object, u);
	if (e->site)
		add_quick(e->site, u);
	u->told += u->waits;
	u->waits = 0;
	u->spun_ns = 0;
}

/* Not a word of the window is read: its memory may be gone. */
static void tell(struct iw_untold *u)
{
	struct entries e;

	if (!u->waits)
		return;
	e = entries_of(u, u->waits);
	tell_of(u, &e);
}

/* Keeps a copy of the window: at exit, when it is shown, its memory may be gone. */
static void copy_window(struct iw_object *object, const struct iw_outcome *o)
{
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

static bool is_quick(const struct iw_outcome *o)
{
	return o->reason == IW_NO_REASON && !o->result;
}

static void add_slow(struct iw_object *object, const struct iw_outcome *o)
{
	add(&object->counts[IW_OBJECT_WAITS], 1);
	add(&object->counts[IW_OBJECT_GAVE_UP], o->result != 0);
	add(&object->counts[IW_OBJECT_SPUN_USEFUL_NS], o->spun_useful_ns);
	add(&object->counts[IW_OBJECT_SPUN_WASTED_NS], o->spun_wasted_ns);
	add(&object->counts[IW_OBJECT_SLEPT_NS], o->slept_ns);
	add(&object->reasons[o->reason], 1);
}

static void tell_with(struct iw_untold *u, const struct iw_outcome *o)
{
	struct entries e = entries_of(u, u->waits + !is_quick(o));

	tell_of(u, &e);
	if (e.object) {
		if (!is_quick(o))
			add_slow(e.object, o);
		copy_window(e.object, o);
	}
	if (e.site) {
		if (!is_quick(o))
			add_slow(e.site, o);
		copy_window(e.site, o);
	}
}

static void count(const struct iw_outcome *o, bool all)
{
	struct iw_untold *u = iw_untold_of(o);

	if (u->window != (uintptr_t)o->window || u->site != o->site) {
		tell(u);
		*u = (struct iw_untold){ .window = (uintptr_t)o->window, .site = o->site };
	}
	u->all = all;
	if (is_quick(o)) {
		u->waits++;
		u->spun_ns += o->spun_useful_ns;
	}
	tell_with(u, o);
}

static void note_cost(const struct iw_facts *facts)
{
	struct ipcwait_record_cost c = {
		.block_ns = iw_cost_block_ns(facts, IPCWAIT_ADAPTIVE),
		.samples = iw_cost_samples(),
		.waker_ns = iw_cost_waker_ns(facts),
		.sleeper_ns = iw_cost_timer(facts).cpu_ns,
	};

	iw_page_note_cost(iw_cost_block_ns(facts, iw_policy_default_preset(facts)),
			  c.samples);
	iw_record_cost(&c);
}

void iw_observe_now(const struct iw_facts *facts, const struct iw_outcome *o)
{
	const struct iw_config *config = &facts->config;

	iw_page_make_due();
	/* ORD observe.X6: relaxed, statistic as observe.X3. */
	if (config->explain || ipcwait_impl_load32_relaxed(&iw_observed))
		count(o, config->explain);
	if (config->record_path[0])
		iw_record_wait(config->record_path, o);
	if (o->reason)
		note_cost(facts);
}

void iw_observe_all_told(void)
{
	for (unsigned i = 0; i < IW_UNTOLD_SLOTS; i++)
		tell(&iw_self()->untold[i]);
}

/*
 * exit() and the end of main() come here, _exit() and a deadly signal do not. A process in
 * which no wait ever had to wait has not completed its facts, and has nothing to tell.
 */
static __attribute__((destructor)) void tell_at_exit(void)
{
	const struct iw_facts *facts = iw_facts_known();

	if (!facts)
		return;
	iw_observe_all_told();
	iw_record_end();
	if (facts->config.stats)
		iw_stats_print();
	if (facts->config.explain)
		iw_explain_print();
}
