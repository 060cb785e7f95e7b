/* SPDX-License-Identifier: MIT */
/*
 * gets PORT CONNECTIONS SECONDS: so many threads, each with a connection of its own to the
 * memcached on this machine, ask for one value over and over. An operation is a GET of any thread.
 * It does not warm up and prints no "begin": its driver runs it twice.
 */
#include "meter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MOST 256
#define STRIDE           16

static const char set[] = "set k 0 0 32\r\n0123456789abcdef0123456789abcdef\r\n";
static const char stored[] = "STORED\r\n";
static const char get[] = "get k\r\n";
static const char value[] = "VALUE k 0 32\r\n0123456789abcdef0123456789abcdef\r\nEND\r\n";

struct asker {
	pthread_t thread;
	int socket;
	double seconds;
	uint64_t operations;
};

static void give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int open_socket(uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof(to)))
		give_up("connect");
	if (setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		give_up("setsockopt");
	return s;
}

/* Anything else than @wanted is an answer of somebody else. */
static void ask(int s, const char *text, size_t bytes, const char *wanted,
		size_t wanted_bytes)
{
	char answer[128];
	size_t have = 0;

	if (send(s, text, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
		give_up("send");
	while (have < wanted_bytes) {
		ssize_t n = recv(s, answer + have, sizeof(answer) - have, 0);

		if (n <= 0)
			give_up("recv");
		have += (size_t)n;
		if (have > wanted_bytes || memcmp(answer, wanted, have) != 0) {
			fprintf(stderr, "the server answered something else\n");
			exit(EXIT_FAILURE);
		}
	}
}

static void *keep_asking(void *asker)
{
	struct asker *a = asker;
	double end = meter_now() + a->seconds;

	do {
		for (unsigned i = 0; i < STRIDE; i++)
			ask(a->socket, get, sizeof(get) - 1, value, sizeof(value) - 1);
		a->operations += STRIDE;
	} while (meter_now() < end);
	return NULL;
}

static int measure(uint16_t port, unsigned connections, double seconds)
{
	static struct asker askers[CONNECTIONS_MOST];
	uint64_t operations = 0;
	double at;

	for (unsigned i = 0; i < connections; i++) {
		askers[i].socket = open_socket(port);
		askers[i].seconds = seconds;
	}
	ask(askers[0].socket, set, sizeof(set) - 1, stored, sizeof(stored) - 1);
	at = meter_now();
	for (unsigned i = 0; i < connections; i++)
		if (pthread_create(&askers[i].thread, NULL, keep_asking, &askers[i]))
			return EXIT_FAILURE;
	for (unsigned i = 0; i < connections; i++) {
		pthread_join(askers[i].thread, NULL);
		operations += askers[i].operations;
	}
	return meter_show(operations, meter_now() - at);
}

static unsigned whole(const char *text, unsigned most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return *text && !*end && n <= most ? (unsigned)n : 0;
}

int main(int argc, char **argv)
{
	unsigned port = argc > 2 ? whole(argv[1], UINT16_MAX) : 0;
	unsigned connections = argc > 2 ? whole(argv[2], CONNECTIONS_MOST) : 0;
	double seconds = argc > 2 ? meter_seconds(argc - 1, argv + 1) : 0;

	if (port && connections && seconds > 0)
		return measure((uint16_t)port, connections, seconds);
	return meter_usage("a PORT and CONNECTIONS, up to 256");
}
