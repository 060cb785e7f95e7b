/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/check.h"
#include "common/fake_os.h"
#include "env/facts.h"
#include "os/calls.h"
#include "os/clock.h"
#include "os/descriptor.h"
#include "os/descriptor_watch.h"
#include "os/file.h"
#include "os/futex.h"
#include "os/lines.h"
#include "os/move.h"
#include "os/rseq.h"
#include "os/thread.h"
#include "os/record_file.h"
#include "os/wake_latency.h"

_Thread_local struct iw_thread iw_thread IW_TLS_INITIAL_EXEC;

const struct iw_rseq_sequence iw_rseq_sequence;
ptrdiff_t iw_rseq_offset;

struct ipcwait_word32 iw_calls;

/* What is asked for after fake_reset() is asked of this. */
struct fake_os fake = { .allowed = { .count = 2 } };

void fake_reset(void)
{
	memset(&iw_thread, 0, sizeof(iw_thread));
	memset(&fake, 0, sizeof(fake));
	fake.now_ns = 1000000000;
	fake.step_ns = 100;
	fake.allowed = (struct iw_cpu_set){ .count = 2, .first = 0 };
	fake.woken = INT_MAX;
	fake.id = FAKE_ID;
	fake.birth = FAKE_BIRTH;
	iw_rseq_offset = 0;
	iw_facts_forget();
}

void fake_rseq(void)
{
	iw_rseq_offset = (ptrdiff_t)((uintptr_t)&fake.rseq_field -
				     (uintptr_t)iw_arch_thread_pointer());
}

char *fake_thread_pointer(void)
{
	return (char *)&fake;
}

void fake_script(const struct fake_step *steps, unsigned n)
{
	fake.script = steps;
	fake.steps = n;
	fake.waits = 0;
}

static int next_step(void)
{
	const struct fake_step *step;

	CHECK(fake.waits < fake.steps);
	step = &fake.script[fake.waits++];
	fake.now_ns += step->sleep_ns;
	if (step->meanwhile)
		step->meanwhile();
	fake.now_ns += step->late_ns;
	return step->result;
}

int iw_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		  bool private_)
{
	return iw_futex_wait_bits(word, expected, deadline_ns, private_, UINT32_MAX);
}

int iw_futex_wait_bits(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		       bool private_, uint32_t bits)
{
	CHECK(deadline_ns >= 0);
	fake.wait = (struct fake_call){ word, expected, deadline_ns, private_, bits };
	if (fake.on_wait)
		return fake.on_wait(&fake.wait);
	/* Nothing ran since the waiter published itself, so it must have told the truth. */
	CHECK_EQ(*word, expected);
	return next_step();
}

int iw_futex_waitv(const struct iw_waitv *words, unsigned n, int64_t deadline_ns)
{
	CHECK(deadline_ns >= 0);
	CHECK(n > 1 && n <= IW_WAITV_MAX);
	fake.vectors++;
	fake.vector.n = n;
	fake.vector.deadline_ns = deadline_ns;
	memcpy(fake.vector.words, words, n * sizeof(*words));
	if (fake.vector_error)
		return fake.vector_error;
	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(*(const uint32_t *)(uintptr_t)words[i].address, words[i].expected);
	return next_step();
}

int iw_futex_wake(const uint32_t *word, uint32_t count, bool private_)
{
	return iw_futex_wake_bits(word, count, private_, UINT32_MAX);
}

int iw_futex_wake_bits(const uint32_t *word, uint32_t count, bool private_, uint32_t bits)
{
	fake.wakes++;
	fake.wake = (struct fake_call){ word, count, 0, private_, bits };
	if (fake.on_wake)
		fake.on_wake();
	return fake.woken < 0 || count > (uint32_t)fake.woken ? fake.woken : (int)count;
}

int64_t iw_clock_ns(void)
{
	fake.clock_readings++;
	fake.now_ns += fake.step_ns;
	if (fake.on_clock)
		fake.on_clock();
	return fake.now_ns;
}

uint64_t iw_clock_common(uint64_t now_ns)
{
	return now_ns - (uint64_t)fake.clock_ahead_ns;
}

void iw_clock_find_ahead(void)
{
}

int64_t iw_clock_raw_ns(void)
{
	return fake.now_ns += 1000;
}

int64_t iw_clock_boot_ns(void)
{
	return fake.now_ns + fake.suspended_ns;
}

bool iw_clock_counter_trusted(void)
{
	return fake.counter_trusted;
}

struct iw_cpu_set iw_cpu_allowed(bool main_thread)
{
	fake.mask_readings++;
	return main_thread && fake.main_allowed.count ? fake.main_allowed : fake.allowed;
}

bool iw_cpu_can_monitor(void)
{
	return false;
}

