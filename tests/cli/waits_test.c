/* SPDX-License-Identifier: MIT */
/* Reading a record that another process has written, and goes on writing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "../cli/symbol.h"
#include "../cli/waits_sum.h"
#include "../tools/common/complain.h"

#define FIRST_AT 4096
#define RECORDS  400000
#define MIB      (UINT64_C(1) << 20)

const char program_name[] = "waits_test";

union record {
	struct ipcwait_record_process process;
	struct ipcwait_record_wait wait;
	struct ipcwait_record_name name;
	struct ipcwait_record_mapping mapping;
	struct ipcwait_record_text text;
};

static union record *records;
static char path[32];
static int fd;

/* Of @n records. */
static void write_file(size_t n)
{
	struct ipcwait_record_head head = { .magic = IPCWAIT_RECORD_MAGIC,
					    .version = IPCWAIT_RECORD_VERSION,
					    .record_bytes = sizeof(records[0]),
					    .first_at = FIRST_AT,
					    .most = RECORDS,
					    .used = n,
					    .room = n };

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(pwrite(fd, records, n * sizeof(records[0]), FIRST_AT),
			 n * sizeof(records[0]));
}

static struct ipcwait_record_wait wait_on(uint32_t pid, uint64_t object, uint64_t site)
{
	return (struct ipcwait_record_wait){ .type = IPCWAIT_RECORD_WAIT,
					     .pid = pid,
					     .known = 1,
					     .object = object,
					     .site = site,
					     .length_ns = 1000 };
}

