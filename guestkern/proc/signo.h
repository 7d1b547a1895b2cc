/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signal numbers (signal(7), x86-64). The UAPI's asm/signal.h redefines NSIG and struct sigaction,
 * so kernel files that include proc/signal.h take the numbers from here.
 */
#pragma once

#define SIGHUP		1
#define SIGINT		2
#define SIGQUIT		3
#define SIGILL		4
#define SIGTRAP		5
#define SIGABRT		6
#define SIGBUS		7
#define SIGFPE		8
#define SIGKILL		9
#define SIGUSR1		10
#define SIGSEGV		11
#define SIGUSR2		12
#define SIGPIPE		13
#define SIGALRM		14
#define SIGTERM		15
#define SIGSTKFLT	16
#define SIGCHLD		17
#define SIGCONT		18
#define SIGSTOP		19
#define SIGTSTP		20
#define SIGTTIN		21
#define SIGTTOU		22
#define SIGURG		23
#define SIGXCPU		24
#define SIGXFSZ		25
#define SIGVTALRM	26
#define SIGPROF		27
#define SIGWINCH	28
#define SIGIO		29
#define SIGPWR		30
#define SIGSYS		31

#define SIGBIT(sig)	(1ull << ((sig) - 1))
#define SIG_HANDLER_DFL	0ull
#define SIG_HANDLER_IGN	1ull
