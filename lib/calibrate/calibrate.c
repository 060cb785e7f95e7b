/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "env/calibration_file.h"
#include "env/facts.h"
#include "os/cpu_mask.h"
#include "os/seam.h"
#include "os/usage.h"
#include "os/worker.h"
#include "calibrate/calibrate.h"
#include "calibrate/samples.h"
#include "policy/cost.h"

#define WORDS (sizeof(struct ipcwait_calibration) / sizeof(uint64_t))

_Static_assert(sizeof(struct ipcwait_calibration) % sizeof(uint64_t) == 0,
	       "copied in words of 64 bits");

/*
 * The calibrations of this process. The next is written while readers have the last, and takes
 * a third of a second at least: a reader that is held up for longer in the middle of its copy
 * has figures of two calibrations, all of them measured.
 */
static struct ipcwait_word64 results[2][WORDS];
static struct ipcwait_word32 results_count;

/* The process that calibrates, 0 if none. A child of fork() does not inherit the claim. */
static struct ipcwait_word64 claimed_by;

static bool claim(void)
{
	/* ORD calibrate.X1: relaxed, re-checked by the CAS. */
	uint64_t who = ipcwait_impl_load64_relaxed(&claimed_by);
	uint64_t me = iw_usage_process();

	/* ORD calibrate.A2: acquire, for the results of the last. Pairs with calibrate.R2. */
	return who != me && ipcwait_impl_cas64_acquire(&claimed_by, &who, me);
}

static void give_up_claim(void)
{
	uint64_t me = iw_usage_process();

	/* ORD calibrate.R2: release, the next finds what we published. Pairs with
	 * calibrate.A2. Nobody else changes it, so this does not fail. */
	(void)ipcwait_impl_cas64_release(&claimed_by, &me, 0);
}

static void publish(const struct ipcwait_calibration *c)
{
	/* ORD calibrate.X3: relaxed, protected by the claim. */
	uint32_t n = ipcwait_impl_load32_relaxed(&results_count);
	uint64_t word[WORDS];

	memcpy(word, c, sizeof(*c));
	for (unsigned i = 0; i < WORDS; i++) {
		/* ORD calibrate.X4: relaxed, protected by the count's release. */
		ipcwait_impl_store64_relaxed(&results[n % 2][i], word[i]);
	}
	/* ORD calibrate.R1: release, the count comes after what it counts. Pairs with
	 * calibrate.A1. */
	ipcwait_impl_store32_release(&results_count, n + 1);
	iw_cost_calibrated(c->latency_ns, c->waker_ns);
}

static bool published(struct ipcwait_calibration *c)
{
	/* ORD calibrate.A1: acquire, see calibrate.R1. Pairs with calibrate.R1. */
	uint32_t n = ipcwait_impl_load32_acquire(&results_count);
	uint64_t word[WORDS];

	if (n == 0)
		return false;
	for (unsigned i = 0; i < WORDS; i++) {
		/* ORD calibrate.X5: relaxed, protected by the count, or as said above. */
		word[i] = ipcwait_impl_load64_relaxed(&results[(n - 1) % 2][i]);
	}
	memcpy(c, word, sizeof(*c));
	return true;
}

/* What the caller's header does not know yet is 0, what ours does not know must be. */
static int read_params(struct ipcwait_calibrate_params *p,
		       const struct ipcwait_calibrate_params *given, size_t size)
{
	const char *bytes = (const char *)given;

	memset(p, 0, sizeof(*p));
	if (!given)
		return 0;
	memcpy(p, given, size < sizeof(*p) ? size : sizeof(*p));
	for (size_t i = sizeof(*p); i < size; i++)
		if (bytes[i])
			return -EINVAL;
	return p->reserved ? -EINVAL : 0;
}

