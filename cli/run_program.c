/* SPDX-License-Identifier: MIT */
/* Which file a name stands for, and whether the loader will put the module into its process. */
#include "run.h"
#include "../tools/common/program_look.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

bool run_is_module(const char *path)
{
	struct program_look l;

	return program_look(&l, path) && l.elf && l.class == ELFCLASS64 && l.type == ET_DYN;
}

/* The kernel would give it more rights than its user has, so its loader asks no user. */
static bool is_privileged(const char *path)
{
	struct statvfs fs;
	struct stat st;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || stat(path, &st) != 0 ||
	    (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOSUID))
		return false;
	if ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
	    (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getgid()))
		return true;
	return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

static const char *why_plain(const struct program_look *l, const char *path,
			     const char *module)
{
	static const char *const words[] = {
		[PROGRAM_IS_STATIC] = "it is linked statically",
		[PROGRAM_OF_OTHER_CLASS] = "it is a program of 32 bits",
		[PROGRAM_OF_OTHER_CPU] = "it is for another kind of CPU",
		[PROGRAM_OF_OTHER_LIBC] = "it runs with another C library",
		[PROGRAM_IS_SANITIZED] = "AddressSanitizer wants to be loaded first",
	};
	struct program_look its, self;
	enum program_fit fit;

	if (!program_look(&its, module) || !program_look(&self, "/proc/self/exe"))
		return NULL;
	fit = program_fits(l,
			   &(struct program_world){ its.class, its.data, its.machine,
						    self.interpreter },
			   getenv("LD_PRELOAD"));
	if (fit != PROGRAM_FITS)
		return words[fit];
	return is_privileged(path) ? "it runs with the rights of its owner, or with more"
				   : NULL;
}

/* A script's interpreter is what runs. What cannot be read is taken to be a usual program. */
static void judge(struct run_program *p, const char *module)
{
	char path[PATH_MAX];
	struct program_look l;

	memcpy(path, p->path, sizeof(path));
	if (!program_look(&l, path))
		return;
	p->shell = !l.elf && !l.script;
	for (int i = 1; i < PROGRAM_SCRIPTS_MOST && l.script; i++) {
		memcpy(path, l.interpreter, sizeof(l.interpreter));
		if (!program_look(&l, path))
			return;
	}
	if (!module)
		return;
	p->plain = l.elf ? why_plain(&l, path, module)
			 : "it is no ELF file, and no script that names an interpreter";
}

/* 0 if it is a program, and a negative errno if not. */
static int check(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return -errno;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

/* As execvp(3) does it: an empty folder is the current one, and what one may not run is passed. */
static int search(char path[PATH_MAX], const char *name)
{
	const char *folders = getenv("PATH");
	int result = -ENOENT;

	for (const char *at = folders ? folders : "/bin:/usr/bin";; at++) {
		int length = (int)strcspn(at, ":");
		int n = snprintf(path, PATH_MAX, "%.*s%s%s", length, at, length ? "/" : "",
				 name);
		int r = n < PATH_MAX ? check(path) : -ENOENT;

		if (!r)
			return 0;
		if (r == -EACCES)
			result = r;
		at += length;
		if (!*at)
			return result;
	}
}

int run_find(struct run_program *p, char **argv, const char *module)
{
	const char *name = argv[0];
	int r;

	*p = (struct run_program){ .argv = argv };
	if (!*name)
		return -ENOENT;
	if (!strchr(name, '/'))
		r = search(p->path, name);
	else if (strlen(name) < sizeof(p->path))
		r = check(strcpy(p->path, name));
	else
		r = -ENAMETOOLONG;
	if (!r)
		judge(p, module);
	return r;
}