unsigned iw_cpu_current(void)
{
	return fake.cpu;
}

bool iw_move_into_crowd(void)
{
	return fake.crowded;
}

bool iw_move_to(unsigned cpu)
{
	fake.moves++;
	if (fake.pinned)
		return false;
	fake.cpu = cpu;
	return true;
}

bool iw_move_away(void)
{
	return iw_move_to(!fake.cpu);
}

void iw_cpu_yield(void)
{
	fake.yields++;
	if (fake.on_yield)
		fake.on_yield();
}

uint32_t iw_thread_id(void)
{
	return fake.id;
}

uint64_t iw_thread_name(void)
{
	return fake.id | (uint64_t)fake.process << IW_NAME_BITS;
}

uint32_t iw_thread_birth(void)
{
	return fake.birth;
}

uint32_t iw_process_generation(void)
{
	return fake.generation;
}

bool iw_thread_has_birth(uint32_t birth)
{
	return birth == fake.birth || (fake.drawn && birth == fake.drawn);
}

enum iw_life iw_thread_life(uint32_t id, uint32_t birth)
{
	fake.life_readings++;
	if (fake.on_life)
		return fake.on_life(id, birth);
	return id == fake.id && birth == fake.birth ? IW_ALIVE : fake.life;
}

bool iw_file_exists(const char *path)
{
	(void)path;
	return false;
}

/* As the real one. */
bool iw_file_join(char *path, size_t size, const char *head, const char *tail)
{
	bool fits = strlen(head) + strlen(tail) < size;

	path[0] = '\0';
	if (fits)
		strcat(strcpy(path, head), tail);
	return fits;
}

int iw_file_read(const char *path, char *text, size_t size)
{
	(void)path;
	CHECK(size > 0);
	fake.file_readings++;
	text[0] = '\0';
	return -ENOENT;
}

/* A container's kernel: no such device. */
int iw_wake_latency_begin(void)
{
	return -ENOENT;
}

int iw_wake_latency_end(void)
{
	return -EINVAL;
}

struct iw_wake_latency iw_wake_latency_total(void)
{
	return (struct iw_wake_latency){ .requests = 0 };
}

bool iw_lines_open(struct iw_lines *l, const char *path, size_t bytes_most)
{
	(void)l;
	(void)path;
	(void)bytes_most;
	fake.file_readings++;
	return false;
}

char *iw_lines_next(struct iw_lines *l)
{
	(void)l;
	return NULL;
}

void iw_lines_close(struct iw_lines *l)
{
	(void)l;
}

void iw_file_complain(const char *text, size_t size)
{
	(void)text;
	(void)size;
}

int iw_record_file_open(struct iw_record_file *f, const char *path, size_t bytes)
{
	(void)f;
	(void)path;
	(void)bytes;
	return -ENOSPC;
}

void *iw_record_file_map(const struct iw_record_file *f, size_t bytes)
{
	(void)f;
	(void)bytes;
	return NULL;
}

void iw_record_file_unmap(void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
}

void iw_record_file_release(struct iw_record_file *f)
{
	(void)f;
}

void iw_record_file_abandon(struct iw_record_file *f)
{
	(void)f;
}

int iw_record_file_open_again(struct iw_record_file *f)
{
	(void)f;
	return -ESTALE;
}

int iw_record_file_extend(const struct iw_record_file *f, uint64_t at, size_t bytes)
{
	(void)f;
	(void)at;
	(void)bytes;
	return -ENOSPC;
}

const char *iw_record_file_error(int error)
{
	(void)error;
	return "no room";
}

/* Nothing is ever there; what waits for descriptors is tested over the real kernel. */
bool iw_fd_nonblocking(int fd)
{
	(void)fd;
	return false;
}

bool iw_fd_readable(int fd)
{
	(void)fd;
	return false;
}

ssize_t iw_fd_read(int fd, void *buffer, size_t bytes)
{
	(void)fd;
	(void)buffer;
	(void)bytes;
	return -EBADF;
}

ssize_t iw_fd_read_now(int fd, void *buffer, size_t bytes)
{
	return iw_fd_read(fd, buffer, bytes);
}

ssize_t iw_fd_recv(int fd, void *buffer, size_t bytes, int flags)
{
	(void)flags;
	return iw_fd_read(fd, buffer, bytes);
}

int iw_fd_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
	(void)fds;
	(void)n;
	fake.now_ns += timeout_ns;
	return 0;
}

int iw_fd_epoll_wait(int fd, struct epoll_event *events, int most, int64_t timeout_ns)
{
	(void)events;
	(void)most;
	(void)timeout_ns;
	return (int)iw_fd_read(fd, NULL, 0);
}

/* Nor is anything ever watched. */
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
