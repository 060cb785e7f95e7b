/* SPDX-License-Identifier: MIT */
#include "os/descriptor_watch.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include <ipcwait/impl/word.h>

#include "os/clock.h"
#include "os/descriptor.h"
#include "os/fork.h"
#include "os/futex.h"
#include "os/helper.h"
#include "os/own_fd.h"
#include "os/own_lock.h"
#include "os/pointer.h"
#include "os/syscall.h"

/* Of the thread, and its thread data is in it too. It needs less than 2 KiB itself. */
#define STACK_BYTES 131072

/* What it is told at a time. */
#define EVENTS 16

/*
 * It ends when nobody has had a slot for so long, in ns: a process whose other threads have all
 * ended would live on for it. One that could not be made is asked for again after a second.
 */
#define IDLE_NS   INT64_C(5000000000)
#define FAILED_NS INT64_C(1000000000)

/* How a slot is in the master: the thread is told once that it has a ready descriptor. */
#define ARMED (EPOLLIN | EPOLLONESHOT)

struct iw_watch_slot {
	/* Only ever incremented, so a late increment is a needless wake for whoever is next. */
	struct ipcwait_word32 word;

	int epoll; /* if it is open: of what one thread waits for; nothing between its waits */
	bool open; /* protected by lock, and what follows */
	bool taken;

	/* Its owner's: something of it could not be removed. */
	bool stained;
};

static struct iw_watch_slot slots[IW_WATCHES];

/* Held over fork(2) too, so that a child has no descriptor that nobody has noted yet. */
static struct iw_own_lock lock;
static bool running;      /* protected by lock, and what follows: there is a thread */
static uint32_t starts;   /* how often one was asked for */
static uint32_t starting; /* the start that is under way; 0: none */
static bool have_master;
static int master;        /* the epoll instance that has those of all slots */
static int64_t failed_at; /* when no thread could be made; 0: never */
static uint32_t process;  /* how many forks have led to this one */

/* Forks are told of: set before main(). */
static bool have_hooks;

/* 1: the program has closed what is not its own, or done worse. Nothing is watched any more. */
static struct ipcwait_word32 broken;

static int control(int epoll, int operation, int fd, uint32_t events, void *data)
{
	struct epoll_event e = { .events = events, .data.ptr = data };

	return (int)iw_syscall(SYS_epoll_ctl, epoll, operation, fd, (long)&e, 0, 0);
}

static int new_epoll(void)
{
	return iw_own_fd((int)iw_syscall(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0, 0, 0, 0));
}

static bool is_broken(void)
{
	/* ORD descriptor_watch.X1: relaxed, hint: who sleeps all the same is told. */
	return ipcwait_impl_load32_relaxed(&broken);
}

static void tell(struct iw_watch_slot *slot)
{
	/*
	 * ORD descriptor_watch.R1: release, after the kernel has said that it is ready. Pairs with
	 * descriptor_watch.A1.
	 */
	(void)ipcwait_impl_add32_release(&slot->word, 1);
	(void)iw_futex_wake((const uint32_t *)&slot->word, 1, true);
}

/* Who sleeps looks, and finds that nothing is watched. */
static void break_down(void)
{
	iw_own_lock(&lock);
	/* ORD descriptor_watch.X2: relaxed, hint, as descriptor_watch.X1. */
	ipcwait_impl_store32_relaxed(&broken, 1);
	for (unsigned i = 0; i < IW_WATCHES; i++)
		if (slots[i].taken)
			tell(&slots[i]);
	iw_own_unlock(&lock);
}

static bool is_slot(const void *p)
{
	uintptr_t at = (uintptr_t)p - (uintptr_t)slots;

	return at < sizeof(slots) && at % sizeof(slots[0]) == 0;
}

/* False if that was no event of ours: the number is another's by now. */
static bool tell_all(const struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		if (!is_slot(events[i].data.ptr))
			return false;
		tell(events[i].data.ptr);
	}
	return true;
}

/* Whoever takes a slot from then on makes another. */
static bool retires(void)
{
	bool idle = true;

	iw_own_lock(&lock);
	for (unsigned i = 0; i < IW_WATCHES; i++)
		idle &= !slots[i].taken;
	running = !idle;
	iw_own_unlock(&lock);
	return idle;
}

/* The kernel says that it is there already, or all has been closed, and the master is another's. */
static bool is_in_master(const struct iw_watch_slot *slot)
{
	int r = control(master, EPOLL_CTL_ADD, slot->epoll, 0, NULL);

	if (!r)
		(void)control(master, EPOLL_CTL_DEL, slot->epoll, 0, NULL);
	return r == -EEXIST;
}

