/* SPDX-License-Identifier: MIT */
/*
 * nng WORKLOAD SECONDS: a request to another process and its reply, by sockets of nng. An
 * operation is a round trip.
 */
#include "meter.h"
#include "service.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>

/* Port 0 is any that is free. The socket's file is in the current folder. */
static const struct transport {
	const char *name, *url;
} transports[] = {
	{ "tcp", "tcp://127.0.0.1:0" },
	{ "ipc", "ipc://nng.socket" },
};

static int serve(const char *url, int where)
{
	char address[SERVICE_ADDRESS], word;
	nng_socket s;
	nng_listener l;
	size_t n;
	int port = 0;

	if (nng_rep0_open(&s) || nng_listen(s, url, &l, 0))
		return EXIT_FAILURE;
	if (!nng_listener_get_int(l, NNG_OPT_TCP_BOUND_PORT, &port)) {
		snprintf(address, sizeof(address), "tcp://127.0.0.1:%d", port);
		url = address;
	}
	if (service_ready(where, url))
		return EXIT_FAILURE;
	do
		n = 1;
	while (!nng_recv(s, &word, &n, 0) && !nng_send(s, &word, n, 0));
	return EXIT_FAILURE;
}

static bool turn(nng_socket s)
{
	char word = 'x';
	size_t n = 1;

	return !nng_send(s, &word, n, 0) && !nng_recv(s, &word, &n, 0) && n == 1 &&
	       word == 'x';
}

static int measure(const char *url, double seconds)
{
	struct meter m;
	nng_socket s;
	bool right;

	if (nng_req0_open(&s) || nng_dial(s, url, NULL, 0))
		return EXIT_FAILURE;
	meter_start(&m, seconds, 16);
	do
		right = turn(s);
	while (right && meter_on(&m));
	return right ? meter_show(m.operations, m.seconds) : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	double seconds = meter_seconds(argc, argv);

	for (size_t i = 0; seconds > 0 && i < sizeof(transports) / sizeof(transports[0]);
	     i++)
		if (!strcmp(argv[1], transports[i].name))
			return service_measure(serve, transports[i].url, measure, seconds);
	return meter_usage("tcp, ipc");
}
