/* SPDX-License-Identifier: MIT */
/*
 * The functions that the module stands in front of, as the next library in the chain has them:
 * libc's, or those of another preload module. Found by the first call of any of them, which may
 * come before a constructor has run; finding takes no lock of ours and does not allocate.
 */
#ifndef IW_PRELOAD_ORIGINAL_H
#define IW_PRELOAD_ORIGINAL_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>

struct originals {
	int (*sem_wait)(sem_t *s);
	int (*sem_trywait)(sem_t *s);
	int (*sem_clockwait)(sem_t *s, clockid_t clock, const struct timespec *at);
	int (*sem_timedwait)(sem_t *s, const struct timespec *at);
	int (*sem_post)(sem_t *s);

	int (*mutex_lock)(pthread_mutex_t *m);
	int (*mutex_trylock)(pthread_mutex_t *m);
	int (*mutex_timedlock)(pthread_mutex_t *m, const struct timespec *at);
	int (*mutex_clocklock)(pthread_mutex_t *m, clockid_t clock,
			       const struct timespec *at);
	int (*mutex_unlock)(pthread_mutex_t *m);

	int (*rwlock_rdlock)(pthread_rwlock_t *l);
	int (*rwlock_tryrdlock)(pthread_rwlock_t *l);
	int (*rwlock_timedrdlock)(pthread_rwlock_t *l, const struct timespec *at);
	int (*rwlock_clockrdlock)(pthread_rwlock_t *l, clockid_t clock,
				  const struct timespec *at);
	int (*rwlock_wrlock)(pthread_rwlock_t *l);
	int (*rwlock_trywrlock)(pthread_rwlock_t *l);
	int (*rwlock_timedwrlock)(pthread_rwlock_t *l, const struct timespec *at);
	int (*rwlock_clockwrlock)(pthread_rwlock_t *l, clockid_t clock,
				  const struct timespec *at);
	int (*rwlock_unlock)(pthread_rwlock_t *l);

	int (*cond_init)(pthread_cond_t *c, const pthread_condattr_t *attributes);
	int (*cond_wait)(pthread_cond_t *c, pthread_mutex_t *m);
	int (*cond_timedwait)(pthread_cond_t *c, pthread_mutex_t *m,
			      const struct timespec *at);
	int (*cond_clockwait)(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
			      const struct timespec *at);
	int (*cond_signal)(pthread_cond_t *c);
	int (*cond_broadcast)(pthread_cond_t *c);
	int (*cond_destroy)(pthread_cond_t *c);

	int (*barrier_init)(pthread_barrier_t *b, const pthread_barrierattr_t *attributes,
			    unsigned count);
	int (*barrier_wait)(pthread_barrier_t *b);
	int (*barrier_destroy)(pthread_barrier_t *b);

	int (*sigaction)(int number, const struct sigaction *action, struct sigaction *old);
	void (*(*signal)(int number, void (*f)(int)))(int);
	void (*(*sysv_signal)(int number, void (*f)(int)))(int);
	void (*(*sigset)(int number, void (*f)(int)))(int);
	int (*siginterrupt)(int number, int interrupts);

	ssize_t (*read)(int fd, void *to, size_t n);
	ssize_t (*recv)(int fd, void *to, size_t n, int flags);
	ssize_t (*recvfrom)(int fd, void *to, size_t n, int flags, struct sockaddr *from,
			    socklen_t *length);
	ssize_t (*recvmsg)(int fd, struct msghdr *m, int flags);
	int (*accept)(int fd, struct sockaddr *from, socklen_t *length);
	int (*accept4)(int fd, struct sockaddr *from, socklen_t *length, int flags);
	int (*setsockopt)(int fd, int level, int name, const void *value, socklen_t length);
	int (*poll)(struct pollfd *fds, nfds_t n, int timeout_ms);
	int (*ppoll)(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		     const sigset_t *mask);
	int (*select)(int n, fd_set *in, fd_set *out, fd_set *except,
		      struct timeval *timeout);
	int (*pselect)(int n, fd_set *in, fd_set *out, fd_set *except,
		       const struct timespec *timeout, const sigset_t *mask);
	int (*epoll_wait)(int fd, struct epoll_event *events, int most, int timeout_ms);
	int (*epoll_pwait)(int fd, struct epoll_event *events, int most, int timeout_ms,
			   const sigset_t *mask);

	/* For programs that are compiled with _FORTIFY_SOURCE: those end a program that errs. */
	ssize_t (*read_chk)(int fd, void *to, size_t n, size_t room);
	ssize_t (*recv_chk)(int fd, void *to, size_t n, size_t room, int flags);
	ssize_t (*recvfrom_chk)(int fd, void *to, size_t n, size_t room, int flags,
				struct sockaddr *from, socklen_t *length);
	int (*poll_chk)(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room);
	int (*ppoll_chk)(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
			 const sigset_t *mask, size_t room);

	int (*execve)(const char *path, char *const argv[], char *const environment[]);
	int (*execvpe)(const char *name, char *const argv[], char *const environment[]);
	int (*fexecve)(int fd, char *const argv[], char *const environment[]);
	int (*execveat)(int folder, const char *path, char *const argv[],
			char *const environment[], int flags);
	int (*posix_spawn)(pid_t *pid, const char *path,
			   const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const argv[],
			   char *const environment[]);
	int (*posix_spawnp)(pid_t *pid, const char *name,
			    const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attributes, char *const argv[],
			    char *const environment[]);

	int (*clock_gettime)(clockid_t clock, struct timespec *now);

	long (*syscall)(long number, long a, long b, long c, long d, long e, long f);
	int (*prctl)(int option, long a, long b, long c, long d);

	/*
	 * Which word of a condition variable pthread_cond_init() marks if processes share it. 0: in
	 * none of those that are known, or there is a race detector, so all of them are left to the
	 * original.
	 */
	uint32_t cond_mark;

	/*
	 * A look of read(): libc's preadv2(), where read() is libc's too. NULL: there is none, or
	 * another library stands in front of read(), or nobody has asked.
	 */
	ssize_t (*preadv2)(int fd, const struct iovec *parts, int n, off_t at, int flags);

	/*
	 * Helgrind, DRD or ThreadSanitizer is in the program: it knows what libc's functions order,
	 * and nothing of this module, which passes all calls on without a spin and without an
	 * object in place.
	 */
	bool race_detector;

	struct ipcwait_word32 found;
};

extern struct originals iw_originals;

/* Out of line: look them up. */
void iw_find_originals(void);

/* Looks up preadv2, before there are threads. */
void iw_find_preadv2(void);

static inline const struct originals *original(void)
{
	/* ORD original.A1: acquire, to see the pointers. Pairs with original.R1. */
	if (!IPCWAIT_LIKELY(ipcwait_impl_load32_acquire(&iw_originals.found)))
		iw_find_originals();
	return &iw_originals;
}

#endif
