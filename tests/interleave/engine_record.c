/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "watch/record_place.c"

#include "os/file.h"

#define PATH "/record"

#define PLACES 8

/* What the file holds; records are words, as they lie in it. */
static struct {
	struct ipcwait_record_head head;
	uint64_t places[PLACES][IW_RECORD_BYTES / 8];
} content;

/* Notes of the test's own. */
static volatile unsigned files, complaints, waits, told;
static volatile bool fails;

/* As much as scenarios begin with; it grows to all of it. */
static uint64_t begin_room, begin_most;

/* Places that the file has, whatever its head says. */
static uint64_t places_there;

void iw_file_complain(const char *complaint, size_t size)
{
	(void)complaint;
	(void)size;
	complaints++;
}

const char *iw_record_file_error(int error)
{
	(void)error;
	return "";
}

/* Bytes of the file, as the kernel tells. */
static uint64_t bytes_of(uint64_t places)
{
	return sizeof(content.head) + places * IW_RECORD_BYTES;
}

int iw_record_file_open(struct iw_record_file *f, const char *path, size_t bytes)
{
	(void)path;
	(void)bytes;
	files++;
	fails = model_choose(2, "the file cannot be opened") == 1;
	f->fd = 3;
	f->bytes = bytes_of(begin_room);
	return fails ? -EACCES : 0;
}

static void fill_head(void)
{
	content.head.most = begin_most;
	content.head.room = begin_room;
	places_there = begin_room;
}

int iw_record_begin_file(const struct iw_record_file *f, struct iw_record_found *found)
{
	(void)f;
	fill_head();
	model_point();
	*found =
		(struct iw_record_found){ &content.head, sizeof(content.head), begin_most };
	return 0;
}

void iw_record_file_release(struct iw_record_file *f)
{
	f->fd = -1;
}

void iw_record_file_abandon(struct iw_record_file *f)
{
	f->fd = -1;
}

int iw_record_file_open_again(struct iw_record_file *f)
{
	static const int answers[] = { 0, -EAGAIN, -ESTALE };
	int r = answers[model_choose(3, "the file is another's, or not there")];

	model_assert(f->fd < 0);
	if (!r) {
		f->fd = 3;
		f->bytes = bytes_of(places_there);
	}
	return r;
}

/* The zeros: whoever writes to such a place must have seen that there is room. */
int iw_record_file_extend(const struct iw_record_file *f, uint64_t at, size_t bytes)
{
	uint64_t first = (at - sizeof(content.head)) / IW_RECORD_BYTES;

	model_assert(f->fd == 3 && at == bytes_of(first) && first == places_there);
	if (model_choose(2, "the disk is full") == 1)
		return -ENOSPC;
	for (uint64_t i = 0; i < bytes / IW_RECORD_BYTES; i++)
		content.places[first + i][1] = 0;
	places_there = first + bytes / IW_RECORD_BYTES;
	return 0;
}

bool iw_record_expand(char path[PATH_MAX], const char *text)
{
	path[0] = text[0];
	path[1] = '\0';
	return true;
}

uint32_t iw_record_pid(void)
{
	return 17;
}

void iw_record_tell_process(uint32_t parent)
{
	(void)parent;
	told++;
}

void iw_record_tell_memory(void)
{
}

void iw_record_tell_more_code(void)
{
}

static void begin(void)
{
	model_share(&state, sizeof(state));
	model_share(&generation, sizeof(generation));
	model_share(&growing, sizeof(growing));
	model_share(&pid, sizeof(pid));
	model_share(&file, sizeof(file));
	model_share(&head, sizeof(head));
	model_share(&records, sizeof(records));
	model_share(&most, sizeof(most));
	model_share(&held, sizeof(held));
	model_share(&content, sizeof(content));
	model_name(&state, "state");
	model_name(&growing, "growing");
	model_name(&content.head.used, "used");
	model_name(&content.head.room, "room");
	files = complaints = waits = told = 0;
	fails = false;
	begin_room = begin_most = PLACES;
}

static void begin_open_with(uint64_t room_now, uint64_t most_of_all)
{
	begin();
	begin_room = room_now;
	begin_most = most_of_all;
	fill_head();
	state.v = OPEN;
	generation.v = iw_process_generation();
	file.fd = -1;
	head = &content.head;
	records = (unsigned char *)content.places;
	most = most_of_all;
	held.v = room_now;
}

static void begin_open(void)
{
	begin_open_with(PLACES, PLACES);
}

static void begin_nearly_full(void)
{
	begin_open_with(2, 2);
}

static void begin_small(void)
{
	begin_open_with(1, 4);
}

/* A child that has given up its rights has written what it likes. */
static void begin_damaged(void)
{
	begin_small();
	content.head.room = PLACES;
}

