/* SPDX-License-Identifier: MIT */
/*
 * The exec functions and posix_spawn(). The module is taken out of the environment of a program
 * into which the loader could not put it (of another class, CPU or C library, or where its file
 * cannot be read), since the loader would complain or refuse, and of one in which AddressSanitizer
 * wants to come first. Nothing is said; `ipcwait run --stats` counts it.
 *
 * What cannot be told leaves the environment as it is. Behind a filter of system calls that the
 * program has begun it is not asked. May run in the child of vfork(2) and in a signal handler:
 * nothing is kept.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "../tools/common/program_look.h"
#include "chain.h"
#include "module.h"
#include "original.h"
#include "os/calls.h"
#include "os/pointer.h"
#include "os/seam.h"
#include "os/worker.h"
#include "tally.h"

/* A larger environment, or a longer LD_PRELOAD, is left as it is: the copy is on the stack. */
#define ENTRIES_MOST 512
#define CHAIN_MOST   1024

/* Of an entry of LD_PRELOAD that is looked at. */
#define ENTRY_BYTES 512

/* A program whose path is longer is not looked at: a handler may start it, on a small stack. */
#define PATH_BYTES 512

/* As execvp(3). */
#define USUAL_FOLDERS "/bin:/usr/bin"

/* A program that is about to start. */
struct start {
	int (*call)(const struct start *s, char *const *environment); /* the original */
	const char *path;
	int fd; /* of the program, or of the folder that @path is relative to; else AT_FDCWD */
	bool by_fd;  /* @fd is the program */
	bool search; /* in the folders of PATH */
	int flags;   /* of execveat() */
	char *const *argv, *const *environment;
	/* Of posix_spawn(). */
	pid_t *pid;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
};

/* Of this process, which the module fits. Noted before main(). */
static struct program_world own = { .class = ELFCLASS64,
				    .data = ELFDATA2LSB,
				    .machine = IW_ARCH_ELF_MACHINE,
				    .loader = IW_ARCH_LOADER };

static __attribute__((constructor)) void note_loader(void)
{
	Dl_info loader;

	if (dladdr(iw_pointer(getauxval(AT_BASE)), &loader) && loader.dli_fname)
		own.loader = loader.dli_fname;
}

/*
 * The loader would not, or only with a complaint, put this module into it. What is linked
 * statically ignores it, and hands it down.
 */
static bool is_of_another_world(const struct program_look *l, const char *chain)
{
	enum program_fit fit = l->elf ? program_fits(l, &own, chain) : PROGRAM_FITS;

	return fit != PROGRAM_FITS && fit != PROGRAM_IS_STATIC;
}

/* By its name in @chain, as the loader will look for it: it may have another root by now. */
static bool can_read_module(const char *chain)
{
	char path[ENTRY_BYTES];
	size_t length;
	const char *entry = iw_chain_entry(chain, &length);

	if (!memchr(entry, '/', length) || length >= sizeof(path))
		return true;
	memcpy(path, entry, length);
	path[length] = '\0';
	return access(path, R_OK) == 0 || (errno != ENOENT && errno != EACCES);
}

/*
 * The first file of that name that may be executed. False: there is none, or its path is too long.
 */
static bool find_in_folders(char path[PATH_BYTES], const char *name)
{
	const char *folders = NULL;

	for (char **entry = environ; entry && *entry && !folders; entry++)
		folders = iw_chain_value(*entry, "PATH");
	for (const char *at = folders ? folders : USUAL_FOLDERS;; at++) {
		size_t length = strcspn(at, ":"), more = strlen(name);

		if (length + more + 2 > PATH_BYTES)
			return false;
		memcpy(path, at, length);
		path[length] = '/';
		memcpy(path + length + (length > 0), name, more + 1);
		if (access(path, X_OK) == 0)
			return true;
		at += length;
		if (!*at)
			return false;
	}
}

