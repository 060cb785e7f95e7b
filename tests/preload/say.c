/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

/* Far longer than a run takes on a machine that stops its processes and is busy with others. */
#define EVENTUALLY_NS INT64_C(120000000000)
#define JOIN_S        150
#define WATCHDOG_S    200

#define SETTLED_NS INT64_C(2000000)
#define BRIEFLY_NS INT64_C(15000)

/* To ask for a thread's time takes 1 us, to read what it does more than a spin. */
#define LOOKS_BRIEFLY 64
#define LATE_MOST     300

static int failures;

static void on_alarm(int signal)
{
	static const char text[] = "the program is stuck\n";

	(void)signal;
	(void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
	_exit(3);
}

void say_begin(void)
{
	handle(SIGALRM, on_alarm, SA_RESTART);
	(void)alarm(WATCHDOG_S);
}

int say_end(void)
{
	(void)alarm(0);
	say_number("failures", get(&failures));
	return get(&failures) ? EXIT_FAILURE : EXIT_SUCCESS;
}

void say_stuck(const char *file, int line, const char *what)
{
	dprintf(STDOUT_FILENO, "%s:%d: cannot go on: %s\n", strrchr(file, '/') + 1, line,
		what);
	_exit(4);
}

static const char *name_of(int error)
{
	const char *name = error ? strerrorname_np(error) : "ok";

	return name ? name : "no error number";
}

void say(const char *name, int error)
{
	dprintf(STDOUT_FILENO, "%s: %s\n", name, name_of(error));
}

static bool failed(bool failure)
{
	if (failure)
		add(&failures, 1);
	return failure;
}

void expect(const char *name, int error, int want)
{
	if (failed(error != want))
		dprintf(STDOUT_FILENO, "%s: %s, not %s\n", name, name_of(error),
			name_of(want));
	else
		say(name, error);
}

void say_number(const char *name, long number)
{
	dprintf(STDOUT_FILENO, "%s: %ld\n", name, number);
}

void expect_number(const char *name, long number, long want)
{
	if (failed(number != want))
		dprintf(STDOUT_FILENO, "%s: %ld, not %ld\n", name, number, want);
	else
		say_number(name, number);
}

void expect_least(const char *name, long number, long least)
{
	if (failed(number < least))
		dprintf(STDOUT_FILENO, "%s: %ld, not at least %ld\n", name, number, least);
	else
		dprintf(STDOUT_FILENO, "%s: yes\n", name);
}

void expect_true(const char *name, bool condition)
{
	dprintf(STDOUT_FILENO, "%s: %s\n", name, failed(!condition) ? "NO" : "yes");
}

void pass_us(long us)
{
	struct timespec left = { us / 1000000, us % 1000000 * 1000 };

	while (nanosleep(&left, &left) != 0)
		NEEDS(errno == EINTR);
}

void spend_us(long us)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + us * 1000;

	while (clock_ns(CLOCK_MONOTONIC) < until)
		continue;
}

void pass_ms(long ms)
{
	pass_us(ms * 1000);
}

int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	NEEDS(clock_gettime(clock, &now) == 0);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

struct timespec in_ms(clockid_t clock, long ms)
{
	int64_t at = clock_ns(clock) + ms * INT64_C(1000000);

	return (struct timespec){ at / INT64_C(1000000000), at % INT64_C(1000000000) };
}

bool eventually(bool (*condition)(void *arg), void *arg)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + EVENTUALLY_NS;

	while (!condition(arg)) {
		if (clock_ns(CLOCK_MONOTONIC) > until)
			return false;
		pass_us(100);
	}
	return true;
}

struct wanted {
	const int *value;
	int want;
};

static bool is_wanted(void *arg)
{
	const struct wanted *w = arg;

	return get(w->value) == w->want;
}

bool becomes(const int *value, int want)
{
	struct wanted w = { value, want };

	return eventually(is_wanted, &w);
}

pthread_t begin_thread(void *(*body)(void *arg), void *arg)
{
	pthread_t thread;

	NEEDS(pthread_create(&thread, NULL, body, arg) == 0);
	return thread;
}

