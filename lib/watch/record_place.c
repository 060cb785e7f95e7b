/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "os/calls.h"
#include "os/life.h"
#include "os/record_file.h"
#include "os/seam.h"
#include "watch/record.h"
#include "watch/record_begin.h"
#include "watch/record_place.h"
#include "watch/text.h"

/* Room is made while so many are left. */
#define FEW (IW_RECORD_CHUNK / 2)

#define NONE UINT64_MAX

/*
 * Whoever opens the file, and whoever lets it grow, leaves the generation of its process there: in
 * a child of fork(2) it is a thread that is not here, and whoever comes next does it anew.
 */
enum { CLOSED, OPEN, FAILED, OPENING };

#define STATE      3u
#define STATE_BITS 2

static struct ipcwait_word32 state;
static struct ipcwait_word32 generation; /* of the process that has told of itself */

enum { FREE, CANNOT, BUSY };

static struct ipcwait_word32 growing;

static struct iw_record_file file;

static struct ipcwait_record_head *head;
static unsigned char *records;
static uint64_t most;
static struct ipcwait_word32 pid;

/*
 * Places that the kernel says the file has. Every process that has inherited the mapping can write
 * to head->room, also one that gave up the rights to the file. A place beyond the file's end is
 * SIGBUS, so head->room is believed up to here.
 */
static struct ipcwait_word64 held;

/* The head's words that all processes write. */
static struct ipcwait_word64 *word(uint64_t *w)
{
	return (struct ipcwait_word64 *)(void *)w;
}

static uint64_t room(void)
{
	/* ORD record_place.X2: relaxed, re-checked: only what is held is written to. */
	uint64_t n = ipcwait_impl_load64_relaxed(word(&head->room));
	/* ORD record_place.A19: acquire, the zeros are written. Pairs with record_place.R20. */
	uint64_t there = ipcwait_impl_load64_acquire(&held);

	return n < there ? n : there;
}

static uint64_t used(void)
{
	/* ORD record_place.X1: relaxed, statistic: only tells about how full it is. */
	return ipcwait_impl_load64_relaxed(word(&head->used));
}

static uint32_t marked(uint32_t what)
{
	return what | iw_process_generation() << STATE_BITS;
}

/* Of a process that has been copied: whoever was at it is not here. */
static bool is_left_over(uint32_t found, uint32_t what)
{
	return (found & STATE) == what && found != marked(what);
}

static uint64_t first_at(void)
{
	return (uint64_t)(records - (unsigned char *)head);
}

/* The file has @bytes: returns how many places these are. */
static uint64_t hold(uint64_t bytes)
{
	uint64_t n = bytes < first_at() ? 0 : (bytes - first_at()) / IW_RECORD_BYTES;

	n = n < most ? n : most;
	/* ORD record_place.R20: release, after the zeros. Pairs with record_place.A19. */
	ipcwait_impl_store64_release(&held, n);
	return n;
}

/* More places behind the file's end, whatever its head says about that. */
static int append(uint64_t from)
{
	uint64_t n = most - from < IW_RECORD_CHUNK ? most - from : IW_RECORD_CHUNK;
	uint64_t at = first_at() + from * IW_RECORD_BYTES;
	int r = iw_record_file_extend(&file, at, n * IW_RECORD_BYTES);

	if (r)
		return r;
	(void)hold(at + n * IW_RECORD_BYTES);
	/* ORD record_place.X3: relaxed, no order needed, as record_place.X2. */
	ipcwait_impl_store64_relaxed(word(&head->room), from + n);
	return 0;
}

/* Another process may have done it since. */
static int extend(void)
{
	uint64_t before = room(), end;
	int r = iw_record_file_open_again(&file);

	if (r)
		return r;
	end = hold(file.bytes);
	if (before == room())
		r = append(end);
	iw_record_file_release(&file);
	return r;
}

/* True: this thread has made room. */
static bool grow(void)
{
	/* ORD record_place.X15: relaxed, re-checked by the exchange. */
	uint32_t found = ipcwait_impl_load32_relaxed(&growing);
	int r;

	if (found != FREE && !is_left_over(found, BUSY))
		return false;
	/* ORD record_place.A4: acquire, sees what the last has left. Pairs with record_place.R4. */
	if (!ipcwait_impl_cas32_acquire(&growing, &found, marked(BUSY)))
		return false;
	r = extend();
	if (r && r != -EAGAIN)
		/* ORD record_place.X16: relaxed, statistic: for people. */
		ipcwait_impl_store64_relaxed(word(&head->stopped), (uint64_t)-r);
	/* ORD record_place.R4: release, what `file` holds. Pairs with record_place.A4. */
	ipcwait_impl_store32_release(&growing, r && r != -EAGAIN ? CANNOT : FREE);
	return !r;
}

/* @n from @first on lie before @end, whatever @first is: anybody may have written it. */
static bool fits(uint64_t first, unsigned n, uint64_t end)
{
	return first <= end && n <= end - first;
}

