/* SPDX-License-Identifier: MIT */
/* Each public call that takes a semaphore, as an input chooses it. */
#ifndef TESTS_FUZZ_SEM_CALLS_H
#define TESTS_FUZZ_SEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/ipcwait.h>

#include "fuzz/input.h"

enum sem_call_kind {
	TRYWAIT,
	WAIT,
	WAIT_UNTIL,
	POST,
	POST_N,
	VALUE,
	INIT,
	FINI,
	SET_PRESET,
	STAMP,
	EXPLAIN,
	FUTEX_WAIT,
	FUTEX_WAKE,
	SEM_CALL_KINDS,
};

struct sem_call {
	enum sem_call_kind kind;
	uint32_t n;          /* tokens, value, preset, expected word or count */
	unsigned flags;      /* of init and the futex */
	bool with_window;    /* of the futex wait */
	int64_t deadline_ns; /* IPCWAIT_FOREVER where there is none */
	int result;
};

/* The next bytes as a call at @now_ns. */
void sem_call_take(struct sem_call *c, struct input *in, int64_t now_ns);

/* Make it; for those that wait, under kernel.h. Its result is one that the headers list. */
void sem_call_make(struct sem_call *c, struct ipcwait_sem *s);

#endif
