/* SPDX-License-Identifier: MIT */
/*
 * What a new object starts from: the waits at the call site that waits for it, else those of its
 * kind. Most objects of real programs are young (a future, a reply, a request's latch), and where
 * a wait happens says more about it than that nothing is known.
 *
 * The table is fixed, lossy and without locks: a site that finds its place taken takes it over,
 * and two threads that record at once may lose one wait. Either makes a window that fits less
 * well, for a wait or two.
 *
 * site[]   bits 0-39   lengths of the waits there, lib/policy/histogram.h
 *          bits 40-63  which site it is, of those that share the place; all zero: nobody yet
 * kind[]   bits 0-39   lengths of the waits on the kind
 */
#ifndef IW_POLICY_SITES_H
#define IW_POLICY_SITES_H

#include <stdint.h>

#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>
#include <ipcwait/stats.h>

#define IW_SITES 512u

struct iw_sites {
	struct ipcwait_word64 site[IW_SITES];
	struct ipcwait_word64 kind[IPCWAIT_KIND_COUNT];
};

/* What call sites and kinds have taught this process. */
extern struct iw_sites iw_sites;

/* Somewhere in the program, and what it waits for there. */
struct iw_site {
	uintptr_t address; /* where the slow path returns to; 0: not known */
	enum ipcwait_kind kind;
};

/* The histogram that an object waited for at @site starts from. */
uint64_t iw_sites_before(const struct iw_sites *t, struct iw_site site);

/* Of a known object's waits one in so many is recorded: a site whose waits change is noticed. */
#define IW_SITES_ONE_IN 16u

/* A wait on an object at @site lasted as long as @bin says. */
void iw_sites_record(struct iw_sites *t, struct iw_site site, unsigned bin);

/* For people: the histogram of the site alone, 0 if there is none. */
uint64_t iw_sites_of(const struct iw_sites *t, struct iw_site site);

#endif
