/* SPDX-License-Identifier: MIT */
#include "elf_place.h"

#include <elf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A sound program has a dozen. */
#define SEGMENTS_MOST 128

/* The largest browser's file with all its symbols has 3 million. */
#define SYMBOLS_MOST (UINT64_C(1) << 22)

/* How many are read at a time: 4 and 48 KiB. */
#define SECTIONS 64
#define SYMBOLS  2048

/* Up to @n things of @size bytes at @offset. Return: how many there are. */
static uint64_t read_things(int fd, void *to, uint64_t offset, uint64_t n, uint64_t size)
{
	ssize_t got;

	if (offset > INT64_MAX - n * size)
		return 0;
	got = pread(fd, to, n * size, (off_t)offset);
	return got > 0 ? (uint64_t)got / size : 0;
}

static bool read_head(int fd, Elf64_Ehdr *head)
{
	const unsigned char order =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	return read_things(fd, head, 0, 1, sizeof(*head)) == 1 &&
	       !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == order &&
	       head->e_phentsize == sizeof(Elf64_Phdr) &&
	       head->e_shentsize == sizeof(Elf64_Shdr);
}

static bool find_address(int fd, const Elf64_Ehdr *head, uint64_t offset, uint64_t *address)
{
	Elf64_Phdr p[SEGMENTS_MOST];
	uint64_t n = head->e_phnum < SEGMENTS_MOST ? head->e_phnum : SEGMENTS_MOST;

	n = read_things(fd, p, head->e_phoff, n, sizeof(*p));
	for (uint64_t i = 0; i < n; i++) {
		if (p[i].p_type == PT_LOAD && p[i].p_offset <= offset &&
		    offset - p[i].p_offset < p[i].p_filesz) {
			*address = p[i].p_vaddr + (offset - p[i].p_offset);
			return true;
		}
	}
	return false;
}

static bool section_at(int fd, const Elf64_Ehdr *head, uint64_t i, Elf64_Shdr *section)
{
	return i < head->e_shnum && head->e_shoff <= INT64_MAX &&
	       read_things(fd, section, head->e_shoff + i * sizeof(*section), 1,
			   sizeof(*section)) == 1;
}

/* The first section of that type: a file has one at most. */
static bool find_section(int fd, const Elf64_Ehdr *head, uint32_t type, Elf64_Shdr *found)
{
	Elf64_Shdr s[SECTIONS];

	for (uint64_t i = 0; i < head->e_shnum && head->e_shoff <= INT64_MAX;) {
		uint64_t left = head->e_shnum - i;
		uint64_t n = read_things(fd, s, head->e_shoff + i * sizeof(*s),
					 left < SECTIONS ? left : SECTIONS, sizeof(*s));

		if (!n)
			return false;
		for (uint64_t k = 0; k < n; k++) {
			if (s[k].sh_type == type) {
				*found = s[k];
				return true;
			}
		}
		i += n;
	}
	return false;
}

/* The function that @address lies in. */
static bool find_symbol(int fd, const Elf64_Shdr *table, uint64_t address, Elf64_Sym *found)
{
	uint64_t all = table->sh_size / sizeof(Elf64_Sym), left;
	Elf64_Sym s[SYMBOLS];
	uint64_t at = table->sh_offset, n;

	for (left = all < SYMBOLS_MOST ? all : SYMBOLS_MOST; left; left -= n) {
		n = read_things(fd, s, at, left < SYMBOLS ? left : SYMBOLS, sizeof(*s));
		if (!n)
			return false;
		for (uint64_t i = 0; i < n; i++) {
			if (ELF64_ST_TYPE(s[i].st_info) == STT_FUNC &&
			    address >= s[i].st_value &&
			    address - s[i].st_value < s[i].st_size) {
				*found = s[i];
				return true;
			}
		}
		at += n * sizeof(*s);
	}
	return false;
}

/* What does not fit is cut. */
static void read_name(int fd, const Elf64_Shdr *texts, uint32_t at,
		      char name[ELF_NAME_BYTES])
{
	uint64_t left = texts->sh_type == SHT_STRTAB && at < texts->sh_size
				? texts->sh_size - at
				: 0;
	uint64_t most = left < ELF_NAME_BYTES - 1 ? left : ELF_NAME_BYTES - 1;

	if (texts->sh_offset <= INT64_MAX - UINT32_MAX)
		name[read_things(fd, name, texts->sh_offset + at, most, 1)] = '\0';
	/* A name that does not end in its table is none. */
	if (left == most && !memchr(name, 0, most))
		name[0] = '\0';
}

static bool find_function(int fd, const Elf64_Ehdr *head, uint32_t type,
			  struct elf_place *place)
{
	Elf64_Shdr table, texts;
	Elf64_Sym symbol;

	if (!find_section(fd, head, type, &table) ||
	    !find_symbol(fd, &table, place->address, &symbol) ||
	    !section_at(fd, head, table.sh_link, &texts))
		return false;
	place->into = place->address - symbol.st_value;
	read_name(fd, &texts, symbol.st_name, place->function);
	return place->function[0] != '\0';
}

bool elf_place_find(int fd, uint64_t offset, struct elf_place *place)
{
	Elf64_Ehdr head;

	*place = (struct elf_place){ .address = offset };
	if (!read_head(fd, &head) || !find_address(fd, &head, offset, &place->address))
		return false;
	if (!find_function(fd, &head, SHT_SYMTAB, place))
		(void)find_function(fd, &head, SHT_DYNSYM, place);
	return true;
}
