/* SPDX-License-Identifier: Apache-2.0 */
/* What one VM is to be: filled from the command line or a JSON file, read by everything else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of husk itself; everything else is the program's (see husk(1)). */
#define EXIT_TIMEOUT	124
#define EXIT_HUSK	125
#define EXIT_CANNOT	126
#define EXIT_NOT_FOUND	127

struct share {			/* -v HOST:GUEST[:rw] */
	char *host, *guest;
	bool rw;
};

struct bench_guest {		/* husk bench: one row, measured in one VM */
	const char *row;
	unsigned batch_us, batches;
	bool pic;		/* the full irqchip, but no PIT: rows that need KVM's own ports */
	bool no_halt_poll;
};

struct config {
	char **argv;		/* the program, NULL-terminated */
	char **envp;		/* its environment, NULL-terminated */
	char *workdir;		/* NULL: the current directory if it is shown, else / */
	char *root;		/* --root DIR; NULL: the default view of the host */
	struct share *shares;
	size_t nshares;
	uint64_t memory_bytes;
	unsigned cpus;
	double timeout_s;	/* 0: none */
	uint32_t uid, gid;	/* of the program; default: the caller's */
	char *hostname;
	bool no_patch, quiet, no_jail;
	uint32_t trace;		/* HUSK_TRACE_* */
	char *log_path;		/* NULL: stderr */
	const struct bench_guest *bench;	/* measure instead of running argv; NULL: as usual */
	char *kernel_path;	/* a guest kernel instead of the built-in one; of `husk boot`, the kernel */

	/* `husk boot` only; its share is shares[0] */
	bool boot;		/* the machine of a PC, for a kernel that is not ours */
	char *initrd_path;	/* NULL: none */
	char *append;		/* command line; NULL: empty */
	bool mptable;		/* an MP table instead of ACPI */
	double stall_s;		/* give up on a kernel that does nothing for so long; 0: never */
};
