/* SPDX-License-Identifier: MIT */
/*
 * The layout that processes share, and that inline functions bake into their callers.
 * A line that has to change here changes the ABI: raise the soname. Also compiled as C++.
 */
#include <assert.h>
#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include <ipcwait/ipcwait.h>
#include <ipcwait/ipcwait.h>

static_assert(sizeof(struct ipcwait_word32) == 4, "word32");
static_assert(sizeof(struct ipcwait_word64) == 8, "word64");
static_assert(alignof(struct ipcwait_word64) == 8, "word64, also where uint64_t has 4");

static_assert(sizeof(struct ipcwait_window) == 16, "window");
static_assert(alignof(struct ipcwait_window) == 8, "window");
static_assert(offsetof(struct ipcwait_window, bins) == 0, "window.bins");
static_assert(offsetof(struct ipcwait_window, stamp) == 8, "window.stamp");
static_assert(offsetof(struct ipcwait_window, state) == 12, "window.state");

static_assert(sizeof(struct ipcwait_region) == 64, "region");
static_assert(alignof(struct ipcwait_region) == 8, "region");
static_assert(offsetof(struct ipcwait_region, stamp) == 0, "region.stamp");

static_assert(sizeof(struct ipcwait_sem) == 32, "sem, no larger than glibc's sem_t");
static_assert(alignof(struct ipcwait_sem) == 8, "sem");
static_assert(offsetof(struct ipcwait_sem, word) == 0,
	      "sem.word: the futex is its low half");
static_assert(offsetof(struct ipcwait_sem, flags) == 8, "sem.flags");
static_assert(offsetof(struct ipcwait_sem, reserved) == 12, "sem.reserved");
static_assert(offsetof(struct ipcwait_sem, window) == 16, "sem.window");

static_assert(sizeof(struct ipcwait_barrier) == 32, "barrier");
static_assert(alignof(struct ipcwait_barrier) == 8, "barrier");
static_assert(offsetof(struct ipcwait_barrier, word) == 0,
	      "barrier.word: the futex is its low half");
static_assert(offsetof(struct ipcwait_barrier, parties) == 8, "barrier.parties");
static_assert(offsetof(struct ipcwait_barrier, flags) == 10, "barrier.flags");
static_assert(offsetof(struct ipcwait_barrier, reserved) == 12, "barrier.reserved");
static_assert(offsetof(struct ipcwait_barrier, window) == 16, "barrier.window");

static_assert(sizeof(struct ipcwait_event) == 32, "event");
static_assert(alignof(struct ipcwait_event) == 8, "event");
static_assert(offsetof(struct ipcwait_event, word) == 0,
	      "event.word: the futex is its low half");
static_assert(offsetof(struct ipcwait_event, flags) == 8, "event.flags");
static_assert(offsetof(struct ipcwait_event, reserved) == 12, "event.reserved");
static_assert(offsetof(struct ipcwait_event, window) == 16, "event.window");

static_assert(sizeof(struct ipcwait_eventcount) == 32, "eventcount");
static_assert(alignof(struct ipcwait_eventcount) == 8, "eventcount");
static_assert(offsetof(struct ipcwait_eventcount, word) == 0,
	      "eventcount.word: the futex is its low half");
static_assert(offsetof(struct ipcwait_eventcount, flags) == 8, "eventcount.flags");
static_assert(offsetof(struct ipcwait_eventcount, reserved) == 12, "eventcount.reserved");
static_assert(offsetof(struct ipcwait_eventcount, window) == 16, "eventcount.window");

static_assert(sizeof(struct ipcwait_latch) == 32, "latch");
static_assert(alignof(struct ipcwait_latch) == 8, "latch");
static_assert(offsetof(struct ipcwait_latch, word) == 0,
	      "latch.word: the futex is its low half");
static_assert(offsetof(struct ipcwait_latch, flags) == 8, "latch.flags");
static_assert(offsetof(struct ipcwait_latch, reserved) == 12, "latch.reserved");
static_assert(offsetof(struct ipcwait_latch, window) == 16, "latch.window");

static_assert(sizeof(struct ipcwait_once) == 32, "once");
static_assert(alignof(struct ipcwait_once) == 8, "once");
static_assert(offsetof(struct ipcwait_once, word) == 0,
	      "once.word: the futex is its low half");
