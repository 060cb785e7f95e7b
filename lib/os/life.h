/* SPDX-License-Identifier: MIT */
/*
 * Who a thread is, and whether it is alive: for owners recorded in memory that processes share.
 * errno is preserved; a signal handler may call all of it.
 *
 * A thread is named by its id and its birth. The id is the kernel's, below 2^22, and used again
 * when the thread is gone; the birth tells one user of an id from the next. The birth's low part
 * is a sum over its id, when the thread began and where its program's stack begins, so that a
 * program which exec(3) has started is not taken for the one before it. Its high part stands for
 * the PID and the time namespace, since ids and times of one mean nothing in another.
 *
 * Death is believed when it is proven, and not otherwise. What cannot be proven:
 *   - in another namespace, without /proc, or where /proc belongs to another namespace;
 *   - that an id was used again, or its process has replaced its program, if the
 *     process that has it may not be looked at (ptrace(2), "access mode checking");
 *   - that a program has replaced itself by itself where addresses are not random;
 *   - that an id was used again, of a thread that could not read its birth;
 *   - one false likeness in 2 million among threads, and one in 1023 among namespaces.
 * A process restored from a checkpoint has another birth than before: what it locked looks
 * abandoned. Do not checkpoint a process that holds a robust object.
 */
#ifndef IW_OS_LIFE_H
#define IW_OS_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The low part of a birth, and the highest bit in it: that part was drawn at random, because when
 * the thread began could not be read. It tells the thread from others too, but to itself only. 0:
 * nothing is known. The rest is the namespace, 0 if not known.
 */
#define IW_BIRTH_BEGAN UINT32_C(0x3fffff)
#define IW_BIRTH_DRAWN UINT32_C(0x200000)

enum iw_life {
	IW_ALIVE,   /* it exists, and its birth is the one asked for */
	IW_DEAD,    /* it has ended, be it not yet reaped, or called exec(3) */
	IW_UNKNOWN, /* no proof of either */
};

/*
 * The id of the calling thread, not 0. Right in the child of any fork, be it _Fork(3) or clone(2):
 * it is read anew wherever memory was copied. 1 ns, and a system call the first time; 0 where that
 * call is forbidden (os/calls.h). In the child of vfork(2), which borrows its parent's thread, it
 * is the parent's if that has asked before; such a child must not be the first to ask. (That of
 * posix_spawn(3) runs no code but libc's.)
 */
uint32_t iw_thread_id(void);

/*
 * The birth of the calling thread, the same for as long as it runs this program, but for one thing:
 * while the process has no descriptors or the kernel no memory it is drawn, or 0 if not even the
 * namespace can be read, and read again each time. Read once otherwise, which takes a few 10 us.
 */
uint32_t iw_thread_birth(void);

/* It is the caller's, be it as it was while it could not be read. */
bool iw_thread_has_birth(uint32_t birth);

static inline bool iw_birth_known(uint32_t birth)
{
	return birth & IW_BIRTH_BEGAN && !(birth & IW_BIRTH_DRAWN);
}

/*
 * The calling thread among those of all processes that share memory, in whatever PID namespaces:
 * its id does not tell it from those that have the same in another. The low part, not 0, is another
 * for each thread of the process; the rest, 15 bits, is the same for all of them. Two threads of
 * different processes have the same name once in billions. Right in the child of any fork, and 1 ns
 * but for the first time, as iw_thread_id(); but before Linux 4.14 a child has the names of its
 * parent for the same ids.
 */
uint64_t iw_thread_name(void);

/* The low part of a name. */
#define IW_NAME_THREAD UINT64_C(0x3fffff)
#define IW_NAME_BITS   22

/*
 * Another in each process that fork(2) or clone(2) has made with a copy of memory. 0 in all of
 * them where the kernel cannot tell (before Linux 4.14).
 */
uint32_t iw_process_generation(void);

/*
 * Whether the thread with that id and birth is alive. If when it began is not known, a free id and
 * a thread that has ended are still proofs of death, and nothing is of life.
 *
 * If @id and @birth are read from two words while owners change, they may belong to different
 * threads, which is a false proof: believe IW_DEAD only if both are unchanged some time later.
 */
enum iw_life iw_thread_life(uint32_t id, uint32_t birth);

/* "/proc". For tests, before the thread's first call above. */
extern const char *iw_life_proc;

#endif
