/* SPDX-License-Identifier: MIT */
#include "pages.h"
#include "../tools/common/complain.h"
#include "../tools/common/foreign_file.h"
#include "../tools/common/number.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Ten times what the library makes, with room for more kinds and rows. */
#define MOST_BYTES (UINT64_C(4) << 20)
#define ROWS_MOST  4096

/* Of a user: pages of living processes, and files in the folder. */
#define PAGES_MOST 1024
#define FILES_MOST 65536

/* Of one process. */
#define KEPT_MOST 64

#define PARENT       "/dev/shm"
#define FOLDER_BEGIN "ipcwait-"

#define WORD sizeof(uint64_t)

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
					h->reasons_at, h->moves };
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

	return bytes >= sizeof(*h) && h->magic == IPCWAIT_PAGE_MAGIC &&
	       h->version == IPCWAIT_PAGE_VERSION && h->bytes == bytes &&
	       h->rows <= ROWS_MOST && is_text(h->program) && is_text(h->library) &&
	       h->counters_at % WORD == 0 && h->counters_at <= bytes &&
	       counters_fit(&shape, bytes - h->counters_at) && h->row_bytes % WORD == 0 &&
	       h->row_bytes >= sizeof(struct ipcwait_page_row) &&
	       table_fits(h, h->objects_at) && table_fits(h, h->call_sites_at);
}

bool page_read(struct page *page)
{
	size_t bytes = 0;
	struct ipcwait_page_head *copy = foreign_file_copy(page->fd, MOST_BYTES, &bytes);

	/* The name of the file says whose it is. */
	if (!copy || !is_sound(copy, bytes) || copy->pid != (uint32_t)page->pid) {
		foreign_file_free(copy, bytes);
		return false;
	}
	foreign_file_free(page->head, page->bytes);
	page->head = copy;
	page->bytes = bytes;
	page->shape = shape_of(copy);
	return true;
}

bool page_lives(const struct page *page)
{
	return is_locked(page->fd);
}

void page_close(struct page *page)
{
	foreign_file_free(page->head, page->bytes);
	(void)close(page->fd);
}

/* "123" and "123.1" are of process 123. 0: such a file is none of ours. */
static pid_t pid_of(const char *name)
{
	size_t length = strspn(name, "0123456789");
	char digits[NAME_MAX + 1];
	uint64_t pid;

	(void)snprintf(digits, sizeof(digits), "%.*s", (int)length, name);
	if (number_parse(digits, 1, INT32_MAX, &pid))
		return 0;
	name += length;
	if (*name == '.' && name[1])
		name += 1 + strspn(name + 1, "0123456789");
	return *name ? 0 : (pid_t)pid;
}

/* The pages of a user. */
struct folder {
	int fd;
	uid_t uid;
};

struct visit {
	pid_t pid; /* 0: all */
	bool (*take)(void *arg, const struct page *page);
	void *arg;
	unsigned refused;
	unsigned living; /* pages in this folder */
};

static void take_page(struct visit *v, const struct folder *folder, struct page *page,
		      const struct stat *st)
{
	bool sound = st->st_uid == folder->uid && page_read(page);

	v->living++;
	v->refused += !sound;
	if (!sound || !v->take(v->arg, page))
		page_close(page);
}

/*
 * What a dead process has left. Only with the lock, which a new process of that number takes too
 * before it removes the file, and only if the name is still this file's.
 */
static void remove_stale(const struct folder *folder, const char *name, int fd,
			 const struct stat *st)
{
	struct flock lock = { .l_type = F_RDLCK,
			      .l_whence = SEEK_SET,
			      .l_start = IPCWAIT_PAGE_LOCK,
			      .l_len = 1 };
	struct stat now;

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0 &&
	    fstatat(folder->fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_dev == st->st_dev && now.st_ino == st->st_ino)
		(void)unlinkat(folder->fd, name, 0);
}