/* From the epoll instance of another this thread would take what its owner waits for. */
static bool has_master_of_its_own(void)
{
	unsigned i = 0;
	bool own;

	iw_own_lock(&lock);
	while (i < IW_WATCHES && !slots[i].open)
		i++;
	own = i == IW_WATCHES || is_in_master(&slots[i]);
	iw_own_unlock(&lock);
	return own;
}

/*
 * The kernel's wait ends early if the process is stopped and goes on. The thread then waits for the
 * rest of IDLE_NS, because a process that is stopped often would otherwise keep it for ever.
 */
static int await_events(struct epoll_event *events)
{
	int64_t until_ns = iw_clock_ns() + IDLE_NS, left_ns = IDLE_NS;
	int n;

	do {
		if (!has_master_of_its_own())
			return -EBADF;
		n = iw_fd_epoll_wait(master, events, EVENTS, left_ns);
		left_ns = until_ns - iw_clock_ns();
		left_ns = left_ns > 0 ? left_ns : 0;
	} while (n == -EINTR);
	return n;
}

/* There is a thread now: to be noted by it or by who has made it, whichever is first. */
static void note_start_locked(uint32_t start)
{
	if (starting != start)
		return;
	running = true;
	starting = 0;
}

static uint64_t ticket_of(uint32_t in, uint32_t start)
{
	return (uint64_t)in << 32 | start;
}

/* False: a child was forked in the middle of the start, and has not asked for this thread. */
static bool begins(uint64_t ticket)
{
	bool same;

	iw_own_lock(&lock);
	same = ticket >> 32 == process;
	if (same)
		note_start_locked((uint32_t)ticket);
	iw_own_unlock(&lock);
	return same;
}

/* The master is another one only in a child, which has no such thread. */
static void *work(void *ticket)
{
	struct epoll_event events[EVENTS];
	int n;

	(void)pthread_setname_np(pthread_self(), "ipcwait-fd");
	if (!begins((uintptr_t)ticket))
		return NULL;
	do {
		n = await_events(events);
		if (n == 0 && retires())
			return NULL;
	} while (n >= 0 && tell_all(events, n));
	break_down();
	return NULL;
}

static void before_fork(void)
{
	iw_own_lock(&lock);
}

static void in_parent(void)
{
	iw_own_unlock(&lock);
}

/* The kernel has it in the master only if both numbers still mean what they did. */
static bool arm(struct iw_watch_slot *slot)
{
	return !control(master, EPOLL_CTL_MOD, slot->epoll, ARMED, slot);
}

/*
 * The instances are the parent's too, and so is the thread. Closing them here takes nothing from
 * the parent; arming one costs it a needless wake at most. A thread that has forked in a handler
 * in the middle of its own wait sees that the word differs, and the process too.
 */
static void forget_parents_locked(void)
{
	bool ours = false;

	for (unsigned i = 0; i < IW_WATCHES; i++) {
		if (slots[i].open && arm(&slots[i])) {
			ours = true;
			iw_own_fd_close(slots[i].epoll);
		}
		if (slots[i].taken)
			tell(&slots[i]);
		slots[i].open = slots[i].taken = slots[i].stained = false;
	}
	if (ours)
		iw_own_fd_close(master);
	have_master = false;
}

/* Without a master there have been no slots. */
static void in_child(void)
{
	if (have_master)
		forget_parents_locked();
	running = false;
	starting = 0;
	failed_at = 0;
	process++;
	/* ORD descriptor_watch.X3: relaxed, protected by there being one thread. */
	ipcwait_impl_store32_relaxed(&broken, 0);
	iw_own_unlock(&lock);
}

static const struct iw_fork_hooks fork_hooks = { before_fork, in_parent, in_child };

static IW_FORK_CONSTRUCTOR void hook(void)
{
	have_hooks = iw_fork_hook(IW_FORK_WATCH, &fork_hooks);
}

static bool open_master_locked(void)
{
	if (!have_master)
		master = new_epoll();
	have_master = master >= 0;
	return have_master;
}

static bool has_failed_lately_locked(void)
{
	int64_t past_ns = failed_at ? iw_clock_ns() - failed_at : -1;

	return past_ns >= 0 && past_ns < FAILED_NS;
}

static bool may_start_locked(void)
{
	return running || (!starting && have_hooks && !has_failed_lately_locked());
}

/*
 * Made without the lock: libc allocates memory for a thread, and an allocator may have taken its
 * locks for a fork that waits for this one. There is a slot by then, which shows whose the master
 * is. False: there is no thread, or this is a child that was forked meanwhile.
 */
static bool start_locked(void)
{
	uint32_t in = process, start;
	bool made;

	if (running)
		return true;
	start = starting = ++starts;
	iw_own_unlock(&lock);
	made = !iw_helper_start(work, iw_pointer(ticket_of(in, start)), STACK_BYTES);
	iw_own_lock(&lock);
	if (in != process)
		return false;
	if (made) {
		note_start_locked(start);
	} else {
		starting = 0;
		failed_at = iw_clock_ns();
	}
	return running;
}

