/* SPDX-License-Identifier: MIT */
/*
 * The header of memory that programs share: it says for which layout of objects that was made.
 *
 * What lies in an object's bytes may change from one version of the library to another, and its
 * layout number with it. Two programs of different layouts that use one object do not fail: they
 * wait for wakes that never come. So memory that is attached by programs which were not built
 * together begins with a header, and each looks at it before anything else:
 *
 *	struct desk {
 *		struct ipcwait_region region;                  // all zero: for the first to stamp
 *		struct ipcwait_sem asked, answered;            // all zero: valid as they are
 *	};
 *
 *	struct desk *d = mmap(NULL, sizeof(*d), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
 *	int r = ipcwait_region_attach(&d->region);             // -EPROTO: made for another layout
 *
 * Nobody has to be the first: whoever finds a header of zeros stamps it, in one atomic step.
 * It guards no data and is not needed where all who share an object are one program: a process and
 * the children of its fork(2). Channels between processes have the like in their file.
 *
 * An object that was marked by a later layout is refused by itself as well: calls that have to wait
 * or wake return -EINVAL if its flags have a bit that they do not know. That is for the object;
 * the header is for all of them, before the first call.
 *
 * Death: there is one word to be stamped. It is, or it is not.
 *
 * Layout: 64 bytes. The first 8 are the same in every layout, so that any can read any other.
 */
#ifndef IPCWAIT_REGION_H
#define IPCWAIT_REGION_H

#include <errno.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>

/* In every layout. */
#define IPCWAIT_REGION_BYTES 64

/*
 * region.stamp
 *   bits 0-55   MAGIC   the bytes "ipcwait"
 *   bits 56-63  LAYOUT  layout number of the objects behind the header
 *
 *   0 -> MAGIC, LAYOUT   attach   whoever comes first; all of the header is zero
 *
 * Whatever else is there is no header, and never changed.
 */
struct ipcwait_region {
	struct ipcwait_word64 stamp;
	/* Zero; not looked at once there is a stamp. */
	uint64_t reserved[IPCWAIT_REGION_BYTES / sizeof(uint64_t) - 1];
};

IPCWAIT_BEGIN_DECLS

/* The library's part of the function below, with its caller's layout number. Exported, not API. */
IPCWAIT_API int ipcwait_impl_region_attach(struct ipcwait_region *r, unsigned layout);

/**
 * ipcwait_region_attach() - learn whether the memory behind a header can be used
 * @r: the header, in memory that is mapped, 8-byte aligned
 *
 * Stamps a header of 64 zero bytes with the layout number of the caller; compares it with what any
 * other says. Call it before the first call for an object behind @r. It may be called any number
 * of times.
 *
 * It also asks /proc for the time namespace of the process, 10 to 25 us: with that, programs of
 * several namespaces read each other's stamps as what they are. Programs that share objects without
 * a header, and those for which /proc does not tell, wake and look in vain there: docs/limits.md.
 *
 * A header that may have to be stamped must be mapped for writing.
 *
 * Return: 0, program, library and memory are of one layout.
 *   -EPROTO  the memory is for another layout, which ipcwait_region_layout() tells, or the library
 *            that is loaded is; do not use the objects
 *   -EINVAL  @r is NULL or misaligned, or what is there is no header; it is unchanged
 *
 * Ordering:     none; what else is in the memory is to be published by other means
 * Threads:      any
 * Processes:    any that map @r, also at the same time
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @r must be mapped; there is nothing to end
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_INLINE int ipcwait_region_attach(struct ipcwait_region *r)
{
	return ipcwait_impl_region_attach(r, IPCWAIT_LAYOUT);
}

/**
 * ipcwait_region_layout() - for which layout memory was made
 * @r: the header, in memory that is mapped, 8-byte aligned
 *
 * For people: what a program can use is what ipcwait_region_attach() says.
 *
 * Return: the layout number, 0 to 255.
 *   -EINVAL  @r is NULL or misaligned, or what is there is no header, or one of zeros, which is
 *            for whoever comes first
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    any that map @r
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @r must be mapped
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_region_layout(const struct ipcwait_region *r);

IPCWAIT_END_DECLS

#endif
