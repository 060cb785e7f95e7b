/* SPDX-License-Identifier: MIT */
/*
 * A statistics page where /dev/shm is part of an overlayfs: mappings do not keep its lock, so any
 * reader would remove it. There is none, and the program says so in one line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "overlay.h"

#define SHM "/dev/shm"

static char *program;

static void overlay_is_possible(void)
{
	if (!overlay_mount(SHM))
		_exit(EXIT_FAILURE);
}

static bool has_page(void)
{
	char path[128];
	int n = snprintf(path, sizeof(path), IPCWAIT_PAGE_FOLDER, geteuid());

	(void)snprintf(path + n, sizeof(path) - (size_t)n, "/%d", (int)getpid());
	return access(path, F_OK) == 0;
}

/* With IPCWAIT_PAGE=1 from the beginning. */
static int inside(void)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	struct ipcwait_stats st;

	CHECK(!has_page());
	do {
		CHECK_EQ(ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(20000000)),
			 -ETIMEDOUT);
		CHECK(ipcwait_stats_get(&st, sizeof(st)) > 0);
	} while (!st.kind[IPCWAIT_KIND_SEM].expired);
	return EXIT_SUCCESS;
}

static void begin_inside(int out)
{
	CHECK(overlay_mount(SHM));
	CHECK_EQ(setenv("IPCWAIT_PAGE", "1", 1), 0);
	CHECK_EQ(dup2(out, STDERR_FILENO), STDERR_FILENO);
	(void)execl("/proc/self/exe", program, "inside", (char *)NULL);
	_exit(EXIT_FAILURE);
}

static void no_page_and_one_line(void)
{
	char text[512] = "";
	size_t n = 0;
	ssize_t more;
	int ends[2];
	pid_t child;

	CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	CHECK(child >= 0);
	if (!child)
		begin_inside(ends[1]);
	close(ends[1]);
	while ((more = read(ends[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)more;
	CHECK_EQ(check_reap(child), 0);
	CHECK(strstr(text, "IPCWAIT_PAGE ignored: "));
	CHECK(strchr(text, '\n') == text + n - 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(no_page_and_one_line),
	};

	program = argv[0];
	if (argc > 1 && !strcmp(argv[1], "inside"))
		return inside();
	if (check_in_child(overlay_is_possible)) {
		print_message("skipped: no overlayfs may be mounted here\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
