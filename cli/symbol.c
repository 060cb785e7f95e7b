/* SPDX-License-Identifier: MIT */
#include "symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Part of a file as a process has mapped it. */
struct mapping {
	uint64_t begin, end, offset;
	char path[PATH_MAX];
};

/* A file in the memory of this process. */
struct image {
	const unsigned char *bytes;
	uint64_t size;
};

static bool find_mapping(pid_t pid, uint64_t address, struct mapping *m)
{
	char path[32], line[PATH_MAX + 128];
	bool found = false;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		m->path[0] = '\0';
		/* NOLINTNEXTLINE(cert-err34-c): the kernel has written it */
		found = sscanf(line,
			       "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %[^\n]",
			       &m->begin, &m->end, &m->offset, m->path) >= 3 &&
			m->begin <= address && address < m->end;
	}
	if (f)
		(void)fclose(f);
	return found && m->path[0] == '/';
}

static bool open_image(const char *path, struct image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	void *p = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	*image = (struct image){ p, (uint64_t)st.st_size };
	return p != MAP_FAILED;
}

/* The file as the process sees it, be it in another root, or removed since. */
static bool open_mapped(pid_t pid, const struct mapping *m, struct image *image)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/proc/%ld/map_files/%" PRIx64 "-%" PRIx64,
		       (long)pid, m->begin, m->end);
	return open_image(path, image) || open_image(m->path, image);
}

/* @n things of @size bytes at @offset; NULL: the file has not as many. */
static const void *part(const struct image *image, uint64_t offset, uint64_t n,
			uint64_t size)
{
	if (offset > image->size || offset % 8 || n > (image->size - offset) / size)
		return NULL;
	return image->bytes + offset;
}

static const Elf64_Ehdr *header(const struct image *image)
{
	const Elf64_Ehdr *e = part(image, 0, 1, sizeof(*e));

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_ident[EI_DATA] != ELFDATA2LSB ||
	    e->e_phentsize != sizeof(Elf64_Phdr) || e->e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	return e;
}

/* What the file itself calls the place @offset in it. */
static bool link_address(const struct image *image, const Elf64_Ehdr *e, uint64_t offset,
			 uint64_t *address)
{
	const Elf64_Phdr *p = part(image, e->e_phoff, e->e_phnum, sizeof(*p));

	for (unsigned i = 0; p && i < e->e_phnum; i++) {
		if (p[i].p_type == PT_LOAD && p[i].p_offset <= offset &&
		    offset - p[i].p_offset < p[i].p_filesz) {
			*address = p[i].p_vaddr + (offset - p[i].p_offset);
			return true;
		}
	}
	return false;
}

static const char *name_of(const struct image *image, const Elf64_Shdr *texts,
			   uint32_t name)
{
	if (texts->sh_type != SHT_STRTAB || texts->sh_offset > image->size ||
	    texts->sh_size > image->size - texts->sh_offset || name >= texts->sh_size ||
	    !memchr(image->bytes + texts->sh_offset + name, 0, texts->sh_size - name))
		return NULL;
	return (const char *)image->bytes + texts->sh_offset + name;
}

/* The function of one table of symbols that @address lies in; NULL: none does. */
static const char *look_up(const struct image *image, const Elf64_Shdr *table,
			   const Elf64_Shdr *texts, uint64_t address, uint64_t *into)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym);
	const Elf64_Sym *s = part(image, table->sh_offset, n, sizeof(*s));

	for (uint64_t i = 0; s && i < n; i++) {
		if (ELF64_ST_TYPE(s[i].st_info) != STT_FUNC || address < s[i].st_value ||
		    address - s[i].st_value >= s[i].st_size)
			continue;
		*into = address - s[i].st_value;
		return name_of(image, texts, s[i].st_name);
	}
	return NULL;
}

static const char *function_at(const struct image *image, const Elf64_Ehdr *e,
			       uint64_t address, uint64_t *into)
{
	const Elf64_Shdr *s = part(image, e->e_shoff, e->e_shnum, sizeof(*s));
	const char *name = NULL;

	for (unsigned i = 0; s && !name && i < e->e_shnum; i++)
		if ((s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_DYNSYM) &&
		    s[i].sh_link < e->e_shnum)
			name = look_up(image, &s[i], &s[s[i].sh_link], address, into);
	return name;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void describe(const struct image *image, const char *path, uint64_t offset,
		     char *text, size_t size)
{
	const Elf64_Ehdr *e = header(image);
	const char *file = last_part(path), *name = NULL;
	uint64_t address = offset, into = 0;

	if (e && link_address(image, e, offset, &address))
		name = function_at(image, e, address, &into);
	if (name)
		(void)snprintf(text, size, "%s:%s+0x%" PRIx64, file, name, into);
	else
		(void)snprintf(text, size, "%s+0x%" PRIx64, file, address);
}

void symbol_of(pid_t pid, uint64_t address, char *text, size_t size)
{
	struct mapping m;
	struct image image;

	if (!find_mapping(pid, address, &m)) {
		(void)snprintf(text, size, "0x%" PRIx64, address);
		return;
	}
	if (!open_mapped(pid, &m, &image)) {
		(void)snprintf(text, size, "%s+0x%" PRIx64, last_part(m.path),
			       address - m.begin + m.offset);
		return;
	}
	describe(&image, m.path, address - m.begin + m.offset, text, size);
	(void)munmap((void *)image.bytes, image.size);
}

void symbol_in(const char *path, uint64_t offset, char *text, size_t size)
{
	struct image image;

	if (!open_image(path, &image)) {
		(void)snprintf(text, size, "%s+0x%" PRIx64, last_part(path), offset);
		return;
	}
	describe(&image, path, offset, text, size);
	(void)munmap((void *)image.bytes, image.size);
}
