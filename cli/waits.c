/* SPDX-License-Identifier: MIT */
#include "waits.h"
#include "info.h"
#include "symbol.h"
#include "../tools/common/complain.h"
#include "../tools/common/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer paths are not written: lib/watch/record_begin.c. */
#define PATH_MOST 1024

/* A record has a million places of 72 bytes. */
#define RECORD_BYTES_MOST (UINT64_C(80) << 20)

/* Each takes eight places or more: itself, its code, its costs. */
#define PROCESSES_MOST 131072

/* Copies of copies of a process; things of earlier ones are shown by their addresses. */
#define GENERATIONS_MOST 64

/*
 * How many mappings are looked at that begin before an address: code that was loaded where other
 * code was.
 */
#define OVERLAPPING_MOST 64

/* Room for one more at the end of @all, which has @n; it doubles. */
static void *grow(void *all, size_t n, size_t size)
{
	void *more = n & (n - 1) ? all : realloc(all, (n ? 2 * n : 1) * size);

	if (!more)
		give_up("no memory");
	return more;
}

static const void *record_at(const struct waits *w, uint64_t i)
{
	return (const char *)w->head + w->head->first_at + i * w->head->record_bytes;
}

/* How many records there are to look at. */
static uint64_t records(const struct waits *w)
{
	const struct ipcwait_record_head *h = w->head;
	uint64_t fit = (w->bytes - h->first_at) / h->record_bytes;
	uint64_t n = h->used < h->room ? h->used : h->room;

	return n < fit ? n : fit;
}

static int by_number(const void *a, const void *b)
{
	const struct waits_process *p = a, *q = b;

	return (p->pid > q->pid) - (p->pid < q->pid);
}

/* The last one with that number; NULL: the record does not tell of it. */
static struct waits_process *process_of(const struct waits *w, uint32_t pid)
{
	const struct waits_process key = { .pid = pid };
	struct waits_process *const *node = tfind(&key, &w->last, by_number);

	return node ? *node : NULL;
}

static struct waits_process *begin_process(struct waits *w, uint32_t pid)
{
	struct waits_process *p = calloc(1, sizeof(*p));
	struct waits_process **node;

	if (!p)
		give_up("no memory");
	p->pid = pid;
	p->index = w->processes;
	p->first = p;
	node = tsearch(p, &w->last, by_number);
	if (!node)
		give_up("no memory");
	*node = p;
	w->process = grow(w->process, w->processes, sizeof(struct waits_process *));
	w->process[w->processes++] = p;
	return p;
}

/* A process with two copies of the library, one of them in the module, is told of twice. */
static bool is_told(const struct waits_process *p, const struct ipcwait_record_process *r)
{
	return p && p->identity == r->identity &&
	       (p->parent ? p->parent->pid : 0) == r->parent;
}

static void take_process(struct waits *w, const struct ipcwait_record_process *r)
{
	struct waits_process *parent = r->parent ? process_of(w, r->parent) : NULL;
	struct waits_process *p = process_of(w, r->pid);

	if (is_told(p, r))
		return;
	if (w->processes == PROCESSES_MOST) {
		w->lost++;
		return;
	}
	p = begin_process(w, r->pid);
	p->parent = parent;
	p->identity = r->identity;
	p->began_ns = r->at_ns;
	memcpy(p->program, r->program, sizeof(p->program) - 1);
	info_make_printable(p->program);
	if (parent) {
		p->first = parent->first;
		p->block_ns = parent->block_ns;
		p->samples = parent->samples;
		p->waker_ns = parent->waker_ns;
		p->sleeper_ns = parent->sleeper_ns;
	}
}

static void take_wait(struct waits *w, struct waits_process *p,
		      const struct ipcwait_record_wait *r)
{
	w->wait = grow(w->wait, w->n, sizeof(*w->wait));
	w->wait[w->n++] = (struct waits_wait){ p, r };
	if (r->ended_ns > w->head->began_at_ns) {
		double seconds = (double)(r->ended_ns - w->head->began_at_ns) / 1e9;

		w->seconds = seconds > w->seconds ? seconds : w->seconds;
	}
}

static void take_name(struct waits_process *p, const struct ipcwait_record_name *r)
{
	p->name = grow(p->name, p->names, sizeof(*p->name));
	p->name[p->names] = (struct waits_name){ r->object, r->name, p->names };
	p->names++;
}

