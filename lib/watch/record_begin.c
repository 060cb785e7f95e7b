/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "os/lines.h"
#include "os/seam.h"
#include "policy/hash.h"
#include "watch/objects.h"
#include "watch/record.h"
#include "watch/record_begin.h"
#include "watch/record_place.h"

#define SIZE(record) _Static_assert(sizeof(struct record) == IW_RECORD_BYTES, "one place")
SIZE(ipcwait_record_process);
SIZE(ipcwait_record_wait);
SIZE(ipcwait_record_name);
SIZE(ipcwait_record_cost);
SIZE(ipcwait_record_mapping);
SIZE(ipcwait_record_text);
_Static_assert(sizeof(struct ipcwait_record_head) <= IW_RECORD_FIRST_AT, "it fits");

#define NS_PER_S UINT64_C(1000000000)

/* A file with more code than this is not told of whole. */
#define MAPS_BYTES_MOST (1u << 20)

#define MAPPED_BYTES (IW_RECORD_FIRST_AT + (size_t)IW_RECORD_MOST * IW_RECORD_BYTES)

#define TEXTS_MOST 16
#define PATH_BYTES ((size_t)TEXTS_MOST * IPCWAIT_RECORD_TEXT_BYTES)

/* In /proc/self/maps: " r-xp ". */
#define BASE         16
#define RIGHTS_BYTES 6
#define EXECUTE_AT   3

/* A sum over the mappings that were told of. */
static struct ipcwait_word64 mappings_told;

uint32_t iw_record_pid(void)
{
	return (uint32_t)getpid();
}

bool iw_record_expand(char path[PATH_MAX], const char *text)
{
	size_t n = 0;

	for (; *text && n < PATH_MAX; text++) {
		int more = 1;

		if (text[0] == '%' && text[1] == 'p')
			more = snprintf(path + n, PATH_MAX - n, "%" PRIu32,
					iw_record_pid());
		else
			path[n] = *text;
		text += text[0] == '%';
		n += (size_t)more;
	}
	if (n >= PATH_MAX)
		return false;
	path[n] = '\0';
	return true;
}

static uint64_t real_time_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void fill_head(struct ipcwait_record_head *h)
{
	*h = (struct ipcwait_record_head){
		.magic = IPCWAIT_RECORD_MAGIC,
		.version = IPCWAIT_RECORD_VERSION,
		.record_bytes = IW_RECORD_BYTES,
		.first_at = IW_RECORD_FIRST_AT,
		.most = IW_RECORD_MOST,
		.began_ns = real_time_ns(),
		.began_at_ns = iw_now_ns(),
		.room = IW_RECORD_CHUNK,
	};
	(void)snprintf(h->library, sizeof(h->library), "%s", ipcwait_version());
}

/* Whoever has written it could have written anything. */
static bool is_sound(const struct ipcwait_record_head *h, uint64_t bytes)
{
	return h->magic == IPCWAIT_RECORD_MAGIC && h->version == IPCWAIT_RECORD_VERSION &&
	       h->record_bytes == IW_RECORD_BYTES && h->first_at == IW_RECORD_FIRST_AT &&
	       h->room <= (bytes - IW_RECORD_FIRST_AT) / IW_RECORD_BYTES;
}

int iw_record_begin_file(const struct iw_record_file *f, struct iw_record_found *found)
{
	struct ipcwait_record_head *h;
	uint64_t most;

	if (f->bytes < IW_RECORD_FIRST_AT)
		return -EEXIST;
	h = iw_record_file_map(f, MAPPED_BYTES);
	if (!h)
		return -ENOMEM;
	if (f->empty)
		fill_head(h);
	/* ORD record_begin.X4: relaxed, no order needed: read once, as others may write it. */
	most = ipcwait_impl_load64_relaxed((const struct ipcwait_word64 *)&h->most);
	if (!is_sound(h, f->bytes) || most > IW_RECORD_MOST) {
		iw_record_file_unmap(h, MAPPED_BYTES);
		return -EEXIST;
	}
	*found = (struct iw_record_found){ h, IW_RECORD_FIRST_AT, most };
	return 0;
}