/* Returns how many, or a negative errno. */
static int choose_pairs(const struct ipcwait_calibrate_params *p, struct iw_cpu_pair *pairs)
{
	struct iw_cpu_mask allowed;
	int n;

	iw_cpu_mask_of_thread(&allowed);
	if (p->cpu_a == p->cpu_b) {
		n = (int)iw_topology_pairs(&allowed, pairs);
		return n ? n : -EOPNOTSUPP;
	}
	if (!iw_cpu_mask_has(&allowed, p->cpu_a) || !iw_cpu_mask_has(&allowed, p->cpu_b))
		return -EINVAL;
	pairs[0] = (struct iw_cpu_pair){ p->cpu_a, p->cpu_b,
					 iw_topology_distance(p->cpu_a, p->cpu_b) };
	return 1;
}

static int calibrate(const struct ipcwait_calibrate_params *p,
		     struct ipcwait_calibration *c)
{
	const struct iw_facts *facts = iw_facts();
	struct iw_calibrating how = {
		.batches = p->thorough ? IW_BATCHES : 1,
		.progress = p->progress,
		.progress_arg = p->progress_arg,
	};
	int n = choose_pairs(p, how.pair);

	if (n < 0)
		return n;
	if (!facts)
		return -EAGAIN;
	how.pairs = (unsigned)n;
	how.rate = facts->rate;
	memset(c, 0, sizeof(*c));
	c->measured_at_s = iw_clock_wall_s();
	return iw_calibrate(&how, c);
}

static bool usable(const struct ipcwait_calibration *out, size_t size)
{
	return out && (uintptr_t)out % _Alignof(struct ipcwait_calibration) == 0 &&
	       size >= offsetof(struct ipcwait_calibration, measured_at_s);
}

static void hand_out(struct ipcwait_calibration *out, size_t size,
		     struct ipcwait_calibration *c)
{
	c->size = size < sizeof(*c) ? size : sizeof(*c);
	c->block_ns = iw_cost_combine_ns(c->latency_ns, c->waker_ns, IPCWAIT_ADAPTIVE);
	memcpy(out, c, c->size);
}

int ipcwait_impl_calibrate(const struct ipcwait_calibrate_params *params,
			   size_t params_size, struct ipcwait_calibration *out, size_t size)
{
	struct ipcwait_calibrate_params p;
	struct ipcwait_calibration c;
	int r = usable(out, size) ? read_params(&p, params, params_size) : -EINVAL;
	int saved_errno = errno, cancel;

	if (r)
		return r;
	if (!claim())
		return -EBUSY;
	/* The caller's function may be a cancellation point, and we have a claim. */
	cancel = iw_cancel_off();
	r = calibrate(&p, &c);
	if (!r) {
		publish(&c);
		hand_out(out, size, &c);
	}
	give_up_claim();
	iw_cancel_restore(cancel);
	errno = saved_errno;
	return r;
}

int ipcwait_impl_calibration_get(struct ipcwait_calibration *out, size_t size)
{
	const struct iw_facts *facts = iw_facts();
	struct ipcwait_calibration c;

	if (!usable(out, size))
		return -EINVAL;
	if (!facts)
		return -EAGAIN;
	if (!published(&c)) {
		memset(&c, 0, sizeof(c));
		if (facts->calibrated)
			c = facts->calibration;
		iw_cost_initial(facts, &c.latency_ns, &c.waker_ns);
	}
	hand_out(out, size, &c);
	return 0;
}

int ipcwait_calibration_save(const struct ipcwait_calibration *c)
{
	struct ipcwait_calibration own = { .size = 0 };

	if (!c || (uintptr_t)c % _Alignof(struct ipcwait_calibration) != 0)
		return -EINVAL;
	memcpy(&own, c, c->size < sizeof(own) ? c->size : sizeof(own));
	return iw_calibration_store(&own);
}

int ipcwait_calibration_path(char *path, size_t size)
{
	char found[IW_CONFIG_PATH_BYTES];
	size_t length;

	if (!path)
		return -EINVAL;
	if (!iw_calibration_path(found))
		return -ENOENT;
	length = strlen(found);
	if (length >= size)
		return -ENAMETOOLONG;
	memcpy(path, found, length + 1);
	return (int)length;
}
