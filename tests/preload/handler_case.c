/* SPDX-License-Identifier: MIT */
/* Handlers: that the program is shown what it has installed, and that they run as they did. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

static int ran, nested, depth, wrong_info;
static void *value;

static void simple(int signal)
{
	(void)signal;
	add(&ran, 1);
}

static void other(int signal)
{
	(void)signal;
	add(&ran, 100);
}

static void with_info(int signal, siginfo_t *info, void *context)
{
	if (!info || info->si_signo != signal || !context)
		add(&wrong_info, 1);
	else
		value = info->si_value.sival_ptr;
	add(&ran, 1);
}

static void raises_again(int signal)
{
	add(&nested, add(&depth, 1) > 1);
	if (add(&ran, 1) < 3)
		(void)raise(signal);
	add(&depth, -1);
}

/* What sigaction(2) says there is, by the names of this program. */
static void shown(const char *name, int signal)
{
	struct sigaction now;
	const char *what = "somebody else's";

	memset(&now, 0xff, sizeof(now));
	NEEDS(sigaction(signal, NULL, &now) == 0);
	if (now.sa_flags & SA_SIGINFO)
		what = now.sa_sigaction == with_info ? "with_info" : what;
	else if (now.sa_handler == SIG_DFL)
		what = "default";
	else if (now.sa_handler == SIG_IGN)
		what = "ignored";
	else if (now.sa_handler == simple)
		what = "simple";
	else if (now.sa_handler == other)
		what = "other";
	else if (now.sa_handler == raises_again)
		what = "raises_again";
	dprintf(1, "%s: %s, flags %#x, USR2 %d\n", name, what,
		(unsigned)now.sa_flags & ~0x04000000U, sigismember(&now.sa_mask, SIGUSR2));
}

static void install(int signal, void (*handler)(int), int flags, int mask)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	NEEDS(sigemptyset(&action.sa_mask) == 0);
	if (mask)
		NEEDS(sigaddset(&action.sa_mask, mask) == 0);
	expect("sigaction", error_of(sigaction(signal, &action, NULL)), 0);
}

static void install_info(int signal, int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = with_info;
	action.sa_flags = flags | SA_SIGINFO;
	NEEDS(sigaction(signal, &action, NULL) == 0);
}

static void send(const char *name, int signal, int want)
{
	set(&ran, 0);
	NEEDS(raise(signal) == 0);
	expect_number(name, get(&ran), want);
}

static void kinds(void)
{
	const int mine[] = { SIGUSR1, SIGRTMIN, SIGRTMAX, SIGCHLD, SIGPIPE };
	union sigval v = { .sival_ptr = &value };
	unsigned i;

	for (i = 0; i < sizeof(mine) / sizeof(mine[0]); i++) {
		dprintf(1, "== %s\n",
			i == 1 || i == 2 ? "a real-time signal" : strsignal(mine[i]));
		shown("at first", mine[i]);
		install(mine[i], simple, SA_RESTART, SIGUSR2);
		shown("simple", mine[i]);
		send("ran", mine[i], 1);
		install(mine[i], other, SA_NODEFER, 0);
		shown("another", mine[i]);
		send("ran the other", mine[i], 100);
		install_info(mine[i], SA_ONSTACK);
		shown("with information", mine[i]);
		send("ran with information", mine[i], 1);
		value = NULL;
		NEEDS(sigqueue(getpid(), mine[i], v) == 0);
		expect_true("what was queued with it", value == &value);
		install(mine[i], SIG_IGN, 0, 0);
		shown("ignored", mine[i]);
		send("ran when ignored", mine[i], 0);
		install(mine[i], simple, (int)SA_RESETHAND, 0);
		shown("once", mine[i]);
		send("ran once", mine[i], 1);
		shown("after it", mine[i]);
		install(mine[i], SIG_DFL, 0, 0);
	}
	expect_number("wrong information", wrong_info, 0);
}

static void nesting(void)
{
	install(SIGUSR1, raises_again, SA_NODEFER, 0);
	send("ran in itself", SIGUSR1, 3);
	expect_number("nested", get(&nested), 2);
	install(SIGUSR1, raises_again, 0, 0);
	set(&nested, 0);
	send("ran one after the other", SIGUSR1, 3);
	expect_number("never in itself", get(&nested), 0);
	install(SIGUSR1, SIG_DFL, 0, 0);
}

/* Some of these functions are not to be used any more, and are used. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The functions from before sigaction(2), and what each returns. */
static void old_ways(void)
{
	expect_true("signal: the default before", signal(SIGUSR1, simple) == SIG_DFL);
	shown("signal", SIGUSR1);
	expect_true("signal: simple before", signal(SIGUSR1, other) == simple);
	send("ran", SIGUSR1, 100);
	expect("siginterrupt", error_of(siginterrupt(SIGUSR1, 1)), 0);
	shown("siginterrupt", SIGUSR1);
	expect_true("sigset: other before", sigset(SIGUSR1, simple) == other);
	shown("sigset", SIGUSR1);
	send("ran", SIGUSR1, 1);
	expect_true("sysv_signal: simple before", sysv_signal(SIGUSR1, other) == simple);
	shown("sysv_signal", SIGUSR1);
	send("ran", SIGUSR1, 100);
	shown("after it", SIGUSR1);
	expect_true("ssignal: the default before", ssignal(SIGUSR1, SIG_IGN) == SIG_DFL);
	expect_true("signal: ignored before", signal(SIGUSR1, SIG_DFL) == SIG_IGN);
}

