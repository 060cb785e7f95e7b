/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "chain.h"
#include "original.h"
#include "os/libc.h"
#include "os/seam.h"

struct originals iw_originals;

/*
 * Condition variables have had another layout, and posix_spawn() has given files without a format
 * to the shell: those that a new program means.
 */
#ifdef __x86_64__
#define COND_VERSION  "GLIBC_2.3.2"
#define SPAWN_VERSION "GLIBC_2.15"
#else
#define COND_VERSION  NULL
#define SPAWN_VERSION NULL
#endif

struct name {
	size_t where; /* in struct originals */
	const char *name;
	const char *version; /* NULL: there is only one */
};

#define AT(member) offsetof(struct originals, member)

static const struct name names[] = {
	{ AT(mutex_lock), "pthread_mutex_lock", NULL },
	{ AT(mutex_trylock), "pthread_mutex_trylock", NULL },
	{ AT(mutex_timedlock), "pthread_mutex_timedlock", NULL },
	{ AT(mutex_clocklock), "pthread_mutex_clocklock", NULL },
	{ AT(mutex_unlock), "pthread_mutex_unlock", NULL },
	{ AT(sem_wait), "sem_wait", NULL },
	{ AT(sem_trywait), "sem_trywait", NULL },
	{ AT(sem_clockwait), "sem_clockwait", NULL },
	{ AT(sem_timedwait), "sem_timedwait", NULL },
	{ AT(sem_post), "sem_post", NULL },
	{ AT(rwlock_rdlock), "pthread_rwlock_rdlock", NULL },
	{ AT(rwlock_tryrdlock), "pthread_rwlock_tryrdlock", NULL },
	{ AT(rwlock_timedrdlock), "pthread_rwlock_timedrdlock", NULL },
	{ AT(rwlock_clockrdlock), "pthread_rwlock_clockrdlock", NULL },
	{ AT(rwlock_wrlock), "pthread_rwlock_wrlock", NULL },
	{ AT(rwlock_trywrlock), "pthread_rwlock_trywrlock", NULL },
	{ AT(rwlock_timedwrlock), "pthread_rwlock_timedwrlock", NULL },
	{ AT(rwlock_clockwrlock), "pthread_rwlock_clockwrlock", NULL },
	{ AT(rwlock_unlock), "pthread_rwlock_unlock", NULL },
	{ AT(cond_init), "pthread_cond_init", COND_VERSION },
	{ AT(cond_wait), "pthread_cond_wait", COND_VERSION },
	{ AT(cond_timedwait), "pthread_cond_timedwait", COND_VERSION },
	{ AT(cond_clockwait), "pthread_cond_clockwait", NULL },
	{ AT(cond_signal), "pthread_cond_signal", COND_VERSION },
	{ AT(cond_broadcast), "pthread_cond_broadcast", COND_VERSION },
	{ AT(cond_destroy), "pthread_cond_destroy", COND_VERSION },
	{ AT(barrier_init), "pthread_barrier_init", NULL },
	{ AT(barrier_wait), "pthread_barrier_wait", NULL },
	{ AT(barrier_destroy), "pthread_barrier_destroy", NULL },
	{ AT(sigaction), "sigaction", NULL },
	{ AT(signal), "signal", NULL },
	{ AT(sysv_signal), "sysv_signal", NULL },
	{ AT(sigset), "sigset", NULL },
	{ AT(siginterrupt), "siginterrupt", NULL },
	{ AT(read), "read", NULL },
	{ AT(recv), "recv", NULL },
	{ AT(recvfrom), "recvfrom", NULL },
	{ AT(recvmsg), "recvmsg", NULL },
	{ AT(accept), "accept", NULL },
	{ AT(accept4), "accept4", NULL },
	{ AT(setsockopt), "setsockopt", NULL },
	{ AT(poll), "poll", NULL },
	{ AT(ppoll), "ppoll", NULL },
	{ AT(select), "select", NULL },
	{ AT(pselect), "pselect", NULL },
	{ AT(epoll_wait), "epoll_wait", NULL },
	{ AT(epoll_pwait), "epoll_pwait", NULL },
	{ AT(read_chk), "__read_chk", NULL },
	{ AT(recv_chk), "__recv_chk", NULL },
	{ AT(recvfrom_chk), "__recvfrom_chk", NULL },
	{ AT(poll_chk), "__poll_chk", NULL },
	{ AT(ppoll_chk), "__ppoll_chk", NULL },
	{ AT(execve), "execve", NULL },
	{ AT(execvpe), "execvpe", NULL },
	{ AT(fexecve), "fexecve", NULL },
	{ AT(execveat), "execveat", NULL },
	{ AT(posix_spawn), "posix_spawn", SPAWN_VERSION },
	{ AT(posix_spawnp), "posix_spawnp", SPAWN_VERSION },
	{ AT(clock_gettime), "clock_gettime", NULL },
	{ AT(syscall), "syscall", NULL },
	{ AT(prctl), "prctl", NULL },
};