/* By where the kernel has put things when the program began. */
static uint64_t identity(void)
{
	return iw_hash(getauxval(AT_RANDOM) ^ getauxval(AT_SYSINFO_EHDR) << 1);
}

void iw_record_tell_process(uint32_t parent)
{
	union iw_record r = { .process = { .type = IPCWAIT_RECORD_PROCESS,
					   .parent = parent,
					   .at_ns = iw_now_ns(),
					   .identity = identity() } };

	(void)snprintf(r.process.program, sizeof(r.process.program), "%s",
		       program_invocation_short_name);
	iw_record_put(&r, 1);
}

/* A path that does not fit is cut in front, where its end tells more. */
static void tell_mapping(struct ipcwait_record_mapping *m, const char *path)
{
	union iw_record r[1 + TEXTS_MOST] = { { .type = 0 } };
	size_t length = strlen(path), texts = 0;

	if (length > PATH_BYTES) {
		path += length - PATH_BYTES;
		length = PATH_BYTES;
	}
	m->length = (uint32_t)length;
	r[0].mapping = *m;
	for (size_t at = 0; at < length; at += IPCWAIT_RECORD_TEXT_BYTES) {
		struct ipcwait_record_text *t = &r[++texts].text;
		size_t n = length - at;

		t->type = IPCWAIT_RECORD_TEXT;
		memcpy(t->text, path + at, n < sizeof(t->text) ? n : sizeof(t->text));
	}
	iw_record_put(r, 1 + (unsigned)texts);
}

/*
 * A line as in proc(5), "begin-end r-xp offset dev inode path". Returns the path; NULL: it is no
 * code of a file.
 */
static const char *read_mapping(struct ipcwait_record_mapping *m, const char *line)
{
	const char *path = strchr(line, '/');
	char *end;

	*m = (struct ipcwait_record_mapping){ .type = IPCWAIT_RECORD_MAPPING };
	m->begin = strtoull(line, &end, BASE);
	if (!path || *end != '-')
		return NULL;
	m->end = strtoull(end + 1, &end, BASE);
	if (strnlen(end, RIGHTS_BYTES) < RIGHTS_BYTES || end[EXECUTE_AT] != 'x')
		return NULL;
	m->offset = strtoull(end + RIGHTS_BYTES, &end, BASE);
	return path;
}

/* A sum over the mappings of code, and each of them to tell(), if that is not NULL. */
static uint64_t each_mapping(void (*tell)(struct ipcwait_record_mapping *m,
					  const char *path))
{
	struct ipcwait_record_mapping m;
	struct iw_lines l;
	const char *line, *path;
	uint64_t sum = 0;

	if (!iw_lines_open(&l, "/proc/self/maps", MAPS_BYTES_MOST))
		return 0;
	while ((line = iw_lines_next(&l))) {
		path = read_mapping(&m, line);
		if (path)
			sum += iw_hash(m.begin ^ m.end << 1);
		if (path && tell)
			tell(&m, path);
	}
	iw_lines_close(&l);
	return sum;
}

static void tell_code(void)
{
	/* ORD record_begin.X2: relaxed, statistic: two threads may both tell of them. */
	ipcwait_impl_store64_relaxed(&mappings_told, each_mapping(NULL));
	(void)each_mapping(tell_mapping);
}

static void tell_names(void)
{
	for (unsigned i = 0; i < IW_OBJECTS; i++) {
		struct iw_object *o = iw_object_at(&iw_objects, i);
		union iw_record r = { .name = { .type = IPCWAIT_RECORD_NAME } };

		if (!o)
			continue;
		/* ORD record_begin.X1: relaxed, statistic. */
		r.name.object = ipcwait_impl_load64_relaxed(&o->address);
		iw_object_get_name(o, r.name.name);
		if (r.name.name[0])
			iw_record_put(&r, 1);
	}
}

void iw_record_tell_memory(void)
{
	tell_names();
	tell_code();
}

void iw_record_tell_more_code(void)
{
	/* ORD record_begin.X3: relaxed, statistic, as record_begin.X2. */
	if (each_mapping(NULL) != ipcwait_impl_load64_relaxed(&mappings_told))
		tell_code();
}