static bool open_locked(struct iw_watch_slot *slot)
{
	int fd = new_epoll();

	if (fd < 0)
		return false;
	if (control(master, EPOLL_CTL_ADD, fd, ARMED, slot)) {
		iw_own_fd_close(fd);
		return false;
	}
	slot->epoll = fd;
	slot->open = true;
	return true;
}

/* One that is open if there is any: arming it shows whether the master is still ours. */
static struct iw_watch_slot *free_locked(void)
{
	struct iw_watch_slot *closed = NULL;

	for (unsigned i = 0; i < IW_WATCHES; i++) {
		if (slots[i].taken)
			continue;
		if (slots[i].open)
			return &slots[i];
		closed = closed ? closed : &slots[i];
	}
	return closed && open_locked(closed) ? closed : NULL;
}

/* True: both numbers were still what they had been. */
static bool close_locked(struct iw_watch_slot *slot)
{
	bool ours = !control(master, EPOLL_CTL_DEL, slot->epoll, 0, NULL);

	if (ours)
		iw_own_fd_close(slot->epoll);
	slot->open = false;
	slot->stained = false;
	return ours;
}

/* There is no thread for it. A master without slots would be nobody's. */
static void give_up_locked(struct iw_watch_slot *slot)
{
	bool ours = close_locked(slot), open = false;

	slot->taken = false;
	for (unsigned i = 0; i < IW_WATCHES; i++)
		open |= slots[i].open;
	if (open)
		return;
	if (ours)
		iw_own_fd_close(master);
	have_master = false;
}

/* And in which process that is: a handler may fork right afterwards. */
static struct iw_watch_slot *take(uint32_t *in)
{
	struct iw_watch_slot *slot = NULL;

	iw_own_lock(&lock);
	*in = process;
	if (!is_broken() && may_start_locked() && open_master_locked())
		slot = free_locked();
	if (slot) {
		slot->taken = true;
		if (!start_locked()) {
			if (*in == process)
				give_up_locked(slot);
			slot = NULL;
		}
	}
	iw_own_unlock(&lock);
	return slot;
}

/* Not with the lock: the loader has one of its own, and may run constructors that wait. */
static void stay_loaded(void)
{
	static struct ipcwait_word32 done;

	/* ORD descriptor_watch.X4: relaxed, no order needed: done twice is done once. */
	if (ipcwait_impl_load32_relaxed(&done))
		return;
	iw_helper_stay_loaded();
	ipcwait_impl_store32_relaxed(&done, 1);
}

bool iw_watch_begin(struct iw_watch *w)
{
	int saved_errno = errno;
	struct iw_watch_slot *slot;
	uint32_t in;

	stay_loaded();
	slot = take(&in);
	errno = saved_errno;
	if (!slot)
		return false;
	*w = (struct iw_watch){ .slot = slot,
				.process = in,
				.word = (const uint32_t *)&slot->word };
	if (iw_watch_again(w))
		return true;
	iw_watch_end(w);
	return false;
}

bool iw_watch_again(struct iw_watch *w)
{
	if (w->process != process)
		return false;
	/*
	 * ORD descriptor_watch.A1: acquire, read before it is armed, and before it is asked whether
	 * all is broken: what it is told from then on makes another value. Pairs with
	 * descriptor_watch.R1.
	 */
	w->value = ipcwait_impl_load32_acquire(&w->slot->word);
	if (is_broken())
		return false;
	if (arm(w->slot))
		return true;
	break_down();
	return false;
}

int iw_watch_add(struct iw_watch *w, int fd, uint32_t events, bool merge)
{
	if (w->process != process)
		return -ECHILD;
	return control(w->slot->epoll, merge ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, events,
		       NULL);
}

/*
 * What was closed meanwhile may live on by another number, in another process too, and would be
 * ready for ever under the old one, which cannot be removed.
 */
void iw_watch_remove(struct iw_watch *w, int fd)
{
	if (w->process == process && control(w->slot->epoll, EPOLL_CTL_DEL, fd, 0, NULL))
		w->slot->stained = true;
}

/* By one that is open if that can be had: a child tells by the slots whether the master is ours. */
static void renew_locked(struct iw_watch_slot *slot)
{
	(void)close_locked(slot);
	(void)open_locked(slot);
}

void iw_watch_end(struct iw_watch *w)
{
	iw_own_lock(&lock);
	if (w->process == process) {
		if (w->slot->stained)
			renew_locked(w->slot);
		w->slot->taken = false;
	}
	iw_own_unlock(&lock);
	w->slot = NULL;
}