/* The first of @n numbers that nobody else has; NONE if there are none. */
static uint64_t deal(unsigned n, bool *grown)
{
	uint64_t end = room(), first;

	*grown = !fits(used(), n + FEW, end) && end < most && grow();
	if (*grown)
		end = room();
	/* ORD record_place.X5: relaxed, no order needed: deals out numbers. */
	first = fits(used(), n, end) ? ipcwait_impl_add64_relaxed(word(&head->used), n)
				     : NONE;
	if (fits(first, n, end))
		return first;
	/* ORD record_place.X6: relaxed, statistic. */
	(void)ipcwait_impl_add64_relaxed(word(&head->lost), 1);
	return NONE;
}

static void write_at(uint64_t i, const union iw_record *r)
{
	unsigned char *at = records + i * IW_RECORD_BYTES;

	memcpy(at + sizeof(r->type), (const unsigned char *)r + sizeof(r->type),
	       sizeof(*r) - sizeof(r->type));
	/* ORD record_place.R7: release, the record is complete. Pairs with record.A2. */
	ipcwait_impl_store32_release((struct ipcwait_word32 *)(void *)at, r->type);
}

static uint32_t own_pid(void)
{
	/* ORD record_place.X13: relaxed, no order needed: a number. */
	return ipcwait_impl_load32_relaxed(&pid);
}

void iw_record_put(union iw_record *r, unsigned n)
{
	bool grown;
	uint64_t first = deal(n, &grown);

	for (unsigned i = 0; first != NONE && i < n; i++) {
		r[i].process.pid = own_pid();
		write_at(first + i, &r[i]);
	}
	/* Now and then: what is looked up in a record that goes on may have been loaded since. */
	if (grown)
		iw_record_tell_more_code();
}

static void warn(const char *path, const char *why)
{
	char bytes[PATH_MAX + 128];
	struct iw_text t = { .bytes = bytes, .room = sizeof(bytes) };

	iw_text_add(&t, "libipcwait: IPCWAIT_RECORD ignored: '%s': %s\n", path, why);
	iw_text_print(&t);
}

/* @parent is 0 where memory has begun with this process. */
static void begin_process(uint32_t parent)
{
	/* ORD record_place.X14: relaxed, no order needed: a number. */
	ipcwait_impl_store32_relaxed(&pid, iw_record_pid());
	iw_record_tell_process(parent);
	if (!parent)
		iw_record_tell_memory();
}

static const char *open_at(const char *path)
{
	struct iw_record_found found;
	char whole[PATH_MAX];
	int r;

	if (!iw_record_expand(whole, path))
		return "the path is too long";
	r = iw_record_file_open(&file, whole,
				IW_RECORD_FIRST_AT + IW_RECORD_CHUNK * IW_RECORD_BYTES);
	if (r)
		return r == -EEXIST ? "it is no regular file" : iw_record_file_error(-r);
	r = iw_record_begin_file(&file, &found);
	if (r) {
		iw_record_file_abandon(&file);
		return r == -EEXIST ? "it is there already, and no record of this version"
				    : iw_record_file_error(-r);
	}
	head = found.head;
	most = found.most;
	records = (unsigned char *)head + found.first_at;
	(void)hold(file.bytes);
	iw_record_file_release(&file);
	return NULL;
}

/* One thread opens the file; what others would record meanwhile is lost. */
static uint32_t open_file(const char *path, uint32_t found)
{
	const char *why_not;

	/* ORD record_place.X8: relaxed, no order needed: only chooses who opens the file. */
	if (!ipcwait_impl_cas32_relaxed(&state, &found, marked(OPENING)))
		return OPENING;
	/* ORD record_place.X9: relaxed, no order needed: nobody else is there yet. */
	ipcwait_impl_store32_relaxed(&generation, iw_process_generation());
	why_not = open_at(path);
	if (why_not)
		warn(path, why_not);
	else
		begin_process(0);
	found = why_not ? FAILED : OPEN;
	/*
	 * ORD record_place.R10: release, the file is mapped. Pairs with record_place.A10 and
	 * record_place.A17.
	 */
	ipcwait_impl_store32_release(&state, found);
	return found;
}

/*
 * The first thread in a child tells of it. If two come at once, the other writes with the parent's
 * number for a moment.
 */
static void notice_fork(void)
{
	uint32_t now = iw_process_generation(), parent = own_pid();
	uint32_t known;

	/* ORD record_place.X11: relaxed, no order needed: only chooses who tells. */
	known = ipcwait_impl_load32_relaxed(&generation);
	if (known != now && ipcwait_impl_cas32_relaxed(&generation, &known, now))
		begin_process(parent);
}

bool iw_record_is_open(const char *path)
{
	/* ORD record_place.A10: acquire, the file is mapped. Pairs with record_place.R10. */
	uint32_t found = ipcwait_impl_load32_acquire(&state);

	/* Nothing is recorded behind a filter that the program has begun. */
	if (!iw_call_allowed(IW_CALL_FILES))
		return false;
	if (path && (found == CLOSED || is_left_over(found, OPENING)))
		found = open_file(path, found);
	if (found != OPEN)
		return false;
	notice_fork();
	return true;
}

bool iw_record_is_told(void)
{
	/* ORD record_place.A17: acquire, the file is mapped. Pairs with record_place.R10. */
	bool open = ipcwait_impl_load32_acquire(&state) == OPEN;

	/* ORD record_place.X18: relaxed, no order needed: a number. */
	return open && iw_call_allowed(IW_CALL_FILES) &&
	       ipcwait_impl_load32_relaxed(&generation) == iw_process_generation();
}
