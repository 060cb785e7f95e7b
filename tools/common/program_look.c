/* SPDX-License-Identifier: MIT */
#include "program_look.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A sound program has a dozen segments, and some 40 entries for the loader. */
#define SEGMENTS_MOST 32
#define ENTRIES_MOST  512

/* Entries that are read at a time. */
#define CHUNK 16

/* The longest beginning of a name below, with its end. */
#define NAME_BYTES 32

struct segments {
	unsigned n;
	Elf64_Phdr segment[SEGMENTS_MOST];
};

/* Where the file has what the loader needs. */
struct places {
	uint64_t entries_at, entries;
	uint64_t names_at; /* 0: not known */
};

static bool is_sanitizer(const char *library)
{
	static const char *const names[] = { "libasan.", "libhwasan.", "libclang_rt.asan",
					     "libclang_rt.hwasan" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(library, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* LD_PRELOAD, @chain, has a sanitizer's library that wants to be loaded first. */
static bool has_sanitizer(const char *chain)
{
	const char *name = chain;

	for (const char *at = chain; *at; at++) {
		if (strchr("/ :", *at))
			name = at + 1;
		else if (at == name && is_sanitizer(name))
			return true;
	}
	return false;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Two C libraries of one name may lie in different folders, as Nix and Guix have them, and one in
 * two, where a folder is a link.
 */
static bool is_same_loader(const char *a, const char *b)
{
	struct stat of_a, of_b;

	if (strcmp(a, b) == 0)
		return true;
	if (strcmp(base_of(a), base_of(b)) != 0)
		return false;
	return stat(a, &of_a) != 0 || stat(b, &of_b) != 0 ||
	       (of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

enum program_fit program_fits(const struct program_look *l, const struct program_world *own,
			      const char *chain)
{
	if (l->class != own->class)
		return PROGRAM_OF_OTHER_CLASS;
	if (l->machine != own->machine || l->data != own->data)
		return PROGRAM_OF_OTHER_CPU;
	if (!l->interpreter[0])
		return PROGRAM_IS_STATIC;
	if (own->loader[0] && !is_same_loader(l->interpreter, own->loader))
		return PROGRAM_OF_OTHER_LIBC;
	return l->sanitized || (chain && has_sanitizer(chain)) ? PROGRAM_IS_SANITIZED
							       : PROGRAM_FITS;
}

static void read_segments(struct segments *s, int fd, const Elf64_Ehdr *head)
{
	size_t n = head->e_phnum < SEGMENTS_MOST ? head->e_phnum : SEGMENTS_MOST;
	ssize_t bytes =
		pread(fd, s->segment, n * sizeof(s->segment[0]), (off_t)head->e_phoff);

	s->n = bytes < 0 ? 0 : (unsigned)((size_t)bytes / sizeof(s->segment[0]));
}

/* Its end counts: what comes before the name is a folder. */
static void read_loader(struct program_look *l, int fd, const Elf64_Phdr *segment)
{
	const uint64_t room = sizeof(l->interpreter) - 1;
	uint64_t cut = segment->p_filesz > room ? segment->p_filesz - room : 0;

	(void)!pread(fd, l->interpreter, segment->p_filesz - cut,
		     (off_t)(segment->p_offset + cut));
}

/* Where the address @address is in the file; 0: nowhere. */
static uint64_t place_of(const struct segments *all, uint64_t address)
{
	for (unsigned i = 0; i < all->n; i++) {
		const Elf64_Phdr *s = &all->segment[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
		    address - s->p_vaddr < s->p_filesz)
			return s->p_offset + (address - s->p_vaddr);
	}
	return 0;
}

static bool is_sanitizers_entry(int fd, const struct places *p, const Elf64_Dyn *entry)
{
	char name[NAME_BYTES + 1] = "";

	return entry->d_tag == DT_NEEDED &&
	       pread(fd, name, NAME_BYTES, (off_t)(p->names_at + entry->d_un.d_val)) > 0 &&
	       is_sanitizer(name);
}

/*
 * Looks through the entries for the loader: for where the names of libraries are, as long as that
 * is not known, and then for a sanitizer's. True if it was found.
 */
static bool look_through_entries(struct places *p, int fd, const struct segments *all)
{
	bool named = p->names_at;
	Elf64_Dyn entry[CHUNK];

	for (uint64_t i = 0; i < p->entries && i < ENTRIES_MOST; i++) {
		const Elf64_Dyn *e = &entry[i % CHUNK];
		off_t at = (off_t)(p->entries_at + i * sizeof(*e));

		if (i % CHUNK == 0) {
			memset(entry, 0, sizeof(entry));
			if (pread(fd, entry, sizeof(entry), at) < (ssize_t)sizeof(*e))
				return false;
		}
		if (e->d_tag == DT_NULL)
			return false;
		if (!named && e->d_tag == DT_STRTAB) {
			p->names_at = place_of(all, e->d_un.d_ptr);
			return p->names_at;
		}
		if (named && is_sanitizers_entry(fd, p, e))
			return true;
	}
	return false;
}

static void look_at_segments(struct program_look *l, int fd, const Elf64_Ehdr *head)
{
	struct places p = { 0 };
	struct segments all;

	read_segments(&all, fd, head);
	for (unsigned i = 0; i < all.n; i++) {
		const Elf64_Phdr *s = &all.segment[i];

		if (s->p_type == PT_INTERP)
			read_loader(l, fd, s);
		if (s->p_type == PT_DYNAMIC) {
			p.entries_at = s->p_offset;
			p.entries = s->p_filesz / sizeof(Elf64_Dyn);
		}
	}
	if (l->interpreter[0] && look_through_entries(&p, fd, &all))
		l->sanitized = look_through_entries(&p, fd, &all);
}

static void look_at_elf(struct program_look *l, int fd, const Elf64_Ehdr *head)
{
	l->elf = true;
	l->class = head->e_ident[EI_CLASS];
	l->data = head->e_ident[EI_DATA];
	l->type = head->e_type;
	l->machine = head->e_machine;
	if (l->class == ELFCLASS64 && head->e_phentsize == sizeof(Elf64_Phdr))
		look_at_segments(l, fd, head);
}

/* "#! /bin/sh -e": the first word. */
static void look_at_script(struct program_look *l, const char *text)
{
	const char *word = text + strspn(text, " \t");
	size_t length = strcspn(word, " \t\n");

	l->script = length > 0;
	memcpy(l->interpreter, word, length);
}

static bool read_program(struct program_look *l, int fd)
{
	union {
		char text[PROGRAM_PATH_BYTES + 1];
		Elf64_Ehdr elf;
	} head = { { 0 } };
	ssize_t n = pread(fd, head.text, PROGRAM_PATH_BYTES, 0);

	memset(l, 0, sizeof(*l));
	if (n >= (ssize_t)sizeof(head.elf) && !memcmp(head.text, ELFMAG, SELFMAG))
		look_at_elf(l, fd, &head.elf);
	else if (n > 2 && !memcmp(head.text, "#!", 2))
		look_at_script(l, head.text + 2);
	return n >= 0;
}

/* A descriptor with O_PATH is no open file yet. */
static int open_anew(int fd)
{
	char path[32] = "/proc/self/fd/", digits[16];
	unsigned n = 0, at = (unsigned)strlen(path);

	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	while (n)
		path[at++] = digits[--n];
	path[at] = '\0';
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool program_look_at(struct program_look *l, int fd)
{
	struct stat st;
	bool known;

	if (read_program(l, fd))
		return true;
	/* To open a device may be to do something. */
	if (errno != EBADF || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	fd = open_anew(fd);
	known = fd >= 0 && read_program(l, fd);
	if (fd >= 0)
		(void)close(fd);
	return known;
}

_Static_assert(PROGRAM_HERE == AT_FDCWD, "the kernel's");

bool program_look(struct program_look *l, const char *path)
{
	return program_look_in(l, PROGRAM_HERE, path);
}

bool program_look_in(struct program_look *l, int folder, const char *path)
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool known = fd >= 0 && program_look_at(l, fd);

	if (fd >= 0)
		(void)close(fd);
	return known;
}

bool program_look_on(struct program_look *l)
{
	for (int i = 1; i < PROGRAM_SCRIPTS_MOST && l->script; i++) {
		char path[PROGRAM_PATH_BYTES];

		memcpy(path, l->interpreter, sizeof(path));
		if (!program_look(l, path))
			return false;
	}
	return true;
}
