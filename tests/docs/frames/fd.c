/* SPDX-License-Identifier: MIT */
/* The fragment receives what another thread sends. */
#include <ipcwait/fd.h>

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

static void *server(void *end)
{
	send(*(int *)end, "done", 5, 0);
	return NULL;
}

static int receive(int socket)
{
	char reply[16];

	/* @BLOCK@ */

	return n == 5 && !strcmp(reply, "done") ? 0 : 1;
}

int main(void)
{
	int ends[2], result;
	pthread_t t;

	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	pthread_create(&t, NULL, server, &ends[1]);
	result = receive(ends[0]);
	pthread_join(t, NULL);
	return result;
}
