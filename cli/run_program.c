/* SPDX-License-Identifier: MIT */
/* Which file a name stands for, and whether the loader will put the module into its process. */
#include "run.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Interpreters that are scripts, one behind the other: what Linux allows. */
#define SCRIPTS_MOST 5

/* The beginning of a file; Linux looks for an interpreter no further. */
#define HEAD_BYTES 256

/* A sound program has a dozen. */
#define SEGMENTS_MOST 128

/* What the loader goes by. */
struct look {
	bool elf, script;
	unsigned char class, data;
	uint16_t machine, type;
	char interpreter
		[PATH_MAX]; /* of a script; of ELF, the loader: "" if it is static */
};

static void look_for_loader(struct look *l, int fd, const Elf64_Ehdr *head)
{
	Elf64_Phdr segment;

	for (unsigned i = 0; i < head->e_phnum && i < SEGMENTS_MOST; i++) {
		off_t at = (off_t)(head->e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return;
		if (segment.p_type == PT_INTERP &&
		    segment.p_filesz < sizeof(l->interpreter) &&
		    pread(fd, l->interpreter, segment.p_filesz, (off_t)segment.p_offset) >
			    0)
			return;
	}
}

static void look_at_elf(struct look *l, int fd, const Elf64_Ehdr *head)
{
	l->elf = true;
	l->class = head->e_ident[EI_CLASS];
	l->data = head->e_ident[EI_DATA];
	l->type = head->e_type;
	l->machine = head->e_machine;
	if (l->class == ELFCLASS64 && head->e_phentsize == sizeof(Elf64_Phdr))
		look_for_loader(l, fd, head);
}

/* "#! /bin/sh -e": the first word. */
static void look_at_script(struct look *l, const char *text)
{
	const char *word = text + strspn(text, " \t");
	size_t length = strcspn(word, " \t\n");

	l->script = length > 0;
	memcpy(l->interpreter, word, length);
}

/* False: it cannot be read, as programs need not be. */
static bool look_at(struct look *l, const char *path)
{
	union {
		char text[HEAD_BYTES + 1];
		Elf64_Ehdr elf;
	} head = { { 0 } };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, head.text, HEAD_BYTES);

	memset(l, 0, sizeof(*l));
	if (n >= (ssize_t)sizeof(head.elf) && !memcmp(head.text, ELFMAG, SELFMAG))
		look_at_elf(l, fd, &head.elf);
	else if (n > 2 && !memcmp(head.text, "#!", 2))
		look_at_script(l, head.text + 2);
	if (fd >= 0)
		close(fd);
	return n >= 0;
}

bool run_is_module(const char *path)
{
	struct look l;

	return look_at(&l, path) && l.elf && l.class == ELFCLASS64 && l.type == ET_DYN;
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

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *why_plain(const struct look *l, const char *path, const char *module)
{
	struct look own, self;

	if (!look_at(&own, module) || !look_at(&self, "/proc/self/exe"))
		return NULL;
	if (l->class != own.class)
		return "it is a program of 32 bits";
	if (l->machine != own.machine || l->data != own.data)
		return "it is for another kind of CPU";
	if (!l->interpreter[0])
		return "it is linked statically";
	if (self.interpreter[0] &&
	    strcmp(base(l->interpreter), base(self.interpreter)) != 0)
		return "it runs with another C library";
	return is_privileged(path) ? "it runs with the rights of its owner, or with more"
				   : NULL;
}

/* A script's interpreter is what runs. What cannot be read is taken to be a usual program. */
static void judge(struct run_program *p, const char *module)
{
	char path[PATH_MAX];
	struct look l;

	memcpy(path, p->path, sizeof(path));
	for (int i = 0; i < SCRIPTS_MOST; i++) {
		if (!look_at(&l, path))
			return;
		if (!l.script)
			break;
		memcpy(path, l.interpreter, sizeof(path));
	}
	p->shell = !l.elf && !strcmp(path, p->path);
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