/* It is a copy of one that was making room: what it has marked is another process's. */
static void begin_as_child(void)
{
	begin_small();
	generation.v = iw_process_generation() - 1;
	growing.v = BUSY | generation.v << STATE_BITS;
}

/* Or of one that was opening the file. */
static void begin_as_early_child(void)
{
	begin();
	state.v = OPENING | (iw_process_generation() - 1) << STATE_BITS;
}

/* Every wait is of another object. */
static void record(void)
{
	union iw_record r = { .wait = { .type = IPCWAIT_RECORD_WAIT, .object = ++waits } };

	if (!iw_record_is_open(PATH))
		return;
	iw_record_put(&r, 1);
}

static void record_twice(unsigned i)
{
	(void)i;
	record();
	record();
}

static const struct ipcwait_record_wait *place(unsigned i)
{
	return (const void *)content.places[i];
}

/* What another process sees meanwhile. */
static void look(void)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (ipcwait_impl_record_type(place(i)))
			model_assert(place(i)->object && place(i)->object <= waits);
}

static void record_or_look(unsigned i)
{
	if (i == 2)
		look();
	else
		record_twice(i);
}

/* No wait is in two places. Returns in how many there is one. */
static unsigned count_places(void)
{
	unsigned seen = 0, n = 0;

	for (unsigned i = 0; i < PLACES; i++) {
		if (!place(i)->type)
			continue;
		model_assert(place(i)->object && place(i)->object <= waits);
		model_assert(!(seen >> place(i)->object & 1));
		seen |= 1u << place(i)->object;
		n++;
	}
	return n;
}

static void one_file(void)
{
	model_assert(files == 1 && complaints == fails && told == !fails);
	model_assert(count_places() == (fails ? 0 : content.head.used));
	model_assert(fails || content.head.used >= 1);
	model_assert(state.v == (fails ? FAILED : OPEN));
}

static void all_places(void)
{
	model_assert(files == 0 && count_places() == waits && !content.head.lost);
}

static void nothing_beyond(void)
{
	model_assert(count_places() == 2 && place(0)->type && place(1)->type);
	model_assert(content.head.used < 2 + 3 && content.head.lost == waits - 2);
}

static void all_or_lost(void)
{
	model_assert(content.head.room == 1 || content.head.room == 4);
	model_assert(count_places() + content.head.lost == waits);
	for (uint64_t i = content.head.room; i < PLACES; i++)
		model_assert(!place((unsigned)i)->type);
	model_assert((growing.v == FREE || growing.v == CANNOT) && file.fd < 0);
	model_assert((growing.v == CANNOT) == (content.head.stopped != 0));
}

/* What there is no room for was never written: the file ends there. */
static void within_the_file(void)
{
	model_assert(count_places() + content.head.lost == waits);
	for (uint64_t i = places_there; i < PLACES; i++)
		model_assert(!place((unsigned)i)->type);
}

static void one_told(void)
{
	model_assert(told == 1);
	all_or_lost();
}

#define SEARCH                                                                             \
	{                                                                                  \
		.bound = 2, .weak_bound = 1, .stale = 2, .pct_depth = 3, .pct_runs = 4000, \
	}

const struct model_scenario engine_record[] = {
	{ .name = "record: the file is opened",
	  .threads = 3,
	  .about = "by one thread; nobody uses it before it is mapped, or if it cannot be",
	  .begin = begin,
	  .thread = record_twice,
	  .end = one_file,
	  .search = { .bound = 2,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "record: places are dealt",
	  .threads = 3,
	  .about = "every wait has a place, none has two, and who looks sees it complete",
	  .begin = begin_open,
	  .thread = record_or_look,
	  .end = all_places,
	  .search = SEARCH },
	{ .name = "record: the file is full",
	  .threads = 3,
	  .about = "nothing is written beyond its end, and the count does not run away",
	  .begin = begin_nearly_full,
	  .thread = record_twice,
	  .end = nothing_beyond,
	  .search = SEARCH },
	{ .name = "record: it grows",
	  .threads = 2,
	  .about = "one makes room; nobody writes where there is none yet",
	  .begin = begin_small,
	  .thread = record_twice,
	  .end = all_or_lost,
	  .search = SEARCH },
	{ .name = "record: its head lies",
	  .threads = 2,
	  .about = "about the room in it: nobody writes beyond the file's end",
	  .begin = begin_damaged,
	  .thread = record_twice,
	  .end = within_the_file,
	  .search = SEARCH },
	{ .name = "record: a child",
	  .threads = 2,
	  .about = "one thread tells of it, and makes room though its parent was at it",
	  .begin = begin_as_child,
	  .thread = record_twice,
	  .end = one_told,
	  .search = SEARCH },
	{ .name = "record: an early child",
	  .threads = 2,
	  .about = "one thread opens the file though its parent was at it",
	  .begin = begin_as_early_child,
	  .thread = record_twice,
	  .end = one_file,
	  .search = SEARCH },
	{ 0 },
};