/* Texts that are not complete, or of somebody else, end a path. */
static char *read_path(const struct waits *w, uint32_t pid, uint64_t i, size_t length)
{
	uint64_t end = records(w);
	char path[PATH_MOST + 1], *copy;
	size_t n = 0;

	length = length < PATH_MOST ? length : PATH_MOST;
	while (n < length && ++i < end) {
		const struct ipcwait_record_text *t = record_at(w, i);
		size_t more = length - n < sizeof(t->text) ? length - n : sizeof(t->text);

		if (ipcwait_impl_record_type(t) != IPCWAIT_RECORD_TEXT || t->pid != pid)
			break;
		memcpy(path + n, t->text, more);
		n += more;
	}
	path[n] = '\0';
	copy = strdup(path);
	if (!copy)
		give_up("no memory");
	return copy;
}

static void take_mapping(const struct waits *w, struct waits_process *p, uint64_t i,
			 const struct ipcwait_record_mapping *r)
{
	p->mapping = grow(p->mapping, p->mappings, sizeof(*p->mapping));
	p->mapping[p->mappings] =
		(struct waits_mapping){ r->begin, r->end, r->offset,
					read_path(w, p->pid, i, r->length), p->mappings };
	p->mappings++;
}

static void take_cost(struct waits_process *p, const struct ipcwait_record_cost *r)
{
	p->block_ns = r->block_ns;
	p->samples = r->samples;
	p->waker_ns = r->waker_ns;
	p->sleeper_ns = r->sleeper_ns;
}

static void take(struct waits *w, uint64_t i)
{
	const struct ipcwait_record_process *r = record_at(w, i);
	uint32_t type = ipcwait_impl_record_type(r);
	struct waits_process *p;

	if (type == IPCWAIT_RECORD_NOTHING || type == IPCWAIT_RECORD_TEXT)
		return;
	if (type == IPCWAIT_RECORD_PROCESS) {
		take_process(w, r);
		return;
	}
	p = process_of(w, r->pid);
	if (!p && w->processes == PROCESSES_MOST) {
		w->lost++;
		return;
	}
	if (!p)
		p = begin_process(w, r->pid);
	if (type == IPCWAIT_RECORD_WAIT)
		take_wait(w, p, (const void *)r);
	else if (type == IPCWAIT_RECORD_NAME)
		take_name(p, (const void *)r);
	else if (type == IPCWAIT_RECORD_COST)
		take_cost(p, (const void *)r);
	else if (type == IPCWAIT_RECORD_MAPPING)
		take_mapping(w, p, i, (const void *)r);
}

static int by_begin(const void *a, const void *b)
{
	const struct waits_mapping *p = a, *q = b;

	if (p->begin != q->begin)
		return p->begin < q->begin ? -1 : 1;
	return (p->told > q->told) - (p->told < q->told);
}

static int by_object(const void *a, const void *b)
{
	const struct waits_name *p = a, *q = b;

	if (p->object != q->object)
		return p->object < q->object ? -1 : 1;
	return (p->told > q->told) - (p->told < q->told);
}

/* To look things up in them. */
static void sort_tables(struct waits *w)
{
	for (size_t i = 0; i < w->processes; i++) {
		struct waits_process *p = w->process[i];

		if (p->mappings)
			qsort(p->mapping, p->mappings, sizeof(*p->mapping), by_begin);
		if (p->names)
			qsort(p->name, p->names, sizeof(*p->name), by_object);
	}
}

static bool is_sound(const struct ipcwait_record_head *h, uint64_t bytes)
{
	return h->record_bytes >= sizeof(struct ipcwait_record_wait) &&
	       h->record_bytes % sizeof(uint64_t) == 0 &&
	       h->first_at % sizeof(uint64_t) == 0 && h->first_at >= sizeof(*h) &&
	       h->first_at <= bytes;
}

/* Return: 0, or -EINVAL after one line on stderr. */
static int copy(struct waits *w)
{
	int fd = foreign_file_open(AT_FDCWD, w->path, 0, NULL);

	if (fd < 0 && fd != -EINVAL)
		return complain("cannot read '%s': %s", shown(w->path, -1), strerror(-fd));
	if (fd >= 0) {
		w->head = foreign_file_copy(fd, RECORD_BYTES_MOST, &w->bytes);
		(void)close(fd);
	}
	if (w->head && w->bytes >= sizeof(*w->head))
		return 0;
	foreign_file_free(w->head, w->bytes);
	w->head = NULL;
	return complain("'%s' is no record of waits", shown(w->path, -1));
}

