/* SPDX-License-Identifier: MIT */
/* What the files queue_*.c and queue_*.cc define. Which of them are built is up to meson. */
#ifndef SEED_QUEUE_PEERS_H
#define SEED_QUEUE_PEERS_H

#include "queue_peer.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct queue_peer queue_ipcwait;
extern const struct queue_peer queue_ipcwait_mpsc;
extern const struct queue_peer queue_seed_list;
extern const struct queue_peer queue_seed_cache;
extern const struct queue_peer queue_urcu_wfcq;
extern const struct queue_peer queue_urcu_lfq;
extern const struct queue_peer queue_boost;
extern const struct queue_peer queue_boost_spsc;
extern const struct queue_peer queue_moodycamel;
extern const struct queue_peer queue_moodycamel_spsc;
extern const struct queue_peer queue_ck_ring;
extern const struct queue_peer queue_ck_fifo;
extern const struct queue_peer queue_tbb;
extern const struct queue_peer queue_ipcwait_spsc;
extern const struct queue_peer queue_ipcwait_spsc_unbounded;

#ifdef __cplusplus
}
#endif

#endif
