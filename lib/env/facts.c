/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include <ipcwait/base.h>

#include "env/calibration_file.h"
#include "env/cpus.h"
#include "env/facts.h"
#include "env/machine.h"
#include "env/quota.h"
#include "os/cpu.h"
#include "os/life.h"
#include "os/seam.h"

/* One for each thread that can complete them at the same time; a ninth does without facts. */
#define SLOTS 8

static struct iw_facts slots[SLOTS];
static struct ipcwait_word32 slots_used;
static struct ipcwait_word32 published; /* index + 1 of the slot that holds the facts */

static struct iw_facts loaded; /* what gather() has found */
static struct ipcwait_word32 is_loaded;

bool iw_place_is_default;

/* What takes the environment and system calls. */
static void gather(struct iw_facts *f)
{
	iw_config_read(&f->config);
	f->observed = f->config.explain || f->config.record_path[0];
	f->cpus = iw_cpus_process();
	f->quota_hundredths = iw_quota_hundredths("");
	f->movable = f->cpus > 1 && !iw_rationed(f);
	f->virtual_machine = iw_machine_said_virtual();
	f->calibrated = iw_calibration_load(&f->calibration);
}

/* Runs before main() or inside dlopen(). */
__attribute__((constructor)) static void load(void)
{
	gather(&loaded);
	/* Here too, and not in the first lock of a mutex that knows its owner. */
	(void)iw_thread_name();
	/*
	 * ORD facts.R2: release, for the thread that another constructor has made already.
	 * Pairs with facts.A2.
	 */
	ipcwait_impl_store32_release(&is_loaded, 1);
}

void iw_facts_forget(void)
{
	/* ORD facts.X3: relaxed, protected by there being one thread. */
	ipcwait_impl_store32_relaxed(&is_loaded, 0);
}

/*
 * And what does not: time, and the CPU, which a hypervisor answers for in 8 us a question, too
 * long to ask in every program that is linked with the library.
 */
static void complete(struct iw_facts *f)
{
	/* ORD facts.A2: acquire, what has been gathered is there. Pairs with facts.R2. */
	if (ipcwait_impl_load32_acquire(&is_loaded))
		*f = loaded;
	else
		gather(f);
	f->rate = iw_tick_measure();
	f->virtual_machine = f->virtual_machine || iw_machine_virtual();
	f->dedicated = iw_machine_dedicated();
	f->monitor = f->rate.counter && iw_cpu_can_monitor();
}

static const struct iw_facts *first_use(void)
{
	/* ORD facts.X1: relaxed, no order needed: only hands out different numbers. */
	uint32_t slot = ipcwait_impl_add32_relaxed(&slots_used, 1);
	uint32_t nobody = 0;

	if (slot >= SLOTS) {
		/* ORD facts.X2: relaxed, protected by SLOTS: keeps the count from wrapping. */
		ipcwait_impl_store32_relaxed(&slots_used, SLOTS);
		return NULL;
	}
	complete(&slots[slot]);
	/*
	 * ORD facts.R1: release, so that a thread which finds the slot number finds the slot
	 * filled in. Pairs with facts.A1. A loser leaves its slot unused and takes the
	 * winner's, through the same acquire load as everybody else.
	 */
	(void)ipcwait_impl_cas32_release(&published, &nobody, slot + 1);
	return iw_facts();
}

const struct iw_facts *iw_facts_known(void)
{
	/* ORD facts.A1: acquire, see facts.R1. Pairs with facts.R1. */
	uint32_t found = ipcwait_impl_load32_acquire(&published);

	return IPCWAIT_LIKELY(found) ? &slots[found - 1] : NULL;
}

const struct iw_facts *iw_facts(void)
{
	const struct iw_facts *known = iw_facts_known();

	return IPCWAIT_LIKELY(known) ? known : first_use();
}
