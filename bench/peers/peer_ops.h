/* SPDX-License-Identifier: MIT */
/*
 * The operations of everybody outside libipcwait, for the tables of peers.c. Each stands in the
 * file of its name, and is there if its library is. docs/benchmarks/peers.md says what is used.
 */
#ifndef BENCH_PEER_OPS_H
#define BENCH_PEER_OPS_H

#include "cond_peer.h"
#include "lock_peer.h"
#include "sem_peer.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct sem_ops sem_abseil;
extern const struct sem_ops sem_ck;
extern const struct sem_ops sem_cxx20;
extern const struct sem_ops sem_moodycamel;
extern const struct sem_ops sem_nsync;
extern const struct sem_ops sem_tbb;

extern const struct lock_ops lock_abseil;
extern const struct lock_ops lock_ck_fas;
extern const struct lock_ops lock_ck_mcs;
extern const struct lock_ops lock_glibc;
extern const struct lock_ops lock_glibc_adaptive;
extern const struct lock_ops lock_glibc_queue;
extern const struct lock_ops lock_glibc_rwlock;
extern const struct lock_ops lock_glibc_sem;
extern const struct lock_ops lock_ipcwait;
extern const struct lock_ops lock_ipcwait_queue;
extern const struct lock_ops lock_ipcwait_rwlock;
extern const struct lock_ops lock_ipcwait_sem;
extern const struct lock_ops lock_nsync;
extern const struct lock_ops lock_tas;
extern const struct lock_ops lock_tbb;
extern const struct lock_ops lock_tbb_queuing;
extern const struct lock_ops lock_tbb_spin;

extern const struct rwlock_ops rwlock_glibc;
extern const struct rwlock_ops rwlock_ipcwait;

extern const struct cond_ops cond_abseil;
extern const struct cond_ops cond_glibc;
extern const struct cond_ops cond_ipcwait;
extern const struct cond_ops cond_nsync;

#ifdef __cplusplus
}
#endif

#endif
