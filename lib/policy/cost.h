/* SPDX-License-Identifier: MIT */
/*
 * B, what one block/wake pair costs: the wake latency that the sleeper sees plus what the
 * waker pays for the system call. Learned from every real wake of this process; until there
 * were enough, what a calibration has measured, or else a table value.
 */
#ifndef IW_POLICY_COST_H
#define IW_POLICY_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "env/facts.h"
#include "policy/rhythm.h"

/* A sleeper ran @ns after its waker had begun to wake it. */
void iw_cost_note_latency(uint64_t ns);

/* A wake that found a sleeper took the waker @ns. Async-signal-safe. */
void iw_cost_note_waker(uint64_t ns);

/* A sleep that a timer ended ran on @ns after its deadline. */
void iw_cost_note_timer(uint64_t ns);

/*
 * True if it is time to sleep once where spinning would do, at @now in ticks: without sleeps
 * nothing is learned about what a sleep costs, and that may have changed.
 */
bool iw_cost_probe_due(const struct iw_facts *facts, uint64_t now);

/* B in ns for one preset: latency counts four times for LATENCY, a quarter for POWER. */
uint64_t iw_cost_block_ns(const struct iw_facts *facts, enum ipcwait_preset preset);

/* The usual wake latency alone. */
uint64_t iw_cost_latency_ns(const struct iw_facts *facts);

/* What seven of eight wakes take at most: for who waits for a thread that was just woken. */
uint64_t iw_cost_lateness_ns(const struct iw_facts *facts);

/* What a wake takes of its waker's CPU time: the other part of B. */
uint64_t iw_cost_waker_ns(const struct iw_facts *facts);

/* What a sleep that a timer ends costs. */
struct iw_timer_cost iw_cost_timer(const struct iw_facts *facts);

/* The two parts of B until something is learned: calibrated here, saved, or from a table. */
void iw_cost_initial(const struct iw_facts *facts, uint64_t *latency_ns,
		     uint64_t *waker_ns);

/* A calibration in this process has measured these. */
void iw_cost_calibrated(uint64_t latency_ns, uint64_t waker_ns);

/* B from its parts: the latency, and what the waker paid. */
uint64_t iw_cost_combine_ns(uint64_t latency_ns, uint64_t paid_ns,
			    enum ipcwait_preset preset);

/* For people: where B comes from. */
enum iw_cost_source {
	IW_COST_TABLE,
	IW_COST_CALIBRATED,
	IW_COST_PARTLY_LEARNED,
	IW_COST_LEARNED
};
enum iw_cost_source iw_cost_source(const struct iw_facts *facts);

/* Number of latencies learned from. */
uint64_t iw_cost_samples(void);

#endif