static void look_at(struct visit *v, const struct folder *folder, const char *name,
		    pid_t pid)
{
	struct stat st;
	int fd = foreign_file_open(folder->fd, name, O_NOFOLLOW, &st);
	struct page page = { .fd = fd, .pid = pid, .uid = folder->uid };

	if (fd < 0)
		return;
	if (is_locked(fd)) {
		take_page(v, folder, &page, &st);
		return;
	}
	remove_stale(folder, name, fd, &st);
	(void)close(fd);
}

static void look_into(struct visit *v, const struct folder *folder)
{
	DIR *d = fdopendir(folder->fd);
	const struct dirent *e;

	if (!d) {
		(void)close(folder->fd);
		return;
	}
	v->living = 0;
	for (unsigned n = 0; n < FILES_MOST && v->living < PAGES_MOST; n++) {
		pid_t pid;

		e = readdir(d);
		if (!e)
			break;
		pid = pid_of(e->d_name);
		if (pid && (!v->pid || v->pid == pid))
			look_at(v, folder, e->d_name, pid);
	}
	(void)closedir(d);
}

/* Anybody can make a folder that is called like another user's. */
static void look_into_folder_of(struct visit *v, uid_t uid)
{
	struct folder folder = { .uid = uid };
	struct stat st;
	char path[64];

	(void)snprintf(path, sizeof(path), IPCWAIT_PAGE_FOLDER, uid);
	folder.fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder.fd < 0)
		return;
	if (fstat(folder.fd, &st) == 0 && st.st_uid == uid)
		look_into(v, &folder);
	else
		(void)close(folder.fd);
}

/* Each user has one folder: a number with zeros in front is none. */
static bool is_folder(const char *name, uid_t *uid)
{
	const char *number = name + sizeof(FOLDER_BEGIN) - 1;
	uint64_t n;

	if (strncmp(name, FOLDER_BEGIN, sizeof(FOLDER_BEGIN) - 1) != 0 ||
	    number_parse(number, 0, UINT32_MAX, &n) || (number[0] == '0' && number[1]))
		return false;
	*uid = (uid_t)n;
	return true;
}

static void look_everywhere(struct visit *v)
{
	DIR *d = opendir(PARENT);
	const struct dirent *e;
	uid_t uid;

	while (d && (e = readdir(d)))
		if (is_folder(e->d_name, &uid))
			look_into_folder_of(v, uid);
	if (d)
		(void)closedir(d);
}

static unsigned visit(struct visit *v)
{
	if (geteuid() == 0)
		look_everywhere(v);
	else
		look_into_folder_of(v, geteuid());
	return v->refused;
}

unsigned pages_visit(bool (*take)(void *arg, const struct page *page), void *arg)
{
	return visit(&(struct visit){ .take = take, .arg = arg });
}

/* Whose process it is; false: there is none with that number here. */
static bool find_owner(pid_t pid, uid_t *uid)
{
	char path[32], line[128];
	bool found = false;
	unsigned effective;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	/* NOLINTNEXTLINE(cert-err34-c): the kernel has written it */
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Uid: %*u %u", &effective) == 1;
	if (f)
		(void)fclose(f);
	if (found)
		*uid = (uid_t)effective;
	return found;
}

struct keeper {
	struct pages *pages;
	uid_t owner;
	bool known;
};

/* A process that has given up its rights has the page of the user who it was. */
static bool keep(void *arg, const struct page *page)
{
	struct keeper *k = arg;
	struct pages *p = k->pages;

	if (!k->known)
		k->owner = page->uid;
	k->known = true;
	if (p->n == KEPT_MOST || (page->uid != k->owner && page->uid != geteuid()))
		return false;
	p->page[p->n++] = *page;
	return true;
}

void pages_open(struct pages *p, pid_t pid)
{
	struct keeper k = { .pages = p };
	struct visit v = { .pid = pid, .take = keep, .arg = &k };

	*p = (struct pages){ .page = calloc(KEPT_MOST, sizeof(*p->page)) };
	if (!p->page)
		give_up("no memory");
	k.known = find_owner(pid, &k.owner);
	p->refused = visit(&v);
}

void pages_close(struct pages *p)
{
	for (unsigned i = 0; i < p->n; i++)
		page_close(&p->page[i]);
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
