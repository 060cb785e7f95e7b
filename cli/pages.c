/* SPDX-License-Identifier: MIT */
#include "pages.h"
#include "../tools/common/complain.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES (UINT64_C(64) << 20)
#define WORD       sizeof(uint64_t)

static bool is_locked(int fd)
{
	struct flock lock = { .l_type = F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = IPCWAIT_PAGE_LOCK,
			      .l_len = 1 };

	return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static struct counters_shape shape_of(const struct ipcwait_page_head *h)
{
	return (struct counters_shape){ h->shards,     h->shard_bytes, h->kinds,
					h->kind_bytes, h->events,      h->reasons,
					h->reasons_at };
}

static bool table_fits(const struct ipcwait_page_head *h, uint64_t at)
{
	uint64_t bytes = (uint64_t)h->rows * h->row_bytes + WORD;

	return at % WORD == 0 && at <= h->bytes && bytes <= h->bytes - at;
}

static bool is_text(const char text[IPCWAIT_PAGE_NAME_BYTES])
{
	return memchr(text, 0, IPCWAIT_PAGE_NAME_BYTES) != NULL;
}

/* Any process of the user may have written it. */
static bool is_sound(const struct ipcwait_page_head *h, uint64_t bytes)
{
	const struct counters_shape shape = shape_of(h);

	return h->magic == IPCWAIT_PAGE_MAGIC && h->version == IPCWAIT_PAGE_VERSION &&
	       h->bytes == bytes && is_text(h->program) && is_text(h->library) &&
	       h->counters_at % WORD == 0 && h->counters_at <= bytes &&
	       counters_fit(&shape, bytes - h->counters_at) && h->row_bytes % WORD == 0 &&
	       h->row_bytes >= sizeof(struct ipcwait_page_row) &&
	       table_fits(h, h->objects_at) && table_fits(h, h->call_sites_at);
}

/* NULL: it is no page that this program understands. */
static struct ipcwait_page_head *read_file(int fd)
{
	struct ipcwait_page_head *copy;
	struct stat st;
	size_t bytes;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(*copy) || (uint64_t)st.st_size > MOST_BYTES)
		return NULL;
	bytes = (size_t)st.st_size;
	copy = malloc(bytes);
	if (!copy)
		give_up("no memory for a page of %zu bytes", bytes);
	if (pread(fd, copy, bytes, 0) == (ssize_t)bytes && is_sound(copy, bytes))
		return copy;
	free(copy);
	return NULL;
}

bool page_read(struct page *page)
{
	struct ipcwait_page_head *copy = read_file(page->fd);

	if (!copy)
		return false;
	free((void *)page->head);
	page->head = copy;
	page->pid = (pid_t)copy->pid;
	page->shape = shape_of(copy);
	return true;
}

bool page_lives(const struct page *page)
{
	return is_locked(page->fd);
}

static void add(struct pages *p, const struct page *page)
{
	struct page *all = realloc(p->page, (p->n + 1) * sizeof(*all));

	if (!all)
		give_up("no memory");
	p->page = all;
	p->page[p->n++] = *page;
}

/* "123" and "123.1" are of process 123. */
static bool is_of(const char *name, pid_t pid)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%ld", (long)pid);

	return !pid ||
	       (!strncmp(name, text, (size_t)n) && (name[n] == '\0' || name[n] == '.'));
}

static void look_at(struct pages *p, int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct page page = { .fd = fd };

	if (fd < 0)
		return;
	if (!is_locked(fd))
		(void)unlinkat(folder, name, 0);
	else if (!page_read(&page))
		p->refused++;
	else
		add(p, &page);
	if (!page.head)
		(void)close(fd);
}

static void look_into(struct pages *p, const char *path, pid_t pid)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((e = readdir(d)))
		if (e->d_name[0] != '.' && is_of(e->d_name, pid))
			look_at(p, fd, e->d_name);
	(void)closedir(d);
}

static void look_everywhere(struct pages *p, pid_t pid)
{
	static const char parent[] = "/dev/shm", begin[] = "ipcwait-";
	DIR *d = opendir(parent);
	const struct dirent *e;
	char path[PATH_MAX];

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, begin, sizeof(begin) - 1) != 0)
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", parent, e->d_name);
		look_into(p, path, pid);
	}
	if (d)
		(void)closedir(d);
}

static int by_pid(const void *a, const void *b)
{
	const struct page *p = a, *q = b;

	return (p->pid > q->pid) - (p->pid < q->pid);
}

void pages_open(struct pages *p, pid_t pid)
{
	char path[64];

	*p = (struct pages){ .n = 0 };
	(void)snprintf(path, sizeof(path), IPCWAIT_PAGE_FOLDER, geteuid());
	if (geteuid() == 0)
		look_everywhere(p, pid);
	else
		look_into(p, path, pid);
	if (p->n)
		qsort(p->page, p->n, sizeof(*p->page), by_pid);
}

void pages_close(struct pages *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		free((void *)p->page[i].head);
		(void)close(p->page[i].fd);
	}
	free(p->page);
	*p = (struct pages){ .n = 0 };
}

static const void *at(const struct page *page, uint64_t offset)
{
	return (const char *)page->head + offset;
}

void page_add_counters(const struct page *page, struct counters *c)
{
	counters_add(c, &page->shape, at(page, page->head->counters_at));
}

static uint64_t begin_of(const struct page *page, enum page_table table)
{
	return table == PAGE_OBJECTS ? page->head->objects_at : page->head->call_sites_at;
}

const struct ipcwait_page_row *page_row(const struct page *page, enum page_table table,
					unsigned i)
{
	const struct ipcwait_page_head *h = page->head;

	return i < h->rows ? at(page, begin_of(page, table) + (uint64_t)i * h->row_bytes)
			   : NULL;
}

uint64_t page_missed(const struct page *page, enum page_table table)
{
	const struct ipcwait_page_head *h = page->head;
	uint64_t missed;

	memcpy(&missed, at(page, begin_of(page, table) + (uint64_t)h->rows * h->row_bytes),
	       sizeof(missed));
	return missed;
}

uint64_t page_row_spun(const struct ipcwait_page_row *row)
{
	return row->reasons[IPCWAIT_REASON_NONE];
}
