/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "env/calibration_file.h"
#include "env/calibration_key.h"
#include "os/file.h"
#include "os/private_file.h"
#include "os/seam.h"

/* What is read at most. A file that this library wrote has some 3 KiB. */
#define BYTES_MOST 65536

/* Read at a time: this runs on the stack of whatever thread loads the library. */
#define CHUNK 512

/* Where a path came from. */
enum source {
	NOWHERE,
	NAMED,   /* IPCWAIT_CALIBRATION */
	DEFAULT, /* the user's cache */
};

static bool join(char path[IW_CONFIG_PATH_BYTES], const char *folder, const char *rest)
{
	return folder && *folder == '/' &&
	       iw_file_join(path, IW_CONFIG_PATH_BYTES, folder, rest);
}

static enum source find_default(char path[IW_CONFIG_PATH_BYTES])
{
	if (join(path, secure_getenv("XDG_CACHE_HOME"), "/ipcwait/calibration") ||
	    join(path, secure_getenv("HOME"), "/.cache/ipcwait/calibration"))
		return DEFAULT;
	return NOWHERE;
}

static enum source find(char path[IW_CONFIG_PATH_BYTES])
{
	static struct ipcwait_word32 warnings;
	const char *named = secure_getenv("IPCWAIT_CALIBRATION");

	if (!named || !*named)
		return find_default(path);
	if (strcmp(named, "none") == 0)
		return NOWHERE;
	if (iw_config_take_path(path, named))
		return NAMED;
	iw_config_warn_once_of(
		&warnings, "IPCWAIT_CALIBRATION", named,
		"not an absolute path below 1024 bytes of printable text, nor `none`");
	return find_default(path);
}

bool iw_calibration_path(char path[IW_CONFIG_PATH_BYTES])
{
	return find(path) != NOWHERE;
}

/* NULL for what is no fault of the file: there is none, or the process has run out of files. */
static const char *reason(int r)
{
	switch (r) {
	case -EPERM:
		return "it is not yours alone to write";
	case -EFBIG:
		return "it is too long";
	case -EINVAL:
	case -ELOOP:
	case -ENXIO:
		return "it is not a regular file";
	default:
		return NULL;
	}
}

static enum iw_calibration_verdict read_all(int fd, struct ipcwait_calibration *c)
{
	struct iw_calibration_key key;
	struct iw_calibration_parser parser;
	char bytes[CHUNK];
	size_t left = BYTES_MOST;
	int n;

	iw_calibration_key_read(&key);
	iw_calibration_parse_begin(&parser, &key, c);
	while ((n = iw_private_file_read(fd, bytes, sizeof(bytes))) > 0 &&
	       left >= (size_t)n) {
		iw_calibration_parse(&parser, bytes, (size_t)n);
		left -= (size_t)n;
	}
	return n != 0 ? IW_CALIBRATION_DAMAGED : iw_calibration_parse_end(&parser);
}

static bool load(const char *path, struct ipcwait_calibration *c)
{
	static struct ipcwait_word32 warnings;
	enum iw_calibration_verdict verdict;
	const char *why = NULL;
	int fd = iw_private_file_open(path, BYTES_MOST);

	if (fd < 0) {
		why = reason(fd);
		verdict = IW_CALIBRATION_OTHER;
	} else {
		verdict = read_all(fd, c);
		iw_private_file_close(fd);
		if (verdict == IW_CALIBRATION_DAMAGED)
			why = "it is damaged";
	}
	if (why)
		iw_config_warn_once(&warnings, "the saved calibration", why);
	return verdict == IW_CALIBRATION_GOOD && iw_calibration_conclude(c);
}

bool iw_calibration_load(struct ipcwait_calibration *c)
{
	char path[IW_CONFIG_PATH_BYTES];

	if (find(path) == NOWHERE || !load(path, c)) {
		memset(c, 0, sizeof(*c));
		return false;
	}
	c->is_from_cache = 1;
	return true;
}

static int store(const char *path, enum source from, const char *text, size_t length)
{
	int r = iw_private_file_write(path, text, length);

	if (r == -ENOENT && from == DEFAULT) {
		r = iw_private_file_make_room(path);
		return r ? r : iw_private_file_write(path, text, length);
	}
	return r;
}

int iw_calibration_store(const struct ipcwait_calibration *c)
{
	char path[IW_CONFIG_PATH_BYTES], text[IW_CALIBRATION_TEXT_BYTES];
	struct iw_calibration_key key;
	enum source from = find(path);
	int length;

	if (from == NOWHERE)
		return -ENOENT;
	iw_calibration_key_read(&key);
	length = iw_calibration_format(text, &key, c);
	return length < 0 ? length : store(path, from, text, (size_t)length);
}
