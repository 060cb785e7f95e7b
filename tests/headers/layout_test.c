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

static_assert(sizeof(struct ipcwait_sem) == 32, "sem, no larger than glibc's sem_t");
static_assert(alignof(struct ipcwait_sem) == 8, "sem");
static_assert(offsetof(struct ipcwait_sem, word) == 0,
	      "sem.word: the futex is its low half");
static_assert(offsetof(struct ipcwait_sem, flags) == 8, "sem.flags");
static_assert(offsetof(struct ipcwait_sem, reserved) == 12, "sem.reserved");
static_assert(offsetof(struct ipcwait_sem, window) == 16, "sem.window");

static_assert(sizeof(struct ipcwait_kind_stats) == 104, "kind_stats");
static_assert(offsetof(struct ipcwait_stats, kind) == 32, "stats.kind");
static_assert(offsetof(struct ipcwait_stats, reasons) == 32 + 104 * IPCWAIT_KIND_SPACE,
	      "stats.reasons");
static_assert(sizeof(struct ipcwait_stats) == 32 + 104 * IPCWAIT_KIND_SPACE + 256, "stats");

static_assert(IPCWAIT_FOREVER == INT64_MAX, "callers without our headers pass INT64_MAX");
static_assert(IPCWAIT_PRIVATE == 1, "flag");

static const struct ipcwait_sem empty = IPCWAIT_SEM_INIT(0);
static const struct ipcwait_sem seven = IPCWAIT_SEM_INIT(7);
static struct ipcwait_sem zero;

int main(void)
{
	/* All-zero is the empty semaphore, and tokens are the upper half of the word. */
	return memcmp(&empty, &zero, sizeof(zero)) != 0 || seven.word.v != UINT64_C(7)
										   << 32;
}
