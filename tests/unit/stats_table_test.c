/* SPDX-License-Identifier: MIT */
/* The counters of the library on memory of a file. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ipcwait/stats.h>

#include "common/cmocka_all.h"
#include "os/pages.h"
#include "os/shared_file.h"
#include "watch/stats.h"

#define OFFSET 65536

static struct iw_stats_table table;

/* The sum over all shards in the file, as somebody else reads it. */
static uint64_t sum(int fd, size_t at)
{
	uint64_t all = 0, n;

	for (unsigned i = 0; i < table.shards; i++) {
		off_t place = (off_t)(OFFSET + i * table.shard_bytes + at);

		assert_int_equal(pread(fd, &n, sizeof(n), place), sizeof(n));
		all += n;
	}
	return all;
}

static int new_file(size_t bytes)
{
	int fd = memfd_create("table", MFD_CLOEXEC);

	assert_true(fd >= 0);
	CHECK_EQ(iw_shared_file_set_size(fd, bytes), 0);
	return fd;
}

static void test_counts_are_in_the_file(void **state)
{
	struct ipcwait_stats st;
	size_t spun, crowded, kept;
	int fd;

	(void)state;
	iw_stats_table(&table);
	assert_true(table.shards * table.shard_bytes <= table.bytes);
	assert_true(table.kinds * table.kind_bytes <= table.reasons_at);
	assert_true(table.reasons_at + (table.reasons + table.moves) * 8 <=
		    table.shard_bytes);
	spun = IPCWAIT_KIND_SEM * table.kind_bytes + IW_SPUN * 8;
	crowded = table.reasons_at + IW_CROWDED * 8;
	kept = table.reasons_at + (table.reasons + IW_MOVES_KEPT) * 8;
	fd = new_file(OFFSET + table.bytes);
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 1000);
	errno = 4711;
	assert_true(iw_shared_file_lay(fd, OFFSET, table.memory, table.bytes));
	assert_int_equal(errno, 4711);
	assert_int_equal(sum(fd, spun), 0);
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 30);
	iw_count_reason(IW_CROWDED);
	iw_count_move(IW_MOVES_KEPT);
	assert_int_equal(sum(fd, spun), 30);
	assert_int_equal(sum(fd, crowded), 1);
	assert_int_equal(sum(fd, kept), 1);
	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	assert_int_equal(st.kind[IPCWAIT_KIND_SEM].spun, 30);
	assert_int_equal(st.reasons[IPCWAIT_REASON_CROWDED], 1);
	assert_int_equal(st.moves_kept, 1);
	/* The mapping is enough. */
	iw_shared_file_close(fd);
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 4);
	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	assert_int_equal(st.kind[IPCWAIT_KIND_SEM].spun, 34);
}

static void test_what_is_not_whole_pages(void **state)
{
	char *memory = iw_pages_get(OFFSET, OFFSET);
	int fd = new_file(OFFSET);

	(void)state;
	memory[0] = memory[4096] = 'x';
	assert_false(iw_shared_file_lay(fd, 8, memory, OFFSET));
	assert_false(iw_shared_file_lay(fd, 0, memory + 64, OFFSET));
	assert_false(iw_shared_file_lay(fd, 0, memory, 100));
	assert_false(iw_shared_file_lay(-1, 0, memory, OFFSET));
	assert_int_equal(memory[0], 'x');
	assert_int_equal(memory[4096], 'x');
	iw_shared_file_close(fd);
	iw_pages_put(memory, OFFSET);
}

static void test_files_of_others(void **state)
{
	int fd = new_file(OFFSET), other;
	char path[32];

	(void)state;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	errno = 4711;
	other = iw_shared_file_open_of(path, OFFSET);
	assert_true(other >= 0);
	assert_int_equal(iw_shared_file_open_of(path, OFFSET + 1), -EINVAL);
	assert_int_equal(iw_shared_file_open_of("/dev/null", 0), -EINVAL);
	assert_int_equal(iw_shared_file_open_of("/proc/self", 0), -EINVAL);
	assert_int_equal(iw_shared_file_open_of("/no/such", OFFSET), -ENOENT);
	assert_int_equal(errno, 4711);
	iw_shared_file_close(other);
	iw_shared_file_close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_are_in_the_file),
		cmocka_unit_test(test_what_is_not_whole_pages),
		cmocka_unit_test(test_files_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
