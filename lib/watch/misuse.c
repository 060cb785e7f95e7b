/* SPDX-License-Identifier: MIT */
/* Only in checked builds. Anything may call this, signal handlers too: no allocation. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "os/sharing.h"
#include "policy/hash.h"
#include "watch/misuse.h"
#include "watch/objects.h"
#include "watch/stats.h"
#include "watch/text.h"

#define LINE_BYTES 256

/* Where each kind of object has its window, by whose address names are known; 0: it has none. */
static const size_t windows[IPCWAIT_KIND_COUNT] = {
	[IPCWAIT_KIND_SEM] = offsetof(struct ipcwait_sem, window),
	[IPCWAIT_KIND_MUTEX] = offsetof(struct ipcwait_mutex, window),
	[IPCWAIT_KIND_COND] = offsetof(struct ipcwait_cond, window),
	[IPCWAIT_KIND_EVENT] = offsetof(struct ipcwait_event, window),
	[IPCWAIT_KIND_EVENTCOUNT] = offsetof(struct ipcwait_eventcount, window),
	[IPCWAIT_KIND_BARRIER] = offsetof(struct ipcwait_barrier, window),
	[IPCWAIT_KIND_LATCH] = offsetof(struct ipcwait_latch, window),
	[IPCWAIT_KIND_ONCE] = offsetof(struct ipcwait_once, window),
	[IPCWAIT_KIND_RWLOCK] = offsetof(struct ipcwait_rwlock, window),
};

static void add_name(struct iw_text *t, enum ipcwait_kind kind, const void *object)
{
	char name[IW_OBJECT_NAME_BYTES] = "";
	const struct iw_object *o;
	const void *window;

	if (!object || (uintptr_t)object % 8 || !windows[kind])
		return;
	window = (const char *)object + windows[kind];
	o = iw_object_find(&iw_objects, (uintptr_t)window);
	if (o)
		iw_object_get_name(o, name);
	if (name[0])
		iw_text_add(t, " '%s'", name);
}

int iw_misuse(int error, enum ipcwait_kind kind, const void *object, const char *call,
	      const char *what)
{
	char bytes[LINE_BYTES];
	struct iw_text t = { .bytes = bytes, .room = sizeof(bytes) };

	(void)error;
	iw_text_add(&t, "libipcwait: %s 0x%" PRIxPTR, iw_kind_name(kind),
		    (uintptr_t)object);
	add_name(&t, kind, object);
	iw_text_add(&t, ": %s(): %s\n", call, what);
	iw_text_print(&t);
	abort();
}

/*
 * bits 0-21   PROCESS  its id, below 2^22 (PID_MAX_LIMIT of Linux)
 * bit 22      zero     the waiters of another process are being forgotten: sync/copy.h
 * bits 23-31  PLACE    of the object's page: of two addresses one pair in 512 has the same
 */
#define PROCESS IW_PRIVATE_PROCESS
#define PLACE   UINT32_C(0xff800000)

/* Mappings of one page differ by a multiple of this, or of more. */
#define PAGE_BYTES 4096

/* By the golden ratio, so that pages side by side never have the same. */
static uint32_t place_of(const void *object)
{
	uint64_t page = (uintptr_t)object / PAGE_BYTES;

	return (uint32_t)(iw_hash(page) >> 32) & PLACE;
}

uint32_t iw_private_owner(const void *object, unsigned flags)
{
	if (!(flags & IPCWAIT_PRIVATE))
		return 0;
	return ((uint32_t)getpid() & PROCESS) | place_of(object);
}

int iw_private_check(const uint32_t *owner, enum ipcwait_kind kind, const void *object,
		     const char *call)
{
	/* ORD misuse.X1: relaxed, hint: it changes to the caller's own only, lib/sync/copy.h. */
	uint32_t note = ipcwait_impl_load32_relaxed((const struct ipcwait_word32 *)owner);
	uint32_t other =
		(note ^ iw_private_owner(object, IPCWAIT_PRIVATE)) & (PROCESS | PLACE);
	char what[32];

	if (!note || !other || !iw_memory_is_shared(object))
		return 0;
	if (!(other & PROCESS) && !iw_memory_is_mapped_twice(object))
		return 0;
	if (!(other & PROCESS))
		return iw_misuse(-EINVAL, kind, object, call, IW_MAPPED_TWICE);
	(void)snprintf(what, sizeof(what), "private to process %u", note & PROCESS);
	return iw_misuse(-EINVAL, kind, object, call, what);
}
