/* SPDX-License-Identifier: MIT */
#include "stack_walk.h"

#include <pthread.h>
#include <stdbool.h>
#include <ucontext.h>
#include <unwind.h>

/* The handler runs on top of the interrupted frames: its own come first and are left out. */
struct walk {
	uint64_t *pcs;
	uint64_t start;
	uint32_t frames;
	uint32_t most;
	bool found;
};

/* Where a frame has the pointer to the next one and the return address. */
#if defined(__riscv)
#define NEXT_WORD   (-2)
#define RETURN_WORD (-1)
#else
#define NEXT_WORD   0
#define RETURN_WORD 1
#endif

static __thread uintptr_t stack_end __attribute__((tls_model("initial-exec")));

#if defined(__x86_64__)
#define PC_OF(m) ((uint64_t)(m)->gregs[REG_RIP])
#define FP_OF(m) ((uintptr_t)(m)->gregs[REG_RBP])
#define SP_OF(m) ((uintptr_t)(m)->gregs[REG_RSP])
#elif defined(__aarch64__)
#define PC_OF(m) ((uint64_t)(m)->pc)
#define FP_OF(m) ((uintptr_t)(m)->regs[29])
#define SP_OF(m) ((uintptr_t)(m)->sp)
#elif defined(__riscv)
#define PC_OF(m) ((uint64_t)(m)->__gregs[REG_PC])
#define FP_OF(m) ((uintptr_t)(m)->__gregs[REG_S0])
#define SP_OF(m) ((uintptr_t)(m)->__gregs[REG_SP])
#endif

static const mcontext_t *machine(const void *context)
{
	return &((const ucontext_t *)context)->uc_mcontext;
}

uint64_t walk_pc(const void *context)
{
	return PC_OF(machine(context));
}

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *frame, void *argument)
{
	struct walk *w = argument;
	int before;
	uint64_t pc = (uint64_t)_Unwind_GetIPInfo(frame, &before);

	w->found = w->found || pc == w->start;
	if (w->found)
		w->pcs[w->frames++] = pc;
	return w->frames < w->most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

uint32_t walk_by_tables(const void *context, uint64_t *pcs, uint32_t most)
{
	struct walk w = { .pcs = pcs, .start = walk_pc(context), .most = most };

	_Unwind_Backtrace(take_frame, &w);
	/* Code without tables: where it is, at least. */
	if (!w.found)
		pcs[w.frames++] = w.start;
	return w.frames;
}

/*
 * The chain must lead upwards within the stack. Memory between the stack pointer and the end
 * of the stack can be read, whatever the register holds.
 */
uint32_t walk_by_frame_pointers(const void *context, uint64_t *pcs, uint32_t most)
{
	const mcontext_t *m = machine(context);
	uintptr_t low = SP_OF(m), fp = FP_OF(m);
	uint32_t frames = 0;

	pcs[frames++] = PC_OF(m);
	while (frames < most && fp > low && fp <= stack_end - 2 * sizeof(fp) &&
	       fp % sizeof(fp) == 0) {
		const uintptr_t *frame = (const uintptr_t *)fp;

		if (!frame[RETURN_WORD])
			break;
		pcs[frames++] = frame[RETURN_WORD];
		low = fp;
		fp = frame[NEXT_WORD];
	}
	return frames;
}

void walk_begin_thread(void)
{
	pthread_attr_t attributes;
	void *start;
	size_t bytes;

	if (pthread_getattr_np(pthread_self(), &attributes))
		return;
	if (!pthread_attr_getstack(&attributes, &start, &bytes))
		stack_end = (uintptr_t)start + bytes;
	pthread_attr_destroy(&attributes);
}

static _Unwind_Reason_Code ignore_frame(struct _Unwind_Context *frame, void *argument)
{
	(void)frame;
	(void)argument;
	return _URC_NO_REASON;
}

void walk_prepare(void)
{
	_Unwind_Backtrace(ignore_frame, NULL);
}
