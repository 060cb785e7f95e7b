/* SPDX-License-Identifier: MIT */
/*
 * Waits and wakes on bare words, on the kernel itself and step by step against what
 * <ipcwait/futex.h> says: words that are there, misaligned, unmapped or NULL, windows that
 * are any bytes, misaligned or NULL, any flags, deadlines that are past or a few us ahead.
 * Nobody else runs, so whatever is slept on expires. Two semaphores wait beside them.
 */
#include <errno.h>
#include <sys/mman.h>

#include <ipcwait/ipcwait.h>

#include "common/fuzz.h"
#include "common/sem_word.h"
#include "fuzz/input.h"

#define CALLS_MOST 32
#define WORDS      4

/* Longest wait, in ns: each costs a sleep besides. */
#define AHEAD_MOST_NS 32768

#define SECOND_NS INT64_C(1000000000)

/* Misaligned by 1 to 3 for a word, by 1 to 7 for a window. */
static struct {
	_Alignas(8) uint32_t words[WORDS];
	struct ipcwait_window windows[3];
	struct ipcwait_sem sems[2];
} memory;

static uint32_t *unmapped;

struct place {
	uint32_t *word;
	bool valid, mapped;
};

static struct place take_place(struct input *in)
{
	uint8_t how = take_8(in);
	uint32_t *word = &memory.words[how >> 3 & 3];

	switch (how % 8) {
	case 0:
		return (struct place){ NULL, false, false };
	case 1:
		return (struct place){ (uint32_t *)((uintptr_t)word + 1 + (how >> 5) % 3),
				       false, true };
	case 2:
		return (struct place){ unmapped, true, false };
	default:
		return (struct place){ word, true, true };
	}
}

static struct ipcwait_window *take_window(struct input *in)
{
	uint8_t how = take_8(in);
	uintptr_t window = (uintptr_t)&memory.windows[how >> 3 & 1];

	if (how % 4 == 0)
		return NULL;
	return (struct ipcwait_window *)(how % 4 == 1 ? window + 1 + (how >> 5) % 7
						      : window);
}

static unsigned take_flags(struct input *in)
{
	uint8_t how = take_8(in);

	return how & 128 ? take_32(in) : how & IPCWAIT_PRIVATE;
}

/* One in eight that is ahead; any, INT64_MAX included, where the call may not wait. */
static int64_t take_near_deadline(struct input *in, bool may_wait)
{
	uint8_t how = take_8(in);

	if (how % 8 == 0)
		return ipcwait_deadline_in_ns(take_16(in) % AHEAD_MOST_NS);
	if (how % 4 == 1 && !may_wait)
		return take_deadline(in, ipcwait_now_ns());
	return how % 4 == 2 ? (int64_t)take_64(in) | INT64_MIN : take_16(in);
}

/* Signals of the fuzzer itself may interrupt a sleep. */
static bool interrupted(int r, bool slept)
{
	return slept && r == -EINTR;
}

static void check_wait(struct input *in)
{
	struct place p = take_place(in);
	struct ipcwait_window *w = take_window(in);
	unsigned flags = take_flags(in);
	uint8_t differs = take_8(in) % 4;
	bool legal = p.valid && flags <= (IPCWAIT_PRIVATE | IPCWAIT_INTERRUPTIBLE) &&
		     (uintptr_t)w % 8 == 0;
	bool may_wait = legal && p.mapped && !differs;
	int64_t deadline_ns = take_near_deadline(in, may_wait);
	int64_t now_ns = ipcwait_now_ns();
	bool ahead = deadline_ns > now_ns;
	uint32_t expected = differs;
	int r, want;

	/* Only the kernel may read a word that is not there. */
	if (legal && !p.mapped && (w || deadline_ns < now_ns + SECOND_NS))
		return;
	if (legal && p.mapped)
		expected += *p.word;
	r = ipcwait_futex_wait(p.word, expected, deadline_ns, w, flags);
	want = !legal ? -EINVAL : !p.mapped ? -EFAULT : differs ? -EAGAIN : -ETIMEDOUT;
	FUZZ_CHECK(r == want || interrupted(r, may_wait && ahead));
	if (r == -ETIMEDOUT)
		FUZZ_CHECK(ipcwait_now_ns() >= deadline_ns);
}

/* Nobody sleeps. A private wake looks at no memory. */
static void check_wake(struct input *in)
{
	struct place p = take_place(in);
	unsigned flags = take_flags(in);
	uint32_t count = take_32(in) >> take_8(in) % 32;
	int r = ipcwait_futex_wake(p.word, count, flags);

	if (!p.valid || flags > IPCWAIT_PRIVATE)
		FUZZ_CHECK(r == -EINVAL);
	else if (!p.mapped && !flags && count)
		FUZZ_CHECK(r == -EFAULT);
	else
		FUZZ_CHECK(r == 0);
}

static void check_sem(struct input *in)
{
	struct ipcwait_sem *s = &memory.sems[take_8(in) & 1];
	int64_t deadline_ns = take_near_deadline(in, true);
	int before = ipcwait_sem_value(s), r;
	uint8_t posts = take_8(in) % 2;

	FUZZ_CHECK(ipcwait_sem_post_n(s, posts) == 0);
	r = ipcwait_sem_wait_until(s, deadline_ns);
	if (before + posts)
		FUZZ_CHECK(r == 0);
	else
		FUZZ_CHECK(r == -ETIMEDOUT || interrupted(r, true));
	if (r == -ETIMEDOUT)
		FUZZ_CHECK(ipcwait_now_ns() >= deadline_ns);
	FUZZ_CHECK(sem_word(s) == WORD(before + posts - (r == 0), 0, 0));
}

static void begin(struct input *in)
{
	if (!unmapped)
		unmapped = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FUZZ_CHECK(unmapped != MAP_FAILED);
	memset(&memory, 0, sizeof(memory));
	take_bytes(in, memory.windows, sizeof(memory.windows[0]));
	memory.sems[0].flags = IPCWAIT_PRIVATE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	begin(&in);
	for (unsigned i = 0; i < CALLS_MOST && in.left; i++) {
		uint8_t kind = take_8(&in) % 8;

		errno = 4711;
		if (kind < 4)
			check_wait(&in);
		else if (kind == 4)
			check_wake(&in);
		else if (kind == 5)
			check_sem(&in);
		else if (kind == 6)
			memory.words[take_8(&in) % WORDS] = take_32(&in);
		else
			ipcwait_window_stamp(&memory.windows[take_8(&in) % 2]);
		FUZZ_CHECK(errno == 4711);
	}
	return 0;
}
