/* SPDX-License-Identifier: MIT */
/* Places in ELF files: this program's own, and files that lie. */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "../cli/elf_place.h"

#define FILE_BYTES (64 << 20)
#define SECTIONS   60000
#define TABLES_AT  4096
#define SYMBOLS_AT (TABLES_AT + 65536 * (int)sizeof(Elf64_Shdr))
#define ADDRESS    0x400000
#define NAME       "a_function"

struct world {
	int fd;
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	Elf64_Shdr section[3];
	Elf64_Sym symbol;
	char names[32];
};

static void put(const struct world *w, const void *what, size_t size, uint64_t at)
{
	assert_int_equal(pwrite(w->fd, what, size, (off_t)at), size);
}

/* As it is in @w. */
static void write_file(const struct world *w)
{
	put(w, &w->head, sizeof(w->head), 0);
	put(w, &w->segment, sizeof(w->segment), w->head.e_phoff);
	put(w, w->section, sizeof(w->section), TABLES_AT);
	put(w, &w->symbol, sizeof(w->symbol), SYMBOLS_AT);
	put(w, w->names, sizeof(w->names), SYMBOLS_AT + sizeof(w->symbol));
}

/* A sound file of one function. */
static int begin(void **state)
{
	static struct world w;

	w = (struct world){ .head = { .e_phentsize = sizeof(Elf64_Phdr),
				      .e_shentsize = sizeof(Elf64_Shdr),
				      .e_phoff = sizeof(Elf64_Ehdr),
				      .e_phnum = 1,
				      .e_shoff = TABLES_AT,
				      .e_shnum = 3 },
			    .segment = { .p_type = PT_LOAD,
					 .p_filesz = FILE_BYTES,
					 .p_vaddr = ADDRESS },
			    .section = { { .sh_type = SHT_NULL },
					 { .sh_type = SHT_SYMTAB,
					   .sh_offset = SYMBOLS_AT,
					   .sh_size = sizeof(Elf64_Sym),
					   .sh_link = 2 },
					 { .sh_type = SHT_STRTAB,
					   .sh_offset = SYMBOLS_AT + sizeof(Elf64_Sym),
					   .sh_size = sizeof(w.names) } },
			    .symbol = { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					.st_value = ADDRESS + 0x10,
					.st_size = 0x20,
					.st_name = 1 },
			    .names = "\0" NAME };
	memcpy(w.head.e_ident, ELFMAG, SELFMAG);
	w.head.e_ident[EI_CLASS] = ELFCLASS64;
	w.head.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	w.fd = memfd_create("elf", MFD_CLOEXEC);
	*state = &w;
	return w.fd < 0 || ftruncate(w.fd, FILE_BYTES) != 0;
}

static int end(void **state)
{
	return close(((struct world *)*state)->fd);
}

static void test_a_function(void **state)
{
	struct world *w = *state;
	struct elf_place p;

	write_file(w);
	assert_true(elf_place_find(w->fd, 0x14, &p));
	assert_string_equal(p.function, NAME);
	assert_int_equal(p.into, 4);
	assert_int_equal(p.address, ADDRESS + 0x14);
	assert_true(elf_place_find(w->fd, 0x30, &p));
	assert_string_equal(p.function, "");
	assert_int_equal(p.address, ADDRESS + 0x30);
}

static void test_the_loaders_table(void **state)
{
	struct world *w = *state;
	struct elf_place p;

	w->section[1].sh_type = SHT_DYNSYM;
	write_file(w);
	assert_true(elf_place_find(w->fd, 0x14, &p));
	assert_string_equal(p.function, NAME);
}

static void test_no_elf(void **state)
{
	struct world *w = *state;
	struct elf_place p;

	assert_false(elf_place_find(w->fd, 0x14, &p));
	assert_int_equal(p.address, 0x14);
	w->head.e_ident[EI_CLASS] = ELFCLASS32;
	write_file(w);
	assert_false(elf_place_find(w->fd, 0x14, &p));
}

/* It is cut, and what has no end is no name. */
static void test_names(void **state)
{
	struct world *w = *state;
	char long_name[2 * ELF_NAME_BYTES];
	struct elf_place p;

	memset(w->names, 'x', sizeof(w->names));
	write_file(w);
	assert_true(elf_place_find(w->fd, 0x14, &p));
	assert_string_equal(p.function, "");
	w->section[2].sh_size = sizeof(long_name);
	memset(long_name, 'y', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	write_file(w);
	put(w, long_name, sizeof(long_name), SYMBOLS_AT + sizeof(Elf64_Sym));
	assert_true(elf_place_find(w->fd, 0x14, &p));
	assert_int_equal(strlen(p.function), ELF_NAME_BYTES - 1);
}

/* 60,000 headers of one table of 2.6 million symbols: to read them all would take half an hour. */
static void test_tables_without_end(void **state)
{
	struct world *w = *state;
	struct elf_place p;

	w->section[1].sh_size = FILE_BYTES - SYMBOLS_AT;
	w->head.e_shnum = SECTIONS;
	write_file(w);
	for (unsigned i = 0; i < SECTIONS; i++)
		put(w, &w->section[1], sizeof(w->section[1]),
		    TABLES_AT + i * sizeof(w->section[1]));
	for (unsigned i = 0; i < 10; i++)
		assert_true(elf_place_find(w->fd, 0x1000, &p));
	assert_string_equal(p.function, "");
}

/* At offsets behind all ends, and such that sums would wrap. */
static void test_offsets(void **state)
{
	static const uint64_t far[] = { FILE_BYTES,       FILE_BYTES - 8, INT64_MAX,
					INT64_MAX - 4096, UINT64_MAX,     UINT64_MAX - 63 };
	struct world *w = *state;
	const struct world sound = *w;
	struct elf_place p;

	for (unsigned i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		for (unsigned k = 0; k < 5; k++) {
			*w = sound;
			write_file(w);
			*(k == 0   ? &w->head.e_shoff
			  : k == 1 ? &w->section[1].sh_offset
			  : k == 2 ? &w->section[1].sh_size
			  : k == 3 ? &w->section[2].sh_offset
				   : &w->head.e_phoff) = far[i];
			put(w, &w->head, sizeof(w->head), 0);
			put(w, w->section, sizeof(w->section), TABLES_AT);
			(void)elf_place_find(w->fd, 0x14, &p);
			assert_true(!p.function[0] || !strcmp(p.function, NAME));
		}
	}
}

/* A mapping would end the reader by SIGBUS. */
static void test_a_file_that_becomes_shorter(void **state)
{
	struct world *w = *state;
	struct elf_place p;

	write_file(w);
	for (off_t bytes = SYMBOLS_AT + 64; bytes > 0; bytes -= bytes > 4200 ? 65537 : 9) {
		assert_int_equal(ftruncate(w->fd, bytes), 0);
		(void)elf_place_find(w->fd, 0x14, &p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_function, begin, end),
		cmocka_unit_test_setup_teardown(test_the_loaders_table, begin, end),
		cmocka_unit_test_setup_teardown(test_no_elf, begin, end),
		cmocka_unit_test_setup_teardown(test_names, begin, end),
		cmocka_unit_test_setup_teardown(test_tables_without_end, begin, end),
		cmocka_unit_test_setup_teardown(test_offsets, begin, end),
		cmocka_unit_test_setup_teardown(test_a_file_that_becomes_shorter, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
