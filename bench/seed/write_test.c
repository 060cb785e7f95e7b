/* SPDX-License-Identifier: MIT */
/* write_test: the seed's Go program file in C, writes of 30 bytes to the null device. */
#include "figures.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <fcntl.h>
#include <unistd.h>

const char program_name[] = "write_test";

#define RECORD 30

static uint64_t write_records(int fd, uint64_t count)
{
	static const char record[RECORD + 1] = "a record of thirty characters.";
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < count; i++) {
		ssize_t n = write(fd, record, RECORD);

		if (n > 0)
			bytes += (uint64_t)n;
	}
	return bytes;
}

int main(int argc, char **argv)
{
	struct figures f;
	struct json j;
	uint64_t count, bytes;
	int fd;

	if (argc != 2 || number_parse(argv[1], 1, 1000000000, &count)) {
		complain("want the number of writes, 1 to 1000000000");
		return 2;
	}
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		complain("cannot open the null device");
		return 1;
	}
	figures_begin(&f);
	bytes = write_records(fd, count);
	j = json_begin(stdout);
	figures_end(&f, &j);
	json_whole(&j, "writes", count);
	json_whole(&j, "bytes", bytes);
	json_end(&j);
	close(fd);
	return 0;
}
