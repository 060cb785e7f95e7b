/* SPDX-License-Identifier: MIT */
/*
 * between_test: messages of 64 bytes from one process to another.
 *
 *   between_test channel|batches|pipe|socket|packets COUNT
 *
 * "channel" is libipcwait's in a memfd, with room for 1024, and "batches" the same with up to
 * 64 in a call; "socket" a stream of a Unix socket pair, "packets" SOCK_SEQPACKET. Else it is
 * one call for each message on either side. The receiver looks at the number of each. The CPU
 * time is that of both processes.
 */
#include "../common/clock.h"
#include "../seed/part.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/json_writer.h"
#include "../../tools/common/number.h"

#include <ipcwait/channel_shared.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

const char program_name[] = "between_test";

#define CAPACITY 1024
#define BATCH    64

struct message {
	uint64_t number;
	char rest[56];
};

/* How they get across; @fd is what either process has of it. */
struct way {
	const char *name;
	bool (*make)(int fd[2]); /* [0] to receive with, [1] to send with */
	void (*join)(int fd);
	/* How many of @n; below 1: it failed. */
	int64_t (*send)(int fd, const struct message *m, size_t n);
	int64_t (*receive)(int fd, struct message *m, size_t n);
	size_t batch;
};

static struct ipcwait_channel *channel;

static bool make_channel(int fd[2])
{
	const struct ipcwait_channel_params params = { .elem_size = sizeof(struct message),
						       .capacity = CAPACITY };

	fd[0] = memfd_create("between_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	fd[1] = dup(fd[0]);
	return fd[1] >= 0 && !ipcwait_channel_create_shared(fd[0], &params, &channel);
}

/* What the parent has made is not the child's. */
static void join_channel(int fd)
{
	ipcwait_channel_destroy(channel);
	if (ipcwait_channel_attach(fd, &channel))
		give_up("cannot attach");
}

static int64_t send_channel(int fd, const struct message *m, size_t n)
{
	(void)fd;
	(void)n;
	return ipcwait_channel_send(channel, m) ? 0 : 1;
}

static int64_t receive_channel(int fd, struct message *m, size_t n)
{
	(void)fd;
	(void)n;
	return ipcwait_channel_recv(channel, m) ? 0 : 1;
}

static int64_t send_batch(int fd, const struct message *m, size_t n)
{
	(void)fd;
	return ipcwait_channel_send_n(channel, m, n, IPCWAIT_FOREVER);
}

static int64_t receive_batch(int fd, struct message *m, size_t n)
{
	(void)fd;
	return ipcwait_channel_recv_n(channel, m, n, IPCWAIT_FOREVER);
}

static bool make_pipe(int fd[2])
{
	return !pipe(fd);
}

static bool make_socket(int fd[2])
{
	return !socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
}

static bool make_packets(int fd[2])
{
	return !socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd);
}

static void join_nothing(int fd)
{
	(void)fd;
}

static int64_t send_bytes(int fd, const struct message *m, size_t n)
{
	(void)n;
	return write(fd, m, sizeof(*m)) == sizeof(*m);
}

/* A stream may be cut anywhere. */
static int64_t receive_bytes(int fd, struct message *m, size_t n)
{
	size_t got = 0;

	(void)n;
	while (got < sizeof(*m)) {
		ssize_t r = read(fd, (char *)m + got, sizeof(*m) - got);

		if (r <= 0)
			return 0;
		got += (size_t)r;
	}
	return 1;
}

static const struct way ways[] = {
	{ "channel", make_channel, join_channel, send_channel, receive_channel, 1 },
	{ "batches", make_channel, join_channel, send_batch, receive_batch, BATCH },
	{ "pipe", make_pipe, join_nothing, send_bytes, receive_bytes, 1 },
	{ "socket", make_socket, join_nothing, send_bytes, receive_bytes, 1 },
	{ "packets", make_packets, join_nothing, send_bytes, receive_bytes, 1 },
};

#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

static int send_all(const struct way *w, int fd, int gate, uint64_t count)
{
	struct message m[BATCH] = { 0 };
	char go;

	w->join(fd);
	part(1);
	if (read(gate, &go, 1) != 1)
		return 1;
	for (uint64_t i = 0, n; i < count; i += n) {
		n = count - i < w->batch ? count - i : w->batch;
		for (uint64_t k = 0; k < n; k++)
			m[k].number = i + k;
		if (w->send(fd, m, n) != (int64_t)n)
			return 1;
	}
	return 0;
}

static void receive_all(const struct way *w, int fd, uint64_t count)
{
	struct message m[BATCH];

	for (uint64_t i = 0; i < count;) {
		int64_t n = w->receive(fd, m, w->batch);

		if (n < 1)
			give_up("cannot receive");
		for (int64_t k = 0; k < n; k++)
			if (m[k].number != i++)
				give_up("a message is missing");
	}
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

static double cpu(int who, bool system)
{
	struct rusage u;

	getrusage(who, &u);
	return seconds(system ? &u.ru_stime : &u.ru_utime);
}

/* A sender that has sent all ends too: that of one that was killed or has failed is another end. */
static void end_with_sender(int signal_number)
{
	static const char why[] = "between_test: the sender failed\n";
	siginfo_t how = { .si_status = 0 };
	ssize_t told;

	(void)signal_number;
	if (waitid(P_ALL, 0, &how, WEXITED | WNOHANG | WNOWAIT) || !how.si_status)
		return;
	told = write(STDERR_FILENO, why, sizeof(why) - 1);
	(void)told;
	_exit(EXIT_FAILED);
}

static void measure(const struct way *w, uint64_t count)
{
	int fd[2], gate[2], status;
	struct json j = json_begin(stdout);
	double user, system;
	int64_t ns;
	pid_t child;

	if (!w->make(fd) || pipe(gate))
		give_up("cannot make it");
	signal(SIGCHLD, end_with_sender);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(send_all(w, fd[1], gate[0], count));
	}
	part(0);
	user = cpu(RUSAGE_SELF, false);
	system = cpu(RUSAGE_SELF, true);
	ns = clock_now_ns();
	if (child < 0 || write(gate[1], "", 1) != 1)
		give_up("cannot make a process");
	receive_all(w, fd[0], count);
	ns = clock_now_ns() - ns;
	user = cpu(RUSAGE_SELF, false) - user;
	system = cpu(RUSAGE_SELF, true) - system;
	signal(SIGCHLD, SIG_DFL);
	if (waitpid(child, &status, 0) != child || status)
		give_up("the sender failed");
	json_number(&j, "seconds", (double)ns * 1e-9);
	json_number(&j, "user_seconds", user + cpu(RUSAGE_CHILDREN, false));
	json_number(&j, "system_seconds", system + cpu(RUSAGE_CHILDREN, true));
	json_whole(&j, "items", count);
	json_end(&j);
}

int main(int argc, char **argv)
{
	const struct way *w = NULL;
	uint64_t count = 0;

	for (unsigned i = 0; argc == 3 && i < N_WAYS; i++)
		if (!strcmp(argv[1], ways[i].name))
			w = &ways[i];
	if (!w || number_parse(argv[2], 1, 1000000000, &count)) {
		complain("want channel, batches, pipe, socket or packets; and COUNT, 1 to "
			 "1000000000");
		return EXIT_BAD_INPUT;
	}
	measure(w, count);
	ipcwait_channel_destroy(channel);
	return EXIT_DONE;
}
