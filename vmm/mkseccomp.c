/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of the build: writes the jail's seccomp filter as a C array, so that husk's start pays
 * one system call for it and links no libseccomp. What is not listed here kills husk (SIGSYS).
 */
#include <asm/termbits.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/kvm.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <asm/ioctls.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Allowed whatever the arguments. */
static const int plain[] = {
	/* the event loop, vCPU threads, locks */
	SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_pwait2), SCMP_SYS(epoll_ctl),
	SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(futex), SCMP_SYS(sched_yield),
	SCMP_SYS(timerfd_settime), SCMP_SYS(timerfd_gettime), SCMP_SYS(timerfd_create),
	SCMP_SYS(eventfd2), SCMP_SYS(signalfd4), SCMP_SYS(restart_syscall),
	/* time, identity, randomness */
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(getrandom), SCMP_SYS(getpid),
	SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
	SCMP_SYS(getpgrp), SCMP_SYS(getpgid),
	/* memory */
	SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk),
	/* signals of our own threads, and the end */
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack), SCMP_SYS(tkill), SCMP_SYS(tgkill), SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	/* threads that are made inside (clone itself: below) */
	SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(set_tid_address),
	SCMP_SYS(sched_getaffinity),
	/* descriptors: the console, the FUSE server's files */
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64),
	SCMP_SYS(pwrite64), SCMP_SYS(preadv), SCMP_SYS(pwritev), SCMP_SYS(preadv2),
	SCMP_SYS(pwritev2), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(dup), SCMP_SYS(dup3),
	SCMP_SYS(fcntl), SCMP_SYS(flock), SCMP_SYS(copy_file_range), SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(shutdown),
	/* the FUSE server: look up and read */
	SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(readlinkat), SCMP_SYS(newfstatat),
	SCMP_SYS(statx), SCMP_SYS(fstat), SCMP_SYS(statfs), SCMP_SYS(fstatfs), SCMP_SYS(getdents64),
	SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(getxattr), SCMP_SYS(lgetxattr),
	SCMP_SYS(fgetxattr), SCMP_SYS(listxattr), SCMP_SYS(llistxattr), SCMP_SYS(flistxattr),
	/* the FUSE server: change (Landlock and the mounts say where) */
	SCMP_SYS(mkdirat), SCMP_SYS(mknodat), SCMP_SYS(unlinkat), SCMP_SYS(symlinkat),
	SCMP_SYS(linkat), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(fchmod),
	SCMP_SYS(fchmodat), 452 /* fchmodat2: newer than libseccomp */, SCMP_SYS(fchown), SCMP_SYS(fchownat), SCMP_SYS(utimensat),
	SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(fsync), SCMP_SYS(fdatasync),
	SCMP_SYS(sync_file_range), SCMP_SYS(syncfs), SCMP_SYS(setxattr), SCMP_SYS(lsetxattr),
	SCMP_SYS(fsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr),
	SCMP_SYS(umask),
	/* the old names of some of these, which musl's wrappers use */
	SCMP_SYS(open), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(access), SCMP_SYS(readlink),
	SCMP_SYS(chmod), SCMP_SYS(truncate),
};

static const unsigned long ioctls[] = {
	KVM_RUN, KVM_SIGNAL_MSI, KVM_IRQ_LINE, KVM_IRQFD, KVM_IOEVENTFD, KVM_SET_GSI_ROUTING, KVM_INTERRUPT,
	KVM_SET_USER_MEMORY_REGION,	/* memslots are made when the guest touches them */
	KVM_GET_REGS, KVM_SET_REGS, KVM_GET_SREGS, KVM_SET_SREGS, KVM_GET_MSRS, KVM_GET_LAPIC,
	KVM_GET_VCPU_EVENTS, KVM_TRANSLATE, KVM_GET_TSC_KHZ, KVM_KVMCLOCK_CTRL, KVM_CHECK_EXTENSION,
	KVM_GET_STATS_FD,
	TCGETS, TCSETS, TCSETSW, TCSETSF, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO,
};

static const int prctls[] = { PR_SET_NAME, PR_GET_NO_NEW_PRIVS, PR_SET_TIMERSLACK };

static void check(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "mkseccomp: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static void rules_add(scmp_filter_ctx ctx)
{
	for (size_t i = 0; i < COUNT(plain); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, plain[i], 0), "plain");
	/* glibc tries it first; its arguments are in memory, where a filter cannot look. */
	check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0), "clone3");
	/* The kernel looks at 32 bits of these two; a libc may have extended the sign. */
	for (size_t i = 0; i < COUNT(ioctls); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				       SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, ioctls[i])), "ioctl");
	for (size_t i = 0; i < COUNT(prctls); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
				       SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, prctls[i])), "prctl");
	/* Threads, no processes. */
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
			       SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM | CLONE_NEWUSER,
				       CLONE_THREAD | CLONE_VM)), "clone");
	/* No new code. */
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)), "mmap");
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
			       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)), "mprotect");
}

static void program_print(int fd)
{
	/*
	 * A look at an argument comes first, for nothing: seccomp then does not try all 900 system
	 * calls to find out which of them need no filter, which is half of the cost of installing
	 * it (40 us). A call costs 0.02 us more for it.
	 */
	struct sock_filter insn = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args));
	ssize_t n;

	puts("/* Made by mkseccomp.c. */\n#pragma once\n\n#include <linux/filter.h>\n\n"
	     "static const struct sock_filter seccomp_filter[] = {");
	check(lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0, "lseek");
	do {
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", insn.code, insn.jt, insn.jf, insn.k);
		n = read(fd, &insn, sizeof(insn));
	} while (n == sizeof(insn));
	check(n < 0 ? -errno : n > 0 ? -EIO : 0, "read");
	puts("};");
}

int main(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	FILE *tmp = tmpfile();

	if (!ctx || !tmp) {
		fputs("mkseccomp: cannot start\n", stderr);
		return 1;
	}
	check(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad arch");
	/* A tree: the kernel walks it for each system call that has an argument check. */
	check(seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimize");
	rules_add(ctx);
	check(seccomp_export_bpf(ctx, fileno(tmp)), "export");
	program_print(fileno(tmp));
	seccomp_release(ctx);
	fclose(tmp);
	return fflush(stdout) || ferror(stdout);
}