/* Words that may have the mark: of glibc 2.25 to 2.40, and of those that came later. */
#define MARK_BEFORE_2_41 9
#define MARK_SINCE_2_41  7

static uint32_t find_cond_mark(void)
{
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	const uint32_t *words = (const uint32_t *)&c;
	pthread_condattr_t shared;

	(void)pthread_condattr_init(&shared);
	(void)pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	(void)iw_originals.cond_init(&c, &shared);
	(void)pthread_condattr_destroy(&shared);
	if (words[MARK_BEFORE_2_41] == 1)
		return MARK_BEFORE_2_41;
	return words[MARK_SINCE_2_41] == 1 ? MARK_SINCE_2_41 : 0;
}

/* In a program with ThreadSanitizer, by a library or in the program itself. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming) */
extern void __tsan_init(void) __attribute__((weak));

/* LD_PRELOAD, or "". */
static const char *find_chain(void)
{
	for (char **entry = environ; entry && *entry; entry++) {
		const char *chain = iw_chain_value(*entry, IW_CHAIN_VARIABLE);

		if (chain)
			return chain;
	}
	return "";
}

/* Valgrind names the library of its tool in the client's LD_PRELOAD. */
static bool find_race_detector(const char *chain)
{
	return __tsan_init || strstr(chain, "vgpreload_helgrind") ||
	       strstr(chain, "vgpreload_drd");
}

/*
 * dlvsym() passes by what another library without versions has put in front of libc's. dlsym() does
 * not, but may find an old one of libc's. So both are asked where there are such libraries.
 */
static void *find(const struct name *n, bool has_others)
{
	void *libcs, *next;

	if (!n->version)
		return dlsym(RTLD_NEXT, n->name);
	libcs = dlvsym(RTLD_NEXT, n->name, n->version);
	next = has_others ? dlsym(RTLD_NEXT, n->name) : libcs;
	return next == libcs || iw_is_libcs(next) ? libcs : next;
}

/* Threads that come at the same time find the same. */
void iw_find_originals(void)
{
	const char *chain = find_chain();
	bool has_others;

	iw_originals.race_detector = find_race_detector(chain);
	has_others = iw_originals.race_detector || strpbrk(chain, IW_CHAIN_SEPARATORS);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *f = find(&names[i], has_others);

		memcpy((char *)&iw_originals + names[i].where, &f, sizeof(f));
	}
	iw_originals.cond_mark = iw_originals.race_detector ? 0 : find_cond_mark();
	/*
	 * Libraries in front of this one tell it the kernel's time, those behind it the program's.
	 */
	iw_clock_read_by(iw_originals.clock_gettime);
	/* ORD original.R1: release, the pointers. Pairs with original.A1. */
	ipcwait_impl_store32_release(&iw_originals.found, 1);
}

void iw_find_preadv2(void)
{
	ssize_t (*read)(int, void *, size_t) = original()->read;
	void *f = dlsym(RTLD_NEXT, "preadv64v2");

	if (iw_is_libcs(*(void **)&read) && iw_is_libcs(f))
		memcpy(&iw_originals.preadv2, &f, sizeof(f));
}

/* Unless another constructor has called one of them before. */
static __attribute__((constructor)) void find_at_load(void)
{
	(void)original();
}
