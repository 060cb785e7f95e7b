/* SPDX-License-Identifier: MIT */
#include "os/seam.h"
#include "policy/ablation.h"
#include "policy/hash.h"
#include "policy/histogram.h"
#include "policy/sites.h"

#define PLACE_SHIFT 20

struct iw_sites iw_sites __attribute__((aligned(IW_ARCH_LINE_BYTES)));

static unsigned place_of(uint64_t hash)
{
	return (unsigned)(hash >> PLACE_SHIFT) % IW_SITES;
}

/* Never 0, which marks a free place. */
static uint64_t name_of(uint64_t hash)
{
	return (hash & ~IW_HISTOGRAM_MASK) | UINT64_C(1) << IW_HISTOGRAM_BITS;
}

uint64_t iw_sites_of(const struct iw_sites *t, struct iw_site site)
{
	uint64_t hash = iw_hash(site.address);
	/* ORD sites.X1: relaxed, statistic: name and histogram are one word. */
	uint64_t found = ipcwait_impl_load64_relaxed(&t->site[place_of(hash)]);

	if (!site.address || (found & ~IW_HISTOGRAM_MASK) != name_of(hash))
		return 0;
	return found & IW_HISTOGRAM_MASK;
}

/* Of a site with few waits its kind is asked instead. */
uint64_t iw_sites_before(const struct iw_sites *t, struct iw_site site)
{
	uint64_t bins = iw_sites_of(t, site);

	if (iw_without(IW_SITES_ASKED))
		return 0;
	if (iw_histogram_total(bins) >= IW_FEW_WAITS)
		return bins;
	/* ORD sites.X2: relaxed, statistic. */
	return ipcwait_impl_load64_relaxed(&t->kind[site.kind]);
}

void iw_sites_record(struct iw_sites *t, struct iw_site site, unsigned bin)
{
	uint64_t hash = iw_hash(site.address);
	struct ipcwait_word64 *place = &t->site[place_of(hash)],
			      *kind = &t->kind[site.kind];
	uint64_t bins = iw_sites_of(t, site);

	/* ORD sites.X3: relaxed, statistic: of two that record at once one is lost. */
	if (site.address)
		ipcwait_impl_store64_relaxed(place, name_of(hash) |
							    iw_histogram_add(bins, bin, 1));
	/* ORD sites.X4: relaxed, statistic as sites.X3. */
	bins = ipcwait_impl_load64_relaxed(kind);
	ipcwait_impl_store64_relaxed(kind, iw_histogram_add(bins, bin, 1));
}
