/* SPDX-License-Identifier: MIT */
/* lib/os and the thread's data, as the layers above see them, over the checker. */
#include <errno.h>

#include "interleave/engine.h"
#include "interleave/memory.h"
#include "interleave/sched.h"
#include "os/calls.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/descriptor.h"
#include "os/descriptor_watch.h"
#include "os/futex.h"
#include "os/futex_waitv.h"
#include "os/life.h"
#include "os/membarrier.h"
#include "os/move.h"
#include "os/rseq.h"
#include "os/wake_latency.h"
#include "os/thread.h"

/* What a reading of the clock takes, in ns. */
#define READING_NS 25

_Thread_local struct iw_thread iw_thread IW_TLS_INITIAL_EXEC;

const struct iw_rseq_sequence iw_rseq_sequence;
ptrdiff_t iw_rseq_offset;

struct ipcwait_word32 iw_calls;

/* Nobody lives to see the end of an interruptible sleep, or of one without an alarm. */
static int64_t end_of(int64_t deadline_ns)
{
	return deadline_ns >= ENGINE_NEVER_NS ? INT64_MAX : deadline_ns;
}

int iw_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		  bool private_)
{
	return model_futex_wait(word, expected, end_of(deadline_ns), private_, UINT32_MAX);
}

int iw_futex_wake(const uint32_t *word, uint32_t count, bool private_)
{
	return model_futex_wake(word, count, private_, UINT32_MAX);
}

int iw_futex_wait_bits(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		       bool private_, uint32_t bits)
{
	return model_futex_wait(word, expected, end_of(deadline_ns), private_, bits);
}

int iw_futex_wake_bits(const uint32_t *word, uint32_t count, bool private_, uint32_t bits)
{
	return model_futex_wake(word, count, private_, bits);
}

bool model_lacks_waitv;

int iw_futex_waitv(const struct iw_waitv *words, unsigned n, int64_t deadline_ns)
{
	struct model_word list[MODEL_WORDS_MAX];

	if (model_lacks_waitv)
		return -ENOSYS;
	for (unsigned i = 0; i < n && i < MODEL_WORDS_MAX; i++)
		list[i] = (struct model_word){
			(const uint32_t *)(uintptr_t)words[i].address,
			(uint32_t)words[i].expected,
			words[i].flags & IW_WAITV_PRIVATE,
		};
	return model_futex_waitv(list, n, end_of(deadline_ns));
}

bool iw_membarrier_register(void)
{
	return true;
}

bool iw_membarrier(void)
{
	memory_fence_all();
	return true;
}

int64_t iw_clock_ns(void)
{
	(void)sched_clock_jumps();
	model_elapse(READING_NS);
	return model_now();
}

uint64_t iw_clock_common(uint64_t now_ns)
{
	return now_ns;
}

int64_t iw_clock_raw_ns(void)
{
	return iw_clock_ns();
}

int64_t iw_clock_boot_ns(void)
{
	return iw_clock_ns();
}

/* Births are of one namespace. */
#define NAMESPACE (IW_BIRTH_BEGAN + 1)

bool model_same_ids, model_id_again;

/* Who has got an id sees all that the thread has done which had it before. */
uint32_t iw_thread_id(void)
{
	if (!model_id_again)
		return model_thread() + 1;
	if (model_thread())
		view_join(sched_view(), sched_view_of(model_thread() - 1), true);
	return 1;
}

uint64_t iw_thread_name(void)
{
	if (model_same_ids)
		return 1 | (uint64_t)(model_thread() + 1) << IW_NAME_BITS;
	return iw_thread_id();
}

/* Of the only process that has copies of this memory. */
uint32_t iw_process_generation(void)
{
	return 1;
}

uint32_t iw_thread_birth(void)
{
	return NAMESPACE + model_thread() + 1;
}

bool iw_thread_has_birth(uint32_t birth)
{
	return birth == iw_thread_birth();
}

/* The birth of another thread is a false proof, as it is of the real kernel. */
enum iw_life iw_thread_life(uint32_t id, uint32_t birth)
{
	if (birth / NAMESPACE != 1)
		return IW_UNKNOWN;
	/* Who has it now is alive, and nobody asks but itself. */
	if (model_id_again)
		return birth & IW_BIRTH_BEGAN ? IW_DEAD : IW_UNKNOWN;
	if (model_dead(id - 1)) {
		/* The kernel says so when all that the thread has done is there to be seen. */
		view_join(sched_view(), sched_view_of(id - 1), true);
		return IW_DEAD;
	}
	if (!(birth & IW_BIRTH_BEGAN))
		return IW_UNKNOWN;
	return birth == NAMESPACE + id ? IW_ALIVE : IW_DEAD;
}

bool model_one_cpu;

unsigned iw_cpu_current(void)
{
	return model_one_cpu ? 0 : model_thread();
}

void iw_cpu_yield(void)
{
}

/* No scenario moves threads: where one runs changes no word of an object. */
bool iw_move_into_crowd(void)
{
	return true;
}

bool iw_moves_under_way(void)
{
	return false;
}

bool iw_move_away(void)
{
	return false;
}

bool iw_move_to(unsigned cpu)
{
	(void)cpu;
	return false;
}

struct iw_wake_latency iw_wake_latency_total(void)
{
	return (struct iw_wake_latency){ .requests = 0 };
}

/* No scenario has descriptors. */
int iw_fd_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
	(void)fds;
	(void)n;
	(void)timeout_ns;
	return 0;
}

bool iw_watch_begin(struct iw_watch *w)
{
	(void)w;
	return false;
}

bool iw_watch_again(struct iw_watch *w)
{
	(void)w;
	return false;
}

int iw_watch_add(struct iw_watch *w, int fd, uint32_t events, bool merge)
{
	(void)w;
	(void)fd;
	(void)events;
	(void)merge;
	return -EBADF;
}

void iw_watch_remove(struct iw_watch *w, int fd)
{
	(void)w;
	(void)fd;
}

void iw_watch_end(struct iw_watch *w)
{
	(void)w;
}
