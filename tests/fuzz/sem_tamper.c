/* SPDX-License-Identifier: MIT */
/*
 * A semaphore that somebody else scribbles on while the library works with it: before any of its
 * accesses to shared words, and in sleeps, bytes of the 32 may change. Whatever they become, a
 * call ends after a bounded number of steps with a result that its header lists.
 */
#include "common/fake_os.h"
#include "common/fuzz.h"
#include "fuzz/kernel.h"
#include "fuzz/sem_calls.h"
#include "os/sharing.h"

#define CALLS_MOST 8

/*
 * Accesses to shared words in one call without a sleep. A spin of 8 ms with a look in 400 ns has
 * 20000; each change can cause another try, and there are not more changes than bytes.
 */
#define STEPS_MOST 100000

/* At one address always: the library keeps those that it has counted waits of. */
static struct ipcwait_sem sem, *const s = &sem;
static struct ipcwait_sem earlier; /* as it was before the last change */
static struct input *in;
static uint32_t steps_to_change = UINT32_MAX; /* until there is an input */
static uint64_t steps;

bool __wrap_iw_memory_is_shared(const void *address);

/* Of its own memory a process has to believe what is written. */
bool __wrap_iw_memory_is_shared(const void *address)
{
	return address == s;
}

static void next_change(void)
{
	steps_to_change = in->left ? take_8(in) : UINT32_MAX;
}

static void flip(unsigned at, uint8_t bits)
{
	uint8_t *byte = (uint8_t *)s + at % sizeof(*s);

	__atomic_store_n(byte, *byte ^ bits, __ATOMIC_RELAXED);
}

static void replace(unsigned at, uint64_t by)
{
	__atomic_store_n((uint64_t *)s + at % 4, by, __ATOMIC_RELAXED);
}

static void restore(void)
{
	struct ipcwait_sem now = *s;

	*s = earlier;
	earlier = now;
}

/* Somebody who means well, in between. */
static void act(uint8_t how)
{
	struct sem_call c = { .kind = how & 1 ? TRYWAIT : POST_N,
			      .n = how >> 1,
			      .deadline_ns = IPCWAIT_FOREVER };

	sem_call_make(&c, s);
}

static void change(void)
{
	uint8_t how = take_8(in);

	if (how % 4 < 3)
		earlier = *s;
	if (how % 4 == 0)
		flip(how >> 2, take_8(in));
	else if (how % 4 == 1)
		replace(how >> 2, take_64(in));
	else if (how % 4 == 2)
		act(how >> 2);
	else
		restore();
}

void fuzz_step(void)
{
	FUZZ_CHECK(++steps <= STEPS_MOST * (1 + (uint64_t)kernel.sleeps));
	if (steps_to_change--)
		return;
	steps_to_change = UINT32_MAX;
	change();
	next_change();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input bytes = { data, size };

	steps = 0;
	steps_to_change = UINT32_MAX;
	kernel_begin(&bytes);
	kernel.others = kernel.others_stop = change;
	kernel.long_spins = true;
	kernel.flags_change = true;
	kernel.note = &s->reserved;
	take_bytes(&bytes, s, sizeof(*s));
	earlier = *s;
	in = &bytes;
	next_change();
	for (unsigned i = 0; i < CALLS_MOST && in->left; i++) {
		struct sem_call c;

		steps = 0;
		sem_call_take(&c, in, fake.now_ns);
		sem_call_make(&c, s);
	}
	steps_to_change = UINT32_MAX;
	return 0;
}
