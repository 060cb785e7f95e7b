/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "os/seam.h"
#include "os/trace_file.h"
#include "watch/record.h"
#include "watch/text.h"

#define LONGEST_WARNING 128

#define LINE_BYTES 32u
#define NS_DIGITS  14u
#define HEX_DIGITS 16u
#define BASE       10u

/* Longer waits are written as this, the longest that policy_sim reads. */
#define LONGEST_NS UINT64_C(1000000000000)

enum { CLOSED, OPENING, OPEN, FAILED };

static struct ipcwait_word32 state;
static struct iw_trace_file file;

static void put_decimal(char *field, uint64_t n)
{
	unsigned i = NS_DIGITS;

	memset(field, ' ', NS_DIGITS);
	do
		field[--i] = (char)('0' + n % BASE);
	while (n /= BASE);
}

static void put_hex(char *field, uint64_t n)
{
	for (unsigned i = HEX_DIGITS; i-- > 0; n >>= 4)
		field[i] = "0123456789abcdef"[n % 16];
}

static void warn(int r)
{
	char bytes[LONGEST_WARNING];
	struct iw_text t = { .bytes = bytes, .room = sizeof(bytes) };

	iw_text_add(&t, "libipcwait: IPCWAIT_RECORD ignored: the file ");
	if (r == -EEXIST)
		iw_text_add(&t, "is there already\n");
	else
		iw_text_add(&t, "cannot be made, error %d\n", -r);
	iw_text_print(&t);
}

/*
 * One thread makes the file; what others would record meanwhile is lost. Likewise what one would
 * that finds it made at this very moment: it has not acquired it.
 */
static uint32_t open_file(const char *path)
{
	static const char heading[] = "# wait in ns, object            ";
	uint32_t found = CLOSED;
	int r;

	/* ORD record.X1: relaxed, no order needed: only chooses who makes the file. */
	if (!ipcwait_impl_cas32_relaxed(&state, &found, OPENING))
		return OPENING;
	r = iw_trace_file_create(&file, path, (size_t)IW_RECORD_LINES * LINE_BYTES);
	if (r)
		warn(r);
	else
		memcpy(file.text, heading, LINE_BYTES - 1);
	found = r ? FAILED : OPEN;
	/* ORD record.R1: release, publishes the mapping. Pairs with record.A1. */
	ipcwait_impl_store32_release(&state, found);
	return found;
}

/* The number of a line that nobody else has; IW_RECORD_LINES and more if there is none. */
static uint32_t next_line(void)
{
	/* ORD record.X2: relaxed, re-checked after the addition; keeps it from wrapping. */
	uint32_t used = ipcwait_impl_load32_relaxed(file.used);

	if (used >= IW_RECORD_LINES - 1)
		return IW_RECORD_LINES;
	/* ORD record.X3: relaxed, no order needed: deals out numbers. */
	return 1 + ipcwait_impl_add32_relaxed(file.used, 1);
}

void iw_record_wait(const char *path, const struct ipcwait_window *w, uint64_t wait_ns)
{
	/* ORD record.A1: acquire, the mapping is complete. Pairs with record.R1. */
	uint32_t found = ipcwait_impl_load32_acquire(&state);
	char line[LINE_BYTES];
	uint32_t i;

	if (found == CLOSED)
		found = open_file(path);
	i = found == OPEN ? next_line() : IW_RECORD_LINES;
	if (i >= IW_RECORD_LINES)
		return;
	put_decimal(line, wait_ns < LONGEST_NS ? wait_ns : LONGEST_NS);
	line[NS_DIGITS] = ' ';
	put_hex(line + NS_DIGITS + 1, (uintptr_t)w);
	line[LINE_BYTES - 1] = '\n';
	memcpy(file.text + (size_t)i * LINE_BYTES, line, LINE_BYTES);
}
