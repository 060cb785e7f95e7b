/* SPDX-License-Identifier: MIT */
#include "env/cpus.h"
#include "os/seam.h"
#include "policy/licence.h"

#define MOST 64

/* In ns. Twice the longest spin that IPCWAIT_MAX_SPIN_US can ask for. */
#define EXPIRES_NS UINT64_C(200000000)

/* When it was taken, in ticks; 0: free. */
static struct licence {
	struct ipcwait_word64 taken_at;
} __attribute__((aligned(IW_ARCH_LINE_BYTES))) licences[MOST];

/* Another thread may have read the time a little after @now. */
static bool is_free(uint64_t taken_at, uint64_t now, uint64_t expires)
{
	return !taken_at || now - taken_at + expires > 2 * expires;
}

uint32_t iw_licence_take(const struct iw_facts *facts, uint64_t now)
{
	uint64_t expires = iw_tick_from_ns(&facts->rate, EXPIRES_NS);
	uint32_t n = iw_cpus_spinners();

	for (uint32_t i = 0; i < n && i < MOST; i++) {
		/* ORD licence.X1: relaxed, re-checked by the CAS; guards no data. */
		uint64_t taken_at = ipcwait_impl_load64_relaxed(&licences[i].taken_at);

		/* ORD licence.X3: relaxed, no order needed: guards no data. */
		if (is_free(taken_at, now, expires) &&
		    ipcwait_impl_cas64_relaxed(&licences[i].taken_at, &taken_at, now | 1))
			return i + 1;
	}
	/* Beyond MOST other spinners there are that many CPUs. */
	return n > MOST ? MOST + 1 : 0;
}

void iw_licence_return(uint32_t licence)
{
	/* ORD licence.X2: relaxed, hint: a licence seen late costs one spin. */
	if (licence && licence <= MOST)
		ipcwait_impl_store64_relaxed(&licences[licence - 1].taken_at, 0);
}