#pragma GCC diagnostic pop

static void refused(void)
{
	static const int wrong[] = { 0, -1, 32, 33, 65, 1000, SIGKILL, SIGSTOP };
	struct sigaction action = { .sa_handler = simple };
	char line[64];
	unsigned i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		(void)snprintf(line, sizeof(line), "sigaction of %d", wrong[i]);
		expect(line, error_of(sigaction(wrong[i], &action, NULL)), EINVAL);
		(void)snprintf(line, sizeof(line), "signal of %d", wrong[i]);
		expect(line, signal(wrong[i], simple) == SIG_ERR ? errno : 0, EINVAL);
		(void)snprintf(line, sizeof(line), "a look at %d", wrong[i]);
		expect(line, error_of(sigaction(wrong[i], NULL, &action)),
		       wrong[i] == SIGKILL || wrong[i] == SIGSTOP ? 0 : EINVAL);
		action.sa_handler = simple;
	}
}

/* Children have what the parent has, and change nothing of it. */
static void change_in_child(void *arg)
{
	(void)arg;
	shown("in the child", SIGUSR1);
	send("ran in the child", SIGUSR1, 1);
	install(SIGUSR1, other, 0, 0);
	send("ran another in the child", SIGUSR1, 100);
}

static void children(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	pid_t child;

	install(SIGUSR1, simple, 0, SIGUSR2);
	install(SIGPIPE, SIG_IGN, 0, 0);
	expect_child("fork", begin_child(change_in_child, NULL), 0);
	shown("after fork", SIGUSR1);
	send("ran in the parent", SIGUSR1, 1);
	/* As those do who start programs: handlers are reset between vfork(2) and exec(3). */
	child = vfork();
	if (child == 0) {
		(void)sigaction(SIGUSR1, &action, NULL);
		(void)signal(SIGPIPE, SIG_DFL);
		(void)execl("/proc/self/exe", "handler_case", "default", (char *)NULL);
		_exit(1);
	}
	expect_child("vfork", child, 21 << 8);
	shown("after vfork", SIGUSR1);
	shown("after vfork, the ignored one", SIGPIPE);
	send("ran in the parent", SIGUSR1, 1);
	child = fork();
	if (child == 0) {
		(void)execl("/proc/self/exe", "handler_case", "ignored", (char *)NULL);
		_exit(1);
	}
	expect_child("exec", child, 21 << 8);
	install(SIGUSR1, SIG_DFL, 0, 0);
	child = fork();
	if (child == 0) {
		(void)raise(SIGUSR1);
		_exit(1);
	}
	expect_child("killed by the default", child, SIGUSR1);
}

static int after_exec(const char *pipe_wanted)
{
	struct sigaction now;

	NEEDS(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
	NEEDS(sigaction(SIGPIPE, NULL, &now) == 0);
	NEEDS(now.sa_handler == (strcmp(pipe_wanted, "ignored") == 0 ? SIG_IGN : SIG_DFL));
	return 21;
}

/* A page that its handler makes writable: the interrupted store is done again. */
static char *page;

static void mend(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	if (info->si_addr != page || !context ||
	    mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0)
		_exit(6);
	add(&ran, 1);
}

static void faults(void)
{
	struct sigaction action, before;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = mend;
	action.sa_flags = SA_SIGINFO;
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEEDS(page != MAP_FAILED && sigaction(SIGSEGV, &action, &before) == 0);
	expect_true("the default before", before.sa_handler == SIG_DFL);
	set(&ran, 0);
	*(volatile char *)page = 7;
	expect_number("mended", get(&ran), 1);
	expect_number("written", *page, 7);
	NEEDS(sigaction(SIGSEGV, &before, NULL) == 0);
}

/* Handlers of two kinds are exchanged while signals come: each runs as what it is. */
static int stop;

static void *exchange(void *arg)
{
	struct sigaction plain;

	memset(&plain, 0, sizeof(plain));
	plain.sa_handler = simple;
	while (!get(&stop)) {
		install_info(SIGUSR1, 0);
		NEEDS(sigaction(SIGUSR1, &plain, NULL) == 0);
	}
	return arg;
}

#define SENT 20000

static void exchanged(void)
{
	pthread_t t;
	int i;

	install_info(SIGUSR1, 0);
	set(&wrong_info, 0);
	set(&ran, 0);
	t = begin_thread(exchange, NULL);
	for (i = 0; i < SENT; i++)
		NEEDS(raise(SIGUSR1) == 0);
	set(&stop, 1);
	(void)end_thread(t);
	expect_number("ran", get(&ran), SENT);
	expect_number("wrong information", get(&wrong_info), 0);
}

int main(int argc, char **argv)
{
	say_begin();
	if (argc > 1)
		return after_exec(argv[1]);
	kinds();
	nesting();
	old_ways();
	refused();
	children();
	faults();
	exchanged();
	return say_end();
}