int waits_open(struct waits *w, const char *path)
{
	*w = (struct waits){ .path = path };
	if (copy(w))
		return -EINVAL;
	if (w->head->magic != IPCWAIT_RECORD_MAGIC ||
	    w->head->version != IPCWAIT_RECORD_VERSION || !is_sound(w->head, w->bytes)) {
		complain("'%s' is %s", shown(path, -1),
			 w->head->magic != IPCWAIT_RECORD_MAGIC ? "no record of waits"
			 : w->head->version != IPCWAIT_RECORD_VERSION
				 ? "a record of another version"
				 : "a damaged record of waits");
		waits_close(w);
		return -EINVAL;
	}
	w->lost = w->head->lost;
	if (w->head->stopped && w->head->stopped < INT_MAX)
		w->stopped = strerror((int)w->head->stopped);
	for (uint64_t i = 0, n = records(w); i < n; i++)
		take(w, i);
	sort_tables(w);
	return 0;
}

static void free_nothing(void *node)
{
	(void)node;
}

void waits_close(struct waits *w)
{
	for (size_t i = 0; i < w->processes; i++) {
		struct waits_process *p = w->process[i];

		for (unsigned k = 0; k < p->mappings; k++)
			free(p->mapping[k].path);
		free(p->mapping);
		free(p->name);
		free(p);
	}
	tdestroy(w->last, free_nothing);
	free(w->process);
	free(w->wait);
	foreign_file_free(w->head, w->bytes);
	*w = (struct waits){ .path = NULL };
}

int waits_take_file(const char **file, const char *text, unsigned i)
{
	if (i)
		return refuse("more than one file: '%s'", shown(text, -1));
	*file = text;
	return *text ? 0 : refuse("the file is '', but must be a path");
}

bool waits_is_record(const char *path)
{
	int fd = foreign_file_open(AT_FDCWD, path, 0, NULL);
	uint64_t magic = 0;
	bool is = fd >= 0 && read(fd, &magic, sizeof(magic)) == sizeof(magic) &&
		  magic == IPCWAIT_RECORD_MAGIC;

	if (fd >= 0)
		(void)close(fd);
	return is;
}

/* The number of the first of @n sorted things of @size bytes that come behind @key. */
static unsigned first_behind(const void *key, const void *all, unsigned n, size_t size,
			     int (*compare)(const void *a, const void *b))
{
	unsigned first = 0;

	while (n) {
		unsigned half = n / 2;

		if (compare((const char *)all + (first + half) * size, key) > 0) {
			n = half;
		} else {
			first += half + 1;
			n -= half + 1;
		}
	}
	return first;
}

/* A name that was given later is the one that counts; "" takes it away. */
static const char *find_name(const struct waits_process *p, uint64_t object)
{
	const struct waits_name key = { .object = object, .told = UINT_MAX };

	for (unsigned k = 0; p && k < GENERATIONS_MOST; k++, p = p->parent) {
		unsigned i = first_behind(&key, p->name, p->names, sizeof(key), by_object);

		if (i && p->name[i - 1].object == object)
			return p->name[i - 1].name;
	}
	return "";
}

bool waits_name_of(const struct waits_process *p, uint64_t object,
		   char name[WAITS_NAME_BYTES])
{
	(void)snprintf(name, WAITS_NAME_BYTES, "%.*s", IPCWAIT_RECORD_NAME_BYTES,
		       find_name(p, object));
	info_make_printable(name);
	return name[0] != '\0';
}

/* Of those that hold the address the one that was told of last. */
static const struct waits_mapping *mapping_of(const struct waits_process *p,
					      uint64_t address)
{
	const struct waits_mapping key = { .begin = address, .told = UINT_MAX };
	unsigned i = first_behind(&key, p->mapping, p->mappings, sizeof(key), by_begin);
	const struct waits_mapping *found = NULL;

	for (unsigned k = 0; i && k < OVERLAPPING_MOST; k++) {
		const struct waits_mapping *m = &p->mapping[--i];

		if (address < m->end && (!found || m->told > found->told))
			found = m;
	}
	return found;
}

static const struct waits_mapping *find_mapping(const struct waits_process *p,
						uint64_t address)
{
	const struct waits_mapping *found = NULL;

	for (unsigned k = 0; !found && p && k < GENERATIONS_MOST; k++, p = p->parent)
		found = mapping_of(p, address);
	return found;
}

void waits_place(const struct waits_process *p, uint64_t address, char *text, size_t size)
{
	const struct waits_mapping *m = find_mapping(p, address);

	if (m)
		symbol_in(m->path, address - m->begin + m->offset, text, size);
	else
		(void)snprintf(text, size, "0x%" PRIx64, address);
	info_make_printable(text);
}

uint64_t waits_length_ns(const struct ipcwait_record_wait *w)
{
	return w->known ? w->length_ns : (uint64_t)w->spun_ns + w->slept_ns;
}

uint64_t waits_own_ns(const struct ipcwait_record_wait *w)
{
	if (w->length_ns > w->caused_ns)
		return w->length_ns - w->caused_ns;
	return w->length_ns != 0;
}
