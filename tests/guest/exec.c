/* SPDX-License-Identifier: Apache-2.0 */
/* execve: arguments, scripts, what it closes and keeps, and everything it must refuse. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <elf.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char self[4096];
static char dir[] = "/tmp/exec.XXXXXX";
static int outer_fd;

/* The program run by the checks: `argv[1]` says what to report as the exit status. */
static int inner(int argc, char **argv)
{
	const char *var = getenv("INNER");

	if (!strcmp(argv[1], "--args"))
		return argc == 4 && !strcmp(argv[0], "zero") && !strcmp(argv[2], "") &&
		       !strcmp(argv[3], "a b") && var && !strcmp(var, "yes") ? 31 : 1;
	if (!strcmp(argv[1], "--fds"))
		return fcntl(10, F_GETFD) == 0 && fcntl(11, F_GETFD) == -1 ? 32 : 1;
	if (!strcmp(argv[1], "--many"))
		return argc == 5002 && !strcmp(argv[5001], "4999") ? 33 : 1;
	return 2;
}

static int status_of(const char *path, char **argv, char **envp)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		execve(path, argv, envp);
		_exit(100 + (errno == ENOENT) + 2 * (errno == EACCES) + 3 * (errno == ENOEXEC) +
		      4 * (errno == E2BIG) + 5 * (errno == ELOOP) + 6 * (errno == ENOTDIR));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#define NOT_FOUND	101
#define NO_ACCESS	102
#define NOT_EXEC	103
#define TOO_BIG		104

static void write_file(const char *name, const void *data, size_t len, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, mode);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len || fchmod(fd, mode) < 0)
		exit(1);
	close(fd);
}

static void check_arguments(void)
{
	char *argv[] = { "zero", "--args", "", "a b", NULL }, *envp[] = { "INNER=yes", NULL };
	char *fds[] = { "x", "--fds", NULL }, *many[5003] = { "x", "--many" };
	int closing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	check(status_of(self, argv, envp) == 31, "arguments and environment");
	dup2(outer_fd, 10);
	dup3(closing, 11, O_CLOEXEC);
	check(status_of(self, fds, envp) == 32, "close-on-exec");
	close(10);
	close(11);
	for (int i = 0; i < 5000; i++)
		asprintf(&many[i + 2], "%d", i);
	many[5002] = NULL;
	check(status_of(self, many, envp) == 33, "5000 arguments");
}

static void check_scripts(void)
{
	static const char plain[] = "#!/bin/sh\nexit 41\n";
	static const char with_argument[] = "#!/bin/sh -e\nfalse\nexit 42\n";
	static const char arguments[] = "#!/bin/sh\n[ \"$1 $2\" = 'one two  three' ] && exit 43\n";
	char *argv[] = { "script", "one", "two  three", NULL }, *envp[] = { NULL };

	write_file("plain", plain, sizeof(plain) - 1, 0755);
	check(status_of("./plain", argv, envp) == 41, "a script");
	write_file("option", with_argument, sizeof(with_argument) - 1, 0755);
	check(status_of("./option", argv, envp) == 1, "a script whose interpreter has an argument");
	write_file("args", arguments, sizeof(arguments) - 1, 0755);
	check(status_of("./args", argv, envp) == 43, "a script with arguments");
	write_file("none", "#!/no/such/interpreter\n", 23, 0755);
	check(status_of("./none", argv, envp) == NOT_FOUND, "a script without an interpreter");
	write_file("loop", "#!./loop\n", 9, 0755);
	check(status_of("./loop", argv, envp) >= 100, "a script that is its own interpreter");
	write_file("text", "exit 0\n", 7, 0755);
	check(status_of("./text", argv, envp) == NOT_EXEC, "text without #!");
}

static void check_refusals(void)
{
	char *argv[] = { "x", NULL }, *envp[] = { NULL }, *big[3] = { "x" };

	check(status_of("./nothing", argv, envp) == NOT_FOUND, "no such file");
	check(status_of("/etc", argv, envp) == NO_ACCESS, "a directory");
	write_file("plain", "#!/bin/sh\n", 10, 0644);
	check(status_of("./plain", argv, envp) == NO_ACCESS, "no permission");
	write_file("empty", "", 0, 0755);
	check(status_of("./empty", argv, envp) == NOT_EXEC, "an empty file");
	big[1] = malloc(200000);
	memset(big[1], 'x', 199999);
	big[1][199999] = 0;
	check(status_of(self, big, envp) == TOO_BIG, "an argument of 200 kB");
	free(big[1]);
}

static void check_bad_elf(void)
{
	char *argv[] = { "x", NULL }, *envp[] = { NULL };
	static unsigned char image[8192];
	Elf64_Ehdr *ehdr = (void *)image;
	int fd = open(self, O_RDONLY);

	if (read(fd, image, sizeof(image)) != sizeof(image))
		exit(1);
	close(fd);
	ehdr->e_machine = EM_AARCH64;
	write_file("elf", image, sizeof(image), 0755);
	check(status_of("./elf", argv, envp) == NOT_EXEC, "a program for another machine");
	ehdr->e_machine = EM_X86_64;
	ehdr->e_phentsize = 7;
	write_file("elf", image, sizeof(image), 0755);
	check(status_of("./elf", argv, envp) == NOT_EXEC, "program headers of a wrong size");
	ehdr->e_phentsize = sizeof(Elf64_Phdr);
	ehdr->e_type = ET_REL;
	write_file("elf", image, sizeof(image), 0755);
	check(status_of("./elf", argv, envp) == NOT_EXEC, "an object file");
	write_file("elf", image, 20, 0755);
	check(status_of("./elf", argv, envp) == NOT_EXEC, "a truncated header");
	ehdr->e_type = ET_EXEC;
	ehdr->e_phoff = 1ull << 40;
	write_file("elf", image, sizeof(image), 0755);
	check(status_of("./elf", argv, envp) >= 100, "program headers beyond the file");
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "plain", "option", "args", "none", "loop", "text",
					     "empty", "elf" };
	ssize_t len;

	if (argc > 1)
		return inner(argc, argv);
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	check(len > 0 && strrchr(self, '/') && !strcmp(strrchr(self, '/'), strrchr(argv[0], '/')),
	      "/proc/self/exe");
	outer_fd = open("/dev/null", O_RDONLY);
	if (len <= 0 || !mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	check_arguments();
	check_scripts();
	check_refusals();
	check_bad_elf();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	check(chdir("/") == 0 && rmdir(dir) == 0, "nothing is left");
	return checks_done();
}
