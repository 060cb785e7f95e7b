/* SPDX-License-Identifier: MIT */
/*
 * Everybody who is compared, by kind. Who is not there has a name and a reason: the tables of
 * results show it in its place.
 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "cond_peer.h"
#include "lock_peer.h"
#include "sem_peer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sem_peer {
	const char *name;          /* of the dimension "impl" */
	const struct sem_ops *ops; /* NULL: see @missing */
	const char *missing; /* "not built: libnsync-dev", "not yet in libipcwait: ..." */
	const char *one_waiter; /* NULL, or why no two threads may wait at once */
};

struct lock_peer {
	const char *name;
	const struct lock_ops *ops;
	const char *missing;
};

struct rwlock_peer {
	const char *name;
	const struct rwlock_ops *ops;
};

struct cond_peer {
	const char *name;
	const struct cond_ops *ops;
	const char *missing;
};

/*
 * Each ends with a name that is NULL. libipcwait comes first, then glibc, then "glibc-again": the
 * same once more, so that it can be seen what the noise makes of no difference. Queues and
 * channels are listed in bench/seed, and there nobody is twice.
 */
extern const struct sem_peer sem_peers[];
extern const struct lock_peer lock_peers[];
extern const struct rwlock_peer rwlock_peers[];
extern const struct cond_peer cond_peers[];

/* Tokens as locks (lock_token.c), libipcwait's before glibc's of the same kind. */
extern const struct lock_peer token_peers[];

#ifdef __cplusplus
}
#endif

#endif
