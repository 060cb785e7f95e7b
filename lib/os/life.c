/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ipcwait/impl/word.h>

#include "os/calls.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/fork.h"
#include "os/life.h"
#include "os/syscall.h"
#include "os/thread.h"

/* The largest page: of the CPU, and so the alignment that linkers give to programs anyway. */
#ifdef __aarch64__
#define PAGE_MOST 65536
#else
#define PAGE_MOST 4096
#endif

/* Fields of /proc/.../stat: proc(5). */
#define FIELD_STATE 3
#define FIELD_START 22
#define FIELD_STACK 28

/* Field 28 ends before 28 numbers of 20 digits and a name of 64 bytes do. */
#define STAT_BYTES 704

/* Of a path below iw_life_proc, which has less than 80. */
#define PATH_BYTES 128

/* Of a name, above those of the thread. */
#define PROCESS_BITS 15

#define NAMESPACES    1023
#define NAMESPACE_ONE (IW_BIRTH_BEGAN + 1)

const char *iw_life_proc = "/proc";

/*
 * The generation of processes that this one belongs to, by fork. The kernel sets it to 0 in every
 * child that gets a copy of memory; 0 before the first question and where it cannot do that. And
 * what makes names of ids, drawn at random for each process: an odd factor, and the high part.
 */
static struct {
	_Alignas(PAGE_MOST) struct ipcwait_word32 number;
	struct ipcwait_word64 key;
} generation;

/* How many were begun by this process and its ancestors: it is copied. */
static struct ipcwait_word32 generations;

/*
 * Whether the kernel does that, or libc in its place: asked once, by this process or one that it is
 * a copy of.
 */
enum { NOT_ASKED, CAPABLE, INCAPABLE };

static struct ipcwait_word32 capability;

static uint32_t make_it_vanish(void)
{
	long page = sysconf(_SC_PAGESIZE);

	if (page > PAGE_MOST)
		return INCAPABLE;
	/* An emulator that takes any advice, and follows none, says yes to this. */
	if (madvise(&generation, (size_t)page, -1) == 0)
		return INCAPABLE;
	return madvise(&generation, (size_t)page, MADV_WIPEONFORK) == 0 ? CAPABLE
									: INCAPABLE;
}

static void vanish(void)
{
	/* ORD life.X8: relaxed, protected by the fork: there is one thread. */
	ipcwait_impl_store64_relaxed(&generation.key, 0);
	ipcwait_impl_store32_relaxed(&generation.number, 0);
}

/*
 * The next best where the kernel may not be asked: children of _Fork(3) and clone(2) are not told.
 */
static uint32_t told_of_forks(void)
{
	static const struct iw_fork_hooks hooks = { .in_child = vanish };

	return iw_fork_hook(IW_FORK_LIFE, &hooks) ? CAPABLE : INCAPABLE;
}

/* The kernel's advice about a page is copied with it, so it is given once for all copies. */
static bool can_vanish(void)
{
	/* ORD life.X1: relaxed, hint: at worst the kernel is asked again. */
	uint32_t known = ipcwait_impl_load32_relaxed(&capability);

	if (known == NOT_ASKED) {
		known = iw_call_allowed(IW_CALL_FORGET) ? make_it_vanish()
							: told_of_forks();
		/* ORD life.X2: relaxed, hint, as life.X1. */
		ipcwait_impl_store32_relaxed(&capability, known);
	}
	return known == CAPABLE;
}

/*
 * A number that no thread has a copy of: each of them was dealt out by a counter that this
 * process has copied with them. Of two threads that ask first, both use the winner's.
 */
static uint32_t begin_generation(void)
{
	uint32_t seen = 0, fresh;

	if (!can_vanish())
		return 0;
	/* ORD life.X3: relaxed, no order: only the numbers matter. */
	fresh = ipcwait_impl_add32_relaxed(&generations, 1) + 1;
	/* ORD life.X4: relaxed, no order, as life.X3. */
	return ipcwait_impl_cas32_relaxed(&generation.number, &seen, fresh) ? fresh : seen;
}

uint32_t iw_process_generation(void)
{
	/* ORD life.X5: relaxed, no order, as life.X3. */
	uint32_t number = ipcwait_impl_load32_relaxed(&generation.number);
	int saved_errno = errno;

	if (number)
		return number;
	number = begin_generation();
	errno = saved_errno;
	return number;
}

/*
 * What a thread keeps about itself has the generation in its high half: from before it was read,
 * since a signal handler may fork meanwhile. One assignment: a handler finds the old or the new.
 */
