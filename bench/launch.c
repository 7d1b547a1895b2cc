/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch ROUNDS [-w N] --- CMD... [--- CMD...]...
 *
 * Starts each command ROUNDS times, taking turns, by posix_spawn and wait4, and prints a line a launch:
 * index of the command, ns from spawn to the end, maximum RSS in KiB, exit status. The first N
 * rounds (default 2) are not printed. stdin and stdout of the commands are /dev/null.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define MAX_COMMANDS	32

extern char **environ;

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* Cuts argv at each "---"; returns how many commands there are. */
static int split_commands(char **argv, char **commands[])
{
	int n = 0;

	for (; *argv; argv++) {
		if (strcmp(*argv, "---"))
			continue;
		*argv = NULL;
		if (!argv[1] || n == MAX_COMMANDS)
			return -1;
		commands[n++] = argv + 1;
	}
	return n;
}

static int launch(int index, char **argv, posix_spawn_file_actions_t *files, int print)
{
	struct rusage usage;
	long long start, end;
	int status, err;
	pid_t pid;

	start = now_ns();
	err = posix_spawnp(&pid, argv[0], files, NULL, argv, environ);
	if (err) {
		fprintf(stderr, "launch: %s: %s\n", argv[0], strerror(err));
		return -1;
	}
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return -1;
	end = now_ns();
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (print)
		printf("%d %lld %ld %d\n", index, end - start, usage.ru_maxrss, status);
	return 0;
}

int main(int argc, char **argv)
{
	char **commands[MAX_COMMANDS];
	posix_spawn_file_actions_t files;
	int n, warm = 2, rounds;

	n = split_commands(argv, commands);
	rounds = argv[1] ? atoi(argv[1]) : 0;
	if (argv[1] && argv[2] && !strcmp(argv[2], "-w") && argv[3])
		warm = atoi(argv[3]);
	if (n < 1 || rounds < 1) {
		fprintf(stderr, "usage: launch ROUNDS [-w N] --- CMD... [--- CMD...]...\n");
		return 2;
	}
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	for (int round = -warm; round < rounds; round++)
		for (int i = 0; i < n; i++)
			if (launch(i, commands[i], &files, round >= 0) < 0)
				return 1;
	return 0;
}