void *end_thread(pthread_t thread)
{
	struct timespec until = in_ms(CLOCK_REALTIME, JOIN_S * 1000L);
	void *result;

	NEEDS(pthread_timedjoin_np(thread, &result, &until) == 0);
	return result;
}

static bool sleeps(pid_t task)
{
	char path[64], text[256], *state = NULL;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)task);
	f = fopen(path, "re");
	if (f == NULL)
		return false; /* it has ended */
	if (fgets(text, sizeof(text), f))
		state = strrchr(text, ')');
	(void)fclose(f);
	return state && state[2] == 'S';
}

/* The C library's number of a thread's clock has the kernel's number of the thread in it. */
static pid_t task_of(clockid_t own_clock)
{
	return ~(own_clock >> 3);
}

void settle(pthread_t thread, const int *done)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + EVENTUALLY_NS;
	struct timespec used;
	int64_t first = -1;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) != 0)
		return; /* it has ended */
	while (!(done && get(done)) && !sleeps(task_of(clock))) {
		int64_t now;

		if (clock_gettime(clock, &used) != 0)
			return; /* it has ended */
		now = used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
		first = first < 0 ? now : first;
		if (now - first >= SETTLED_NS)
			return;
		NEEDS(clock_ns(CLOCK_MONOTONIC) < until);
		pass_us(50);
	}
}

void settle_briefly(pthread_t thread)
{
	int64_t first, now;
	clockid_t clock;
	int looks = 0;

	if (pthread_getcpuclockid(thread, &clock) != 0)
		return; /* it has ended */
	first = now = clock_ns(clock);
	while (now - first < BRIEFLY_NS &&
	       (++looks % LOOKS_BRIEFLY != 0 || !sleeps(task_of(clock))))
		now = clock_ns(clock);
}

void expect_expires(const char *name, clockid_t clock,
		    int (*wait)(void *arg, clockid_t clock, const struct timespec *at),
		    void *arg)
{
	int64_t least = INT64_MAX;
	int i, error = ETIMEDOUT;
	char line[96];

	/* Both ways of a test that has two are tried. */
	for (i = 0; error == ETIMEDOUT && i < LATE_MOST && (i < 2 || least >= 80000000);
	     i++) {
		int64_t began = clock_ns(CLOCK_MONOTONIC), took;
		struct timespec at = in_ms(clock, 20);

		error = wait(arg, clock, &at);
		took = clock_ns(CLOCK_MONOTONIC) - began;
		least = took < least ? took : least;
	}
	expect(name, error, ETIMEDOUT);
	(void)snprintf(line, sizeof(line), "%s, not too early", name);
	expect_true(line, least > 15000000);
	(void)snprintf(line, sizeof(line), "%s, not too late", name);
	expect_true(line, least < 80000000);
}

pid_t begin_child(void (*body)(void *arg), void *arg)
{
	pid_t child = fork();

	NEEDS(child >= 0);
	if (child == 0) {
		say_begin();
		body(arg);
		_exit(get(&failures) ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	return child;
}

void expect_child(const char *name, pid_t child, int status)
{
	int is = -1;

	while (waitpid(child, &is, 0) < 0)
		NEEDS(errno == EINTR);
	expect_number(name, is, status);
}

void *shared_memory(size_t size)
{
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	NEEDS(memory != MAP_FAILED);
	return memory;
}

void handle(int signal, void (*handler)(int signal), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	NEEDS(sigaction(signal, &action, NULL) == 0);
}

void make_mutex_of(pthread_mutex_t *m, int type, int shared, int robust, int protocol)
{
	pthread_mutexattr_t attr;

	NEEDS(pthread_mutexattr_init(&attr) == 0);
	NEEDS(pthread_mutexattr_settype(&attr, type) == 0);
	NEEDS(pthread_mutexattr_setpshared(&attr, shared) == 0);
	NEEDS(pthread_mutexattr_setrobust(&attr, robust) == 0);
	NEEDS(pthread_mutexattr_setprotocol(&attr, protocol) == 0);
	NEEDS(pthread_mutex_init(m, &attr) == 0);
	NEEDS(pthread_mutexattr_destroy(&attr) == 0);
}
