/* SPDX-License-Identifier: MIT */
/* A service in a process of its own, for the small programs that call another process. */
#ifndef PRELOAD_SERVICE_H
#define PRELOAD_SERVICE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The bus allows 255 bytes for a name. */
#define SERVICE_ADDRESS 256

/* The service calls this when clients can reach it at @address. */
static inline int service_ready(int where, const char *address)
{
	char word[SERVICE_ADDRESS] = { 0 };

	snprintf(word, sizeof(word), "%s", address);
	return write(where, word, sizeof(word)) == sizeof(word) ? 0 : -1;
}

/* @serve runs until it is killed. @measure runs in this process, and gives the exit status. The
 * processes part before either has threads. */
static inline int service_measure(int (*serve)(const char *how, int where), const char *how,
				  int (*measure)(const char *address, double seconds),
				  double seconds)
{
	char address[SERVICE_ADDRESS];
	int where[2], status = 0, result = EXIT_FAILURE;
	pid_t service;

	if (pipe(where) || (service = fork()) < 0)
		return EXIT_FAILURE;
	if (!service)
		_exit(serve(how, where[1]));
	close(where[1]);
	if (read(where[0], address, sizeof(address)) == sizeof(address))
		result = measure(address, seconds);
	kill(service, SIGTERM);
	if (waitpid(service, &status, 0) != service || status != SIGTERM)
		return EXIT_FAILURE;
	return result;
}

#endif
