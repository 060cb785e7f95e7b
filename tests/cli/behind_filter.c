/* SPDX-License-Identifier: MIT */
/*
 * A program behind a filter of system calls: behind_filter PROFILE PROGRAM [ARGUMENT]...
 *
 *   docker     what Docker's default profile refuses fails with EPERM
 *   service    what systemd's @system-service lacks ends the process
 *   no-yield   sched_yield(2) and preadv2(2) end the process
 *   plain      the program runs once, and then behind a filter that ends the process for each
 *              call that it has not made. LD_PRELOAD is set for the second time only, to $BEHIND
 *
 * Exit status: the program's; 77 where there can be no filter.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77

/* Numbers of calls are below. */
#define CALLS 512

#define LENGTH_MOST (2 * CALLS + 2)

/* Those of Docker's default.json without capabilities, as far as this CPU has them. */
static const int docker[] = {
	SYS_acct,
	SYS_add_key,
	SYS_bpf,
	SYS_clock_adjtime,
	SYS_clock_settime,
	SYS_delete_module,
	SYS_finit_module,
	SYS_get_mempolicy,
	SYS_init_module,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_io_uring_setup,
	SYS_kcmp,
	SYS_kexec_load,
	SYS_keyctl,
	SYS_lookup_dcookie,
	SYS_mbind,
	SYS_mount,
	SYS_move_pages,
	SYS_name_to_handle_at,
	SYS_open_by_handle_at,
	SYS_perf_event_open,
	SYS_pivot_root,
	SYS_quotactl,
	SYS_reboot,
	SYS_request_key,
	SYS_set_mempolicy,
	SYS_setns,
	SYS_settimeofday,
	SYS_swapoff,
	SYS_swapon,
	SYS_umount2,
	SYS_unshare,
	SYS_userfaultfd,
	-1,
};

/* Those of the groups that it leaves out: systemd.exec(5), `systemd-analyze syscall-filter`. */
static const int service[] = {
	SYS_acct,
	SYS_bpf,
	SYS_chroot,
	SYS_clock_adjtime,
	SYS_clock_settime,
	SYS_delete_module,
	SYS_fanotify_init,
	SYS_finit_module,
	SYS_init_module,
	SYS_kexec_load,
	SYS_lookup_dcookie,
	SYS_mount,
	SYS_move_mount,
	SYS_name_to_handle_at,
	SYS_open_by_handle_at,
	SYS_open_tree,
	SYS_perf_event_open,
	SYS_pidfd_getfd,
	SYS_pivot_root,
	SYS_pkey_alloc,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_ptrace,
	SYS_quotactl,
	SYS_reboot,
	SYS_settimeofday,
	SYS_swapoff,
	SYS_swapon,
	SYS_umount2,
	SYS_userfaultfd,
	SYS_vhangup,
	-1,
};

static const int no_yield[] = { SYS_sched_yield, SYS_preadv2, -1 };

static struct sock_filter code[LENGTH_MOST];
static unsigned short length;

static void add(uint16_t op, uint32_t value, uint8_t if_not)
{
	code[length++] = (struct sock_filter){ .code = op, .k = value, .jf = if_not };
}

static void add_call(unsigned number, uint32_t answer)
{
	add(BPF_JMP | BPF_JEQ | BPF_K, number, 1);
	add(BPF_RET | BPF_K, answer, 0);
}

static void begin(void)
{
	add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0);
}

static void refuse(const int *list, uint32_t answer)
{
	begin();
	for (; *list >= 0; list++)
		add_call((unsigned)*list, answer);
	add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0);
}

static void allow(const bool made[CALLS])
{
	begin();
	for (unsigned i = 0; i < CALLS; i++)
		if (made[i])
			add_call(i, SECCOMP_RET_ALLOW);
	add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0);
}

static void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int status_of(int wait_status)
{
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
				      : 128 + WTERMSIG(wait_status);
}

/* The traced thread has stopped before or behind a call. */
static void note_call(pid_t pid, bool made[CALLS])
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr < CALLS)
		made[info.entry.nr] = true;
}

/* Signals are the program's, but not those that tell of the trace. */
static int to_deliver(int status)
{
	int sig = WSTOPSIG(status);

	return sig == SIGTRAP || sig == (SIGTRAP | 0x80) || sig == SIGSTOP ? 0 : sig;
}

/* Runs it with all its threads and children. Return: its exit status. */
static int trace(char **argv, bool made[CALLS])
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
	pid_t first = fork(), pid;
	int status, result = 0;

	if (first == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(SKIPPED);
		(void)raise(SIGSTOP);
		execv(argv[0], argv);
		_exit(127);
	}
	if (waitpid(first, &status, 0) != first)
		fail("waitpid");
	if (!WIFSTOPPED(status) || ptrace(PTRACE_SETOPTIONS, first, NULL, options) != 0)
		return SKIPPED;
	(void)ptrace(PTRACE_SYSCALL, first, NULL, NULL);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			if (WSTOPSIG(status) == (SIGTRAP | 0x80))
				note_call(pid, made);
			(void)ptrace(PTRACE_SYSCALL, pid, NULL, (long)to_deliver(status));
		} else if (pid == first) {
			result = status_of(status);
		}
	}
	return result;
}

static void prepare_plain(char **argv)
{
	static bool made[CALLS];
	const char *behind = getenv("BEHIND");
	int status = trace(argv, made);

	if (status != 0)
		exit(status);
	/* The kernel's own: a sleep goes on by it after the process was stopped. */
	made[SYS_restart_syscall] = true;
	allow(made);
	if (behind && setenv("LD_PRELOAD", behind, 1) != 0)
		fail("setenv");
}

int main(int argc, char **argv)
{
	struct sock_fprog filter;

	if (argc < 3)
		return EXIT_FAILURE;
	if (strcmp(argv[1], "docker") == 0)
		refuse(docker, SECCOMP_RET_ERRNO | EPERM);
	else if (strcmp(argv[1], "service") == 0)
		refuse(service, SECCOMP_RET_KILL_PROCESS);
	else if (strcmp(argv[1], "no-yield") == 0)
		refuse(no_yield, SECCOMP_RET_KILL_PROCESS);
	else
		prepare_plain(argv + 2);
	filter = (struct sock_fprog){ length, code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return SKIPPED;
	execv(argv[2], argv + 2);
	fail(argv[2]);
}
