/* SPDX-License-Identifier: MIT */
/* Two threads hand a byte to and fro through pipes, N times, and each polls now and then. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int to[2], fro[2];

static void take(int fd, long round)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	char byte;

	if (round % 2 && poll(&one, 1, 60000) != 1)
		abort();
	if (read(fd, &byte, 1) != 1)
		abort();
}

static void *answer(void *rounds)
{
	for (intptr_t i = 0; i < (intptr_t)rounds; i++) {
		take(to[0], i);
		if (write(fro[1], "b", 1) != 1)
			abort();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	pthread_t other;

	if (pipe(to) || pipe(fro) ||
	    pthread_create(&other, NULL, answer, (void *)(intptr_t)rounds) != 0)
		abort();
	for (long i = 0; i < rounds; i++) {
		if (write(to[1], "a", 1) != 1)
			abort();
		take(fro[0], i);
	}
	(void)pthread_join(other, NULL);
	puts("done");
	return 0;
}