/* The reader has copied it. A mapping would end the reader by SIGBUS. */
static void test_a_file_that_becomes_shorter(void **state)
{
	struct waits_sums sums;
	struct waits w;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		records[i].wait = wait_on(5, 0x1000 + i % 10, 0x2000);
	write_file(1000);
	assert_int_equal(waits_open(&w, path), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	waits_sum(&sums, &w, WAITS_BY_OBJECT);
	assert_int_equal(sums.n, 10);
	assert_int_equal(sums.row[0].length_ns, 100000);
	waits_sum_free(&sums);
	waits_close(&w);
}

/* What it says of its size after the reader has believed it. */
static void test_a_head_that_changes(void **state)
{
	struct ipcwait_record_head head;
	struct waits w;

	(void)state;
	records[0].wait = wait_on(5, 1, 2);
	write_file(1);
	assert_int_equal(waits_open(&w, path), 0);
	memset(&head, 0xff, sizeof(head));
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(w.head->first_at, FIRST_AT);
	assert_int_equal(waits_length_ns(w.wait[0].is), 1000);
	waits_close(&w);
}

static struct ipcwait_record_name name_of(uint64_t object, const char *name)
{
	struct ipcwait_record_name n = { .type = IPCWAIT_RECORD_NAME,
					 .pid = 5,
					 .object = object };

	strcpy(n.name, name);
	return n;
}

static void test_names(void **state)
{
	char name[WAITS_NAME_BYTES];
	struct waits w;

	(void)state;
	records[0].process =
		(struct ipcwait_record_process){ .type = IPCWAIT_RECORD_PROCESS, .pid = 5 };
	records[1].name = name_of(7, "first");
	records[2].name = name_of(6, "other\x1b");
	records[3].name = name_of(7, "second");
	records[4].name = name_of(8, "gone");
	records[5].name = name_of(8, "");
	records[6].process = (struct ipcwait_record_process){
		.type = IPCWAIT_RECORD_PROCESS, .pid = 9, .parent = 5
	};
	records[7].wait = wait_on(9, 7, 2);
	write_file(8);
	assert_int_equal(waits_open(&w, path), 0);
	assert_int_equal(w.processes, 2);
	assert_true(waits_name_of(w.process[1], 7, name));
	assert_string_equal(name, "second");
	assert_true(waits_name_of(w.process[1], 6, name));
	assert_string_equal(name, "other?");
	assert_false(waits_name_of(w.process[1], 8, name));
	assert_false(waits_name_of(w.process[0], 1, name));
	waits_close(&w);
}

static void put_mapping(unsigned i, uint64_t begin, uint64_t end, const char *file)
{
	records[i].mapping =
		(struct ipcwait_record_mapping){ .type = IPCWAIT_RECORD_MAPPING,
						 .pid = 5,
						 .begin = begin,
						 .end = end,
						 .length = (uint32_t)strlen(file) };
	records[i + 1].text =
		(struct ipcwait_record_text){ .type = IPCWAIT_RECORD_TEXT, .pid = 5 };
	strcpy(records[i + 1].text.text, file);
}

static void is_at(const struct waits *w, uint64_t address, const char *want)
{
	char text[100];

	waits_place(w->process[0], address, text, sizeof(text));
	assert_string_equal(text, want);
}

/* What was mapped later, where other code was, counts. */
static void test_mappings(void **state)
{
	struct waits w;

	(void)state;
	put_mapping(0, 0x1000, 0x9000, "/no/a");
	put_mapping(2, 0x2000, 0x3000, "/no/b\x1b[m");
	put_mapping(4, 0x10000, 0x11000, "/no/c");
	put_mapping(6, 0x4000, 0x6000, "/no/d");
	put_mapping(8, 0x1000, 0x5000, "/no/e");
	write_file(10);
	assert_int_equal(waits_open(&w, path), 0);
	symbols_begin(1000);
	is_at(&w, 0xfff, "0xfff");
	is_at(&w, 0x1001, "e+0x1");
	is_at(&w, 0x2001, "e+0x1001");
	is_at(&w, 0x4001, "e+0x3001");
	is_at(&w, 0x5001, "d+0x1001");
	is_at(&w, 0x6001, "a+0x5001");
	is_at(&w, 0x10001, "c+0x1");
	is_at(&w, 0x11000, "0x11000");
	waits_close(&w);
}

static uint64_t memory(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return (uint64_t)u.ru_maxrss * 1024;
}

/* 400,000 mappings of 29 MB, with paths that are not there. */
static void test_lengths_that_are_not_there(void **state)
{
	uint64_t before;
	struct waits w;

	(void)state;
	for (unsigned i = 0; i < RECORDS; i++)
		records[i].mapping = (struct ipcwait_record_mapping){
			.type = IPCWAIT_RECORD_MAPPING, .pid = 5, .begin = i, .length = 1024
		};
	write_file(RECORDS);
	before = memory();
	assert_int_equal(waits_open(&w, path), 0);
	assert_true(memory() - before < 160 * MIB);
	waits_close(&w);
}

/*
 * Numbers that an array by their last bits would put into one list, and parents of parents: each
 * look at them all would take hours.
 */
static void test_processes_without_end(void **state)
{
	char name[WAITS_NAME_BYTES];
	struct waits w;

	(void)state;
	for (uint32_t i = 0; i < RECORDS; i++)
		records[i].process =
			(struct ipcwait_record_process){ .type = IPCWAIT_RECORD_PROCESS,
							 .pid = (i + 1) << 12,
							 .parent = i << 12,
							 .identity = i };
	write_file(RECORDS);
	assert_int_equal(waits_open(&w, path), 0);
	assert_int_equal(w.processes + w.lost, RECORDS);
	assert_int_equal(w.processes, 131072);
	for (unsigned i = 0; i < w.processes; i++)
		assert_false(waits_name_of(w.process[i], 1, name));
	waits_close(&w);
}

/* A row is twelve times as long as a record. */
static void test_objects_without_end(void **state)
{
	struct waits_sums sums;
	uint64_t before;
	struct waits w;

	(void)state;
	for (unsigned i = 0; i < RECORDS; i++) {
		records[i].wait = wait_on(5, i + 1, 2);
		records[i].wait.length_ns = i;
	}
	write_file(RECORDS);
	before = memory();
	assert_int_equal(waits_open(&w, path), 0);
	waits_sum(&sums, &w, WAITS_BY_OBJECT);
	assert_int_equal(sums.all, RECORDS);
	assert_int_equal(sums.n, WAITS_ROWS_MOST);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(sums.row[i].length_ns, RECORDS - 1 - i);
	assert_true(memory() - before < 250 * MIB);
	waits_sum_free(&sums);
	waits_close(&w);
}

static int begin(void **state)
{
	(void)state;
	program_command = "report";
	records = calloc(RECORDS, sizeof(*records));
	fd = memfd_create("record", MFD_CLOEXEC);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return !records || fd < 0;
}

static int end(void **state)
{
	(void)state;
	free(records);
	return close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_file_that_becomes_shorter, begin,
						end),
		cmocka_unit_test_setup_teardown(test_a_head_that_changes, begin, end),
		cmocka_unit_test_setup_teardown(test_names, begin, end),
		cmocka_unit_test_setup_teardown(test_mappings, begin, end),
		cmocka_unit_test_setup_teardown(test_lengths_that_are_not_there, begin,
						end),
		cmocka_unit_test_setup_teardown(test_processes_without_end, begin, end),
		cmocka_unit_test_setup_teardown(test_objects_without_end, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