static __attribute__((noinline)) bool look_in_folders(struct program_look *l,
						      const char *name)
{
	char path[PATH_BYTES];

	return find_in_folders(path, name) && program_look(l, path);
}

static bool look_at_program(struct program_look *l, const struct start *s)
{
	bool known;

	if (s->by_fd)
		known = program_look_at(l, s->fd);
	else if (s->search && !strchr(s->path, '/'))
		known = look_in_folders(l, s->path);
	else if (s->actions && s->path[0] != '/')
		known = false; /* they may change the folder first */
	else
		known = program_look_in(l, s->fd, s->path);
	return known && program_look_on(l);
}

static __attribute__((noinline)) bool leaves_out(const struct start *s, const char *chain)
{
	int saved_errno = errno, cancel = iw_cancel_off();
	struct program_look l;
	bool out = !can_read_module(chain);

	if (!out && look_at_program(&l, s))
		out = is_of_another_world(&l, chain);
	iw_cancel_restore(cancel);
	errno = saved_errno;
	return out;
}

/* With a copy of the environment in which LD_PRELOAD is shorter. */
static __attribute__((noinline)) int start_without(const struct start *s, const char *chain)
{
	size_t name = sizeof(IW_CHAIN_VARIABLE), length = strlen(chain), n = 0;
	char **copy, *entry;
	int r;

	while (n <= ENTRIES_MOST && s->environment[n])
		n++;
	if (n > ENTRIES_MOST || length > CHAIN_MOST)
		return s->call(s, s->environment);
	copy = __builtin_alloca((n + 1) * sizeof(*copy));
	entry = __builtin_alloca(name + length + 1);
	memcpy(entry, IW_CHAIN_VARIABLE "=", name);
	memcpy(entry + name, chain, length + 1);
	iw_chain_cut(entry + name);
	memcpy(copy, s->environment, (n + 1) * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		if (iw_chain_value(copy[i], IW_CHAIN_VARIABLE))
			copy[i] = entry;
	iw_tally_left_out(1);
	r = s->call(s, copy);
	if (r != 0)
		iw_tally_left_out(-1);
	return r;
}

static int start_program(const struct start *s)
{
	const char *chain = iw_chain_of(s->environment);

	if (!chain || !s->path || !iw_call_allowed(IW_CALL_AGAIN) || !leaves_out(s, chain))
		return s->call(s, s->environment);
	return start_without(s, chain);
}

static int call_execve(const struct start *s, char *const *environment)
{
	return original()->execve(s->path, s->argv, environment);
}

static int call_execvpe(const struct start *s, char *const *environment)
{
	return original()->execvpe(s->path, s->argv, environment);
}

static int call_fexecve(const struct start *s, char *const *environment)
{
	return original()->fexecve(s->fd, s->argv, environment);
}

static int call_execveat(const struct start *s, char *const *environment)
{
	return original()->execveat(s->fd, s->path, s->argv, environment, s->flags);
}

static int call_spawn(const struct start *s, char *const *environment)
{
	return original()->posix_spawn(s->pid, s->path, s->actions, s->attributes, s->argv,
				       environment);
}

static int call_spawnp(const struct start *s, char *const *environment)
{
	return original()->posix_spawnp(s->pid, s->path, s->actions, s->attributes, s->argv,
					environment);
}

static int start_file(const char *path, char *const *argv, char *const *environment)
{
	return start_program(&(struct start){ .call = call_execve,
					      .path = path,
					      .fd = PROGRAM_HERE,
					      .argv = argv,
					      .environment = environment });
}

static int start_found(const char *name, char *const *argv, char *const *environment)
{
	return start_program(&(struct start){ .call = call_execvpe,
					      .path = name,
					      .fd = PROGRAM_HERE,
					      .search = true,
					      .argv = argv,
					      .environment = environment });
}

IW_INTERPOSED int execve(const char *path, char *const argv[], char *const environment[])
{
	return start_file(path, argv, environment);
}

IW_INTERPOSED int execv(const char *path, char *const argv[])
{
	return start_file(path, argv, environ);
}

IW_INTERPOSED int execvpe(const char *name, char *const argv[], char *const environment[])
{
	return start_found(name, argv, environment);
}

IW_INTERPOSED int execvp(const char *name, char *const argv[])
{
	return start_found(name, argv, environ);
}

IW_INTERPOSED int fexecve(int fd, char *const argv[], char *const environment[])
{
	return start_program(&(struct start){ .call = call_fexecve,
					      .path = "",
					      .fd = fd,
					      .by_fd = true,
					      .argv = argv,
					      .environment = environment });
}

static bool is_empty(const char *path)
{
	return path && !*path;
}

IW_INTERPOSED int execveat(int folder, const char *path, char *const argv[],
			   char *const environment[], int flags)
{
	return start_program(&(struct start){ .call = call_execveat,
					      .path = path,
					      .fd = folder,
					      .by_fd = is_empty(path),
					      .flags = flags,
					      .argv = argv,
					      .environment = environment });
}

IW_INTERPOSED int posix_spawn(pid_t *restrict pid, const char *restrict path,
			      const posix_spawn_file_actions_t *restrict actions,
			      const posix_spawnattr_t *restrict attributes,
			      char *const argv[restrict], char *const environment[restrict])
{
	return start_program(&(struct start){ .call = call_spawn,
					      .path = path,
					      .fd = PROGRAM_HERE,
					      .argv = argv,
					      .environment = environment,
					      .pid = pid,
					      .actions = actions,
					      .attributes = attributes });
}

IW_INTERPOSED int posix_spawnp(pid_t *restrict pid, const char *restrict name,
			       const posix_spawn_file_actions_t *restrict actions,
			       const posix_spawnattr_t *restrict attributes,
			       char *const argv[restrict],
			       char *const environment[restrict])
{
	return start_program(&(struct start){ .call = call_spawnp,
					      .path = name,
					      .fd = PROGRAM_HERE,
					      .search = true,
					      .argv = argv,
					      .environment = environment,
					      .pid = pid,
					      .actions = actions,
					      .attributes = attributes });
}

/* The arguments behind the first, and the NULL that ends them. */
static size_t count_arguments(va_list rest)
{
	size_t n = 1;

	while (va_arg(rest, char *))
		n++;
	return n;
}

/* @n of them, behind the first. */
static void take_arguments(char **argv, const char *first, size_t n, va_list rest)
{
	argv[0] = (char *)first;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(rest, char *);
}

/* With arguments that are listed up to a NULL, and the environment of the process. */
static int start_listed(int (*start)(const char *, char *const *, char *const *),
			const char *name, const char *first, va_list rest)
{
	va_list again;
	char **argv;
	size_t n;

	va_copy(again, rest);
	n = count_arguments(rest);
	argv = __builtin_alloca((n + 1) * sizeof(*argv));
	take_arguments(argv, first, n, again);
	va_end(again);
	return start(name, argv, environ);
}

IW_INTERPOSED int execl(const char *path, const char *first, ...)
{
	va_list rest;
	int r;

	va_start(rest, first);
	r = start_listed(start_file, path, first, rest);
	va_end(rest);
	return r;
}

IW_INTERPOSED int execlp(const char *name, const char *first, ...)
{
	va_list rest;
	int r;

	va_start(rest, first);
	r = start_listed(start_found, name, first, rest);
	va_end(rest);
	return r;
}

IW_INTERPOSED int execle(const char *path, const char *first, ...)
{
	char **argv, *const *environment;
	va_list rest;
	size_t n;

	va_start(rest, first);
	n = count_arguments(rest);
	va_end(rest);
	argv = __builtin_alloca((n + 1) * sizeof(*argv));
	va_start(rest, first);
	take_arguments(argv, first, n, rest);
	environment = va_arg(rest, char *const *);
	va_end(rest);
	return start_file(path, argv, environment);
}