static_assert(offsetof(struct ipcwait_once, flags) == 8, "once.flags");
static_assert(offsetof(struct ipcwait_once, reserved) == 12, "once.reserved");
static_assert(offsetof(struct ipcwait_once, window) == 16, "once.window");

static_assert(sizeof(struct ipcwait_rwlock) == 32, "rwlock");
static_assert(alignof(struct ipcwait_rwlock) == 8, "rwlock");
static_assert(offsetof(struct ipcwait_rwlock, word) == 0,
	      "rwlock.word: the futex is its low half");
static_assert(offsetof(struct ipcwait_rwlock, flags) == 8, "rwlock.flags");
static_assert(offsetof(struct ipcwait_rwlock, note) == 12, "rwlock.note");
static_assert(offsetof(struct ipcwait_rwlock, window) == 16, "rwlock.window");

static_assert(sizeof(struct ipcwait_cond) == 48, "cond, no larger than glibc's");
static_assert(alignof(struct ipcwait_cond) == 8, "cond");
static_assert(offsetof(struct ipcwait_cond, word) == 0,
	      "cond.word: the futex is its low half");
static_assert(offsetof(struct ipcwait_cond, arrivals) == 8, "cond.arrivals");
static_assert(offsetof(struct ipcwait_cond, window) == 16, "cond.window");
static_assert(offsetof(struct ipcwait_cond, out) == 32, "cond.out");
static_assert(offsetof(struct ipcwait_cond, unused) == 36, "cond.unused");
static_assert(offsetof(struct ipcwait_cond, flags) == 40, "cond.flags");

static_assert(sizeof(struct ipcwait_kind_stats) == 104, "kind_stats");
static_assert(offsetof(struct ipcwait_policy, max_spin_us) == 4, "policy.max_spin_us");
static_assert(offsetof(struct ipcwait_policy, reserved) == 8, "policy.reserved");
static_assert(offsetof(struct ipcwait_policy, place) == 20, "policy.place");
static_assert(sizeof(struct ipcwait_policy) == 24, "policy");

static_assert(offsetof(struct ipcwait_stats, kind) == 32, "stats.kind");
static_assert(offsetof(struct ipcwait_stats, reasons) == 32 + 104 * IPCWAIT_KIND_SPACE,
	      "stats.reasons");
static_assert(offsetof(struct ipcwait_stats, awake_requests) ==
		      32 + 104 * IPCWAIT_KIND_SPACE + 256,
	      "stats.awake_requests");
static_assert(offsetof(struct ipcwait_stats, moves_apart) ==
		      32 + 104 * IPCWAIT_KIND_SPACE + 272,
	      "stats.moves_apart");
static_assert(offsetof(struct ipcwait_stats, moves_kept) ==
		      32 + 104 * IPCWAIT_KIND_SPACE + 288,
	      "stats.moves_kept");
static_assert(sizeof(struct ipcwait_stats) == 32 + 104 * IPCWAIT_KIND_SPACE + 304, "stats");

static_assert(sizeof(struct ipcwait_futex_waiter) == 16, "futex_waiter");
static_assert(offsetof(struct ipcwait_futex_waiter, flags) == 12, "futex_waiter.flags");
static_assert(sizeof(struct ipcwait_waitable) == 24, "waitable");
static_assert(offsetof(struct ipcwait_waitable, object) == 8, "waitable.object");
static_assert(offsetof(struct ipcwait_waitable, expected) == 16, "waitable.expected");

static_assert(IPCWAIT_FOREVER == INT64_MAX, "callers without our headers pass INT64_MAX");
static_assert(IPCWAIT_PRIVATE == 1, "flag");
static_assert(IPCWAIT_AUTO_RESET == 0x100, "flag");

static const struct ipcwait_sem empty = IPCWAIT_SEM_INIT(0);
static const struct ipcwait_sem seven = IPCWAIT_SEM_INIT(7);
static struct ipcwait_sem zero;

int main(void)
{
	/* All-zero is the empty semaphore, and tokens are the upper half of the word. */
	return memcmp(&empty, &zero, sizeof(zero)) != 0 || seven.word.v != UINT64_C(7)
										   << 32;
}
