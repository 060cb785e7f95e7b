/* SPDX-License-Identifier: MIT */
/*
 * Two threads that hand work back and forth by sleeping end up on one CPU: the kernel puts a
 * woken thread next to its waker, all the more in a guest, where an idle vCPU has halted, counts
 * as preempted (vcpu_is_preempted() in available_idle_cpu(), kernel/sched) and is not chosen.
 * There no spin can succeed, so both sleep, and stay.
 *
 * What parts them is the load balancer, and it only sees threads that are runnable at the
 * same time. So now and then all that find themselves beside their waker spin for longer than
 * any window, until a common moment.
 */
#ifndef IW_POLICY_PLACE_H
#define IW_POLICY_PLACE_H

#include <stdint.h>

#include "env/facts.h"
#include "os/thread.h"

/*
 * The thread is beside its waker, at @now in ticks. Returns for how many ticks to spin all the
 * same; 0: not at all.
 */
uint64_t iw_place_beside(const struct iw_facts *facts, struct iw_beside *b, uint64_t now);

/* The waker runs on another CPU. */
void iw_place_apart(struct iw_beside *b);

#endif
