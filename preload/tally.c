/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ipcwait/impl/word.h>

#include "../tools/common/tally_form.h"
#include "env/config.h"
#include "os/fork.h"
#include "os/note.h"
#include "os/shared_file.h"
#include "tally.h"
#include "watch/stats.h"

/* What the library counts in, and what it looks like in a slot. */
static struct iw_stats_table table;
static struct tally_shape shape;

/* Which file, and where. A copy: the program may change its environment. */
static unsigned long long inode;
static char path[IW_CONFIG_PATH_BYTES];

static struct tally_head *head; /* NULL: nobody has asked */

static uint32_t add(uint32_t *count)
{
	/* ORD tally.X1: relaxed, statistic; and deals out slots. */
	return ipcwait_impl_add32_relaxed((struct ipcwait_word32 *)count, 1);
}

void iw_tally_left_out(int n)
{
	/* ORD tally.X2: relaxed, statistic. */
	if (head)
		(void)ipcwait_impl_add32_relaxed((struct ipcwait_word32 *)&head->left_out,
						 (uint32_t)n);
}

/* A descriptor, or -1. */
static int open_tally(void)
{
	int fd = iw_shared_file_open_of(path, TALLY_BYTES);
	struct iw_shared_file_id id;

	if (fd < 0)
		return -1;
	if (iw_shared_file_identify(fd, &id) && id.inode == inode)
		return fd;
	iw_shared_file_close(fd);
	return -1;
}

static bool take_slot(int fd)
{
	uint32_t slot = add(&head->taken) % TALLY_SLOTS;

	return iw_shared_file_lay(fd, TALLY_HEAD_BYTES + slot * TALLY_SLOT_BYTES,
				  table.memory, table.bytes);
}

/*
 * A slot of its own: two processes in one would lose counts, as a thread adds to its own without a
 * locked instruction, and every wait of the one would take the line from the other. Where it cannot
 * open the file any more, having given up its rights, changed its root or begun a filter of system
 * calls, it has to share.
 */
static void in_child(void)
{
	int fd = open_tally();

	(void)add(&head->forks);
	if (fd < 0 || !take_slot(fd))
		(void)add(&head->unopened);
	if (fd >= 0)
		iw_shared_file_close(fd);
}

/* Another build of the library, which lays its counters out in another way, does not count. */
static bool fits(struct tally_head *h)
{
	static const struct tally_shape none;

	if (h->magic != TALLY_MAGIC || h->version != TALLY_VERSION ||
	    table.bytes > TALLY_SLOT_BYTES)
		return false;
	if (memcmp(&h->shape, &none, sizeof(none)) == 0)
		h->shape = shape;
	return memcmp(&h->shape, &shape, sizeof(shape)) == 0;
}

/* False: this program is not counted. */
static bool begin(int fd)
{
	static const struct iw_fork_hooks hooks = { .in_child = in_child };
	struct tally_head *h = iw_shared_file_map(fd, sizeof(*h), true);

	if (!h)
		return false;
	head = h;
	if (fits(h) && take_slot(fd) && iw_fork_hook(IW_FORK_TALLY, &hooks)) {
		(void)add(&h->programs);
		return true;
	}
	head = NULL;
	iw_shared_file_unmap(h, sizeof(*h));
	return false;
}

static bool join(void)
{
	int fd = open_tally();
	bool joined = fd >= 0 && begin(fd);

	if (fd >= 0)
		iw_shared_file_close(fd);
	return joined;
}

void tally_join(const char *where)
{
	char socket[sizeof(TALLY_SOCKET) + 20];
	char *end;

	inode = strtoull(where, &end, 10);
	if (*end != ':' || !iw_config_take_path(path, end + 1))
		return;
	iw_stats_table(&table);
	shape = (struct tally_shape){ table.shards,     table.shard_bytes, table.kinds,
				      table.kind_bytes, table.events,      table.reasons,
				      table.reasons_at, table.moves };
	if (join())
		return;
	(void)snprintf(socket, sizeof(socket), TALLY_SOCKET, inode);
	iw_note_send(socket);
}
