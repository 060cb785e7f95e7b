/* SPDX-License-Identifier: MIT */
#include "waits.h"
#include "info.h"
#include "symbol.h"
#include "../tools/common/complain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer paths are not written: lib/watch/record_begin.c. */
#define PATH_MOST 1024

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

/* The last one with that number; NULL: the record does not tell of it. */
static struct waits_process *process_of(const struct waits *w, uint32_t pid)
{
	struct waits_process *p = w->last[pid % WAITS_LASTS];

	while (p && p->pid != pid)
		p = p->before;
	return p;
}

static struct waits_process *begin_process(struct waits *w, uint32_t pid)
{
	struct waits_process *p = calloc(1, sizeof(*p));

	if (!p)
		give_up("no memory");
	p->pid = pid;
	p->index = w->processes;
	p->first = p;
	p->before = w->last[pid % WAITS_LASTS];
	w->last[pid % WAITS_LASTS] = p;
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
	p->name[p->names++] = (struct waits_name){ r->object, r->name };
}

/* Texts that are not complete, or of somebody else, end a path. */
static void take_mapping(const struct waits *w, struct waits_process *p, uint64_t i,
			 const struct ipcwait_record_mapping *r)
{
	size_t length = r->length < PATH_MOST ? r->length : PATH_MOST, n = 0;
	char *path = calloc(1, length + 1);
	uint64_t end = records(w);

	if (!path)
		give_up("no memory");
	while (n < length && ++i < end) {
		const struct ipcwait_record_text *t = record_at(w, i);
		size_t more = length - n < sizeof(t->text) ? length - n : sizeof(t->text);

		if (ipcwait_impl_record_type(t) != IPCWAIT_RECORD_TEXT || t->pid != p->pid)
			break;
		memcpy(path + n, t->text, more);
		n += more;
	}
	p->mapping = grow(p->mapping, p->mappings, sizeof(*p->mapping));
	p->mapping[p->mappings++] =
		(struct waits_mapping){ r->begin, r->end, r->offset, path };
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

static bool is_sound(const struct ipcwait_record_head *h, uint64_t bytes)
{
	return h->record_bytes >= sizeof(struct ipcwait_record_wait) &&
	       h->record_bytes % sizeof(uint64_t) == 0 &&
	       h->first_at % sizeof(uint64_t) == 0 && h->first_at >= sizeof(*h) &&
	       h->first_at <= bytes;
}

/* Return: its size, or -EINVAL after one line on stderr. */
static int64_t map(struct waits *w)
{
	int fd = open(w->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	void *p = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return complain("cannot read '%s': %s", shown(w->path, -1),
				strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size >= (off_t)sizeof(*w->head))
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (p == MAP_FAILED)
		return complain("'%s' is no record of waits", shown(w->path, -1));
	w->head = p;
	w->bytes = (size_t)st.st_size;
	return 0;
}

int waits_open(struct waits *w, const char *path)
{
	*w = (struct waits){ .path = path };
	if (map(w))
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
	return 0;
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
	free(w->process);
	free(w->wait);
	if (w->head)
		(void)munmap((void *)w->head, w->bytes);
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
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uint64_t magic = 0;
	bool is = fd >= 0 && read(fd, &magic, sizeof(magic)) == sizeof(magic) &&
		  magic == IPCWAIT_RECORD_MAGIC;

	if (fd >= 0)
		(void)close(fd);
	return is;
}

/* A name that was given later is the one that counts; "" takes it away. */
static const char *find_name(const struct waits_process *p, uint64_t object)
{
	for (; p; p = p->parent)
		for (unsigned i = p->names; i-- > 0;)
			if (p->name[i].object == object)
				return p->name[i].name;
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

static const struct waits_mapping *find_mapping(const struct waits_process *p,
						uint64_t address)
{
	for (; p; p = p->parent)
		for (unsigned i = p->mappings; i-- > 0;)
			if (p->mapping[i].begin <= address && address < p->mapping[i].end)
				return &p->mapping[i];
	return NULL;
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
