/* SPDX-License-Identifier: MIT */
/* The fragment takes what is there: first the socket, then the event, which is asked first. */
#include <ipcwait/event.h>
#include <ipcwait/wait_any.h>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct ipcwait_event stop;

static int first_of(int socket)
{
	/* @BLOCK@ */

	return first;
}

int main(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || write(ends[1], "x", 1) != 1)
		return 1;
	if (first_of(ends[0]) != 1)
		return 1;
	ipcwait_event_set(&stop);
	return first_of(ends[0]);
}
