/* SPDX-License-Identifier: Apache-2.0 */
/* The program: subcommands by name. Only this file decides the exit status. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vmm/bench_cli.h"
#include "vmm/cli.h"
#include "vmm/config.h"

static int help_command(int argc, char **argv);
static int version_command(int argc, char **argv);

/* argv[0] is the command's name. */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	void (*help)(FILE *out);	/* NULL: nothing beyond the summary */
	const char *summary;
} commands[] = {
	{ "run", cli_run, cli_run_help, "run a program in a VM" },
	{ "bench", bench_command, bench_cli_help, "measure what VM exits cost on this host" },
	{ "boot", cli_boot, cli_boot_help, "start another kernel in a virtual PC" },
	{ "help", help_command, NULL, "explain a command" },
	{ "version", version_command, NULL, "print the version" },
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void usage_print(FILE *out)
{
	fputs("husk runs Linux programs in microVMs. The guest kernel is built in.\n\n"
	      "usage: husk COMMAND ...\n\n", out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].summary);
	fputs("\nTry: husk run -- /bin/ls -l /usr\n"
	      "All options of a command: husk help COMMAND\n", out);
}

static int command_unknown(const char *name)
{
	fprintf(stderr, "husk: no command \"%s\"; see husk --help%s%s%s\n", name,
		strchr(name, '/') ? " (to run a program: husk run -- " : "",
		strchr(name, '/') ? name : "", strchr(name, '/') ? ")" : "");
	return EXIT_HUSK;
}

static int version_command(int argc, char **argv)
{
	puts("husk " HUSK_VERSION);
	return 0;
}

static int help_command(int argc, char **argv)
{
	const struct command *cmd;

	if (argc < 2) {
		usage_print(stdout);
		return 0;
	}
	cmd = command_find(argv[1]);
	if (!cmd)
		return command_unknown(argv[1]);
	if (cmd->help)
		cmd->help(stdout);
	else
		printf("husk %s: %s\n", cmd->name, cmd->summary);
	return 0;
}

static int command_dispatch(int argc, char **argv)
{
	const struct command *cmd;

	if (argc < 2) {
		usage_print(stderr);
		return EXIT_HUSK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return version_command(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help_command(1, argv + 1);
	if (argv[1][0] == '-') {
		fprintf(stderr, "husk: no option %s before the command; see husk --help\n", argv[1]);
		return EXIT_HUSK;
	}
	cmd = command_find(argv[1]);
	if (!cmd)
		return command_unknown(argv[1]);
	return cmd->run(argc - 1, argv + 1);
}

/* Without atexit handlers: `husk run` has restored the terminal, and a VM's end should be quick. */
static void process_end(int status)
{
	if (fflush(stdout) && !status)
		status = EXIT_HUSK;
	_exit(status);
}

int main(int argc, char **argv)
{
	process_end(command_dispatch(argc, argv));
}