static uint64_t kept(uint32_t number, uint32_t value)
{
	return (uint64_t)number << 32 | value;
}

static bool is_kept(uint32_t number, uint64_t value)
{
	return number && value >> 32 == number;
}

uint32_t iw_thread_id(void)
{
	uint32_t number = iw_process_generation();
	uint32_t id;

	if (is_kept(number, iw_thread.id))
		return (uint32_t)iw_thread.id;
	if (!iw_call_allowed(IW_CALL_THREAD_ID))
		return 0;
	id = (uint32_t)IW_SYS(SYS_gettid);
	iw_thread.id = kept(number, id);
	return id;
}

static uint64_t scrambled(uint64_t x)
{
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Early in the boot, or behind a filter, the kernel deals out no random numbers. */
static uint64_t draw(void)
{
	int saved_errno = errno;
	uint64_t n = 0;

	if (!iw_call_allowed(IW_CALL_RANDOM) ||
	    IW_SYS(SYS_getrandom, &n, sizeof(n), GRND_NONBLOCK) != sizeof(n))
		n = scrambled((uint64_t)iw_clock_ns() + ((uint64_t)iw_thread_id() << 32) +
			      (uintptr_t)&iw_thread);
	errno = saved_errno;
	return n;
}

/* Of two threads that ask first, both use the winner's. */
static uint64_t begin_key(void)
{
	uint64_t seen = 0, fresh = (draw() >> (64 - IW_NAME_BITS - PROCESS_BITS)) | 1;

	/* ORD life.X6: relaxed, no order, as life.X3. */
	return ipcwait_impl_cas64_relaxed(&generation.key, &seen, fresh) ? fresh : seen;
}

/* To multiply by what is odd is to permute the ids; 0, which is none, stays where it is. */
uint64_t iw_thread_name(void)
{
	uint64_t id = iw_thread_id();
	/* ORD life.X7: relaxed, no order, as life.X3. */
	uint64_t key = ipcwait_impl_load64_relaxed(&generation.key);

	if (!key)
		key = begin_key();
	return (id * key & IW_NAME_THREAD) | (key & ~IW_NAME_THREAD);
}

/* What the kernel says about a thread. */
struct seen {
	uint32_t id; /* in the namespace that /proc belongs to */
	char state;
	uint32_t began; /* 0 if not known */
};

/* No snprintf() and no strtoul(), which a signal handler may not call. */
static char *put_number(char *at, uint32_t n)
{
	char digits[10], *digit = digits;

	do
		*digit++ = (char)('0' + n % 10);
	while (n /= 10);
	while (digit > digits)
		*at++ = *--digit;
	*at = '\0';
	return at;
}

static uint64_t number_at(const char *at)
{
	uint64_t n = 0;

	while (*at >= '0' && *at <= '9')
		n = n * 10 + (uint64_t)(*at++ - '0');
	return n;
}

static const char *skip_fields(const char *at, unsigned n)
{
	while (n && *at)
		n -= *at++ == ' ';
	return at;
}

/*
 * Where @stack is 0, the thread is none of ours to look at, or on its way to its end. Children that
 * are forked within a tick of the kernel's differ in @id only.
 */
static uint32_t sum(uint64_t id, uint64_t start, uint64_t stack)
{
	uint32_t began = (uint32_t)(scrambled(start + (stack >> 4) + (id << 40)) >> 43);

	if (!start || !stack)
		return 0;
	return began ? began : 1;
}

/* The name of the program may contain anything, and stands between parentheses. */
static bool parse(const char *text, struct seen *s)
{
	const char *end = strrchr(text, ')'), *start, *stack;

	if (!end || end[1] != ' ' || !end[2])
		return false;
	start = skip_fields(end + 2, FIELD_START - FIELD_STATE);
	stack = skip_fields(start, FIELD_STACK - FIELD_START);
	s->id = (uint32_t)number_at(text);
	s->state = end[2];
	s->began = sum(s->id, number_at(start), number_at(stack));
	return true;
}

/*
 * 0 or a negative errno. @id 0: the calling thread. A frame of its own: its kilobyte is on the
 * stack once.
 */
__attribute__((noinline)) static int see(uint32_t id, struct seen *s)
{
	char path[PATH_BYTES], text[STAT_BYTES], *at = stpcpy(path, iw_life_proc);
	int r;

	if (id)
		at = put_number(stpcpy(put_number(stpcpy(at, "/"), id), "/task/"), id);
	else
		at = stpcpy(at, "/thread-self");
	(void)stpcpy(at, "/stat");
	r = iw_file_read(path, text, sizeof(text));
	if (r < 0)
		return r;
	return parse(text, s) ? 0 : -ENODATA;
}

/* What could not be read for this reason may be read later. */
static bool will_pass(int r)
{
	return r == -EMFILE || r == -ENFILE || r == -ENOMEM || r == -EINTR;
}

/*
 * A namespace is known by its inode; inodes are dealt out one after the other. 0 or a negative
 * errno, and then *@inode is 0.
 */
static int see_namespace(const char *name, uint64_t *inode)
{
	char path[PATH_BYTES];
	struct stat st;

	*inode = 0;
	(void)stpcpy(stpcpy(stpcpy(path, iw_life_proc), "/thread-self/ns/"), name);
	if (stat(path, &st) != 0)
		return -errno;
	*inode = (uint64_t)st.st_ino;
	return 0;
}

/*
 * The high part of births, 0 if it is not known. False if it is worth another try. Kernels before
 * 5.6 have no time namespaces.
 */
static bool read_namespaces(uint32_t *part)
{
	uint64_t pids, times;
	int of_pids = see_namespace("pid", &pids), of_times = see_namespace("time", &times);

	*part = 0;
	if (will_pass(of_pids) || will_pass(of_times))
		return false;
	if (!of_pids)
		*part = (uint32_t)((pids + 5 * times) % NAMESPACES + 1) * NAMESPACE_ONE;
	return true;
}

/* Drawn once for each thread. Where it cannot be kept, it has to be the same each time. */
static uint32_t drawn_birth(void)
{
	uint32_t number = iw_process_generation();

	if (!is_kept(number, iw_thread.drawn)) {
		uint64_t n = number ? draw() : scrambled(iw_thread_name());

		iw_thread.drawn = kept(number, (uint32_t)(n >> 43) | IW_BIRTH_DRAWN);
	}
	return (uint32_t)iw_thread.drawn;
}

/* False if it is worth another try. */
static bool read_birth(uint32_t *birth)
{
	struct seen self;
	int r = see(0, &self);
	bool final = read_namespaces(birth) && !will_pass(r);

	if (!*birth)
		return final;
	if (r || self.id != iw_thread_id() || !self.began)
		*birth |= drawn_birth();
	else
		*birth |= self.began;
	return final;
}

uint32_t iw_thread_birth(void)
{
	uint32_t number = iw_process_generation();
	int saved_errno = errno;
	uint32_t birth;

	if (is_kept(number, iw_thread.birth))
		return (uint32_t)iw_thread.birth;
	if (read_birth(&birth))
		iw_thread.birth = kept(number, birth);
	errno = saved_errno;
	return birth;
}

bool iw_thread_has_birth(uint32_t birth)
{
	uint32_t own = iw_thread_birth();

	if (birth == own)
		return true;
	return birth & IW_BIRTH_DRAWN && (birth & IW_BIRTH_BEGAN) == drawn_birth() &&
	       birth / NAMESPACE_ONE == own / NAMESPACE_ONE;
}

/* True if no thread has that id; false if one has, or it is not told. */
static bool is_free(uint32_t id)
{
	int saved_errno = errno;
	bool result = IW_SYS(SYS_tkill, (int)id, 0) != 0 && errno == ESRCH;

	errno = saved_errno;
	return result;
}

/* Only where the caller finds itself in /proc, which may be that of another namespace. */
static enum iw_life look_at(uint32_t id, uint32_t began)
{
	struct seen s;

	if (see(id, &s) || s.id != id)
		return is_free(id) ? IW_DEAD : IW_UNKNOWN;
	if (s.state == 'Z' || s.state == 'X' || s.state == 'x')
		return IW_DEAD;
	if (!began || !s.began)
		return IW_UNKNOWN;
	return s.began == began ? IW_ALIVE : IW_DEAD;
}

enum iw_life iw_thread_life(uint32_t id, uint32_t birth)
{
	uint32_t self = iw_thread_birth();

	if (self / NAMESPACE_ONE != birth / NAMESPACE_ONE || !(self / NAMESPACE_ONE))
		return IW_UNKNOWN;
	if (id == iw_thread_id() && birth & IW_BIRTH_BEGAN)
		return iw_thread_has_birth(birth) ? IW_ALIVE : IW_DEAD;
	if (is_free(id))
		return IW_DEAD;
	if (!iw_birth_known(self))
		return IW_UNKNOWN;
	return look_at(id, iw_birth_known(birth) ? birth & IW_BIRTH_BEGAN : 0);
}
