/* SPDX-License-Identifier: Apache-2.0 */
/* `husk run`, `husk boot` and their help pages. */
#include "vmm/cli.h"

#include <stdlib.h>

#include "vmm/options.h"
#include "vmm/run.h"

static void options_print(FILE *out, const struct option_spec *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct option_spec *o = &table[i];
		char left[48];

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
			 o->kind == OPTION_OPTIONAL ? "[=" : o->value ? " " : "",
			 o->value ? o->value : "", o->kind == OPTION_OPTIONAL ? "]" : "");
		fprintf(out, "  %-32s  %s\n", left, o->help);
	}
	fprintf(out, "  %-32s  %s\n", "-h, --help", "this text");
}

void cli_run_help(FILE *out)
{
	fputs("usage: husk run [OPTIONS] [--] PROGRAM [ARGS]\n\n"
	      "Runs PROGRAM in a virtual machine of its own. It sees the host's system directories\n"
	      "and the current directory; what it writes is gone afterwards.\n\n", out);
	options_print(out, option_table, option_count);
	fputs("\n-v and -e may be given several times. Exit status: PROGRAM's own, or 128 + n when\n"
	      "signal n killed it, 124 timeout, 125 husk failed, 126 cannot execute, 127 not found.\n",
	      out);
}

void cli_boot_help(FILE *out)
{
	fputs("usage: husk boot --kernel FILE [OPTIONS]\n\n"
	      "Starts a kernel in a virtual PC: Linux (bzImage, 64-bit entry), or an ELF file with a\n"
	      "Multiboot header or a PVH entry. Its serial port is standard input and output.\n\n", out);
	options_print(out, boot_option_table, boot_option_count);
	fputs("\nOn a terminal, Ctrl-A x ends the VM. Exit status: 0 when the kernel turns off or\n"
	      "reboots, v << 1 | 1 when it writes v to port 0xf4, 124 timeout, 125 when it panics,\n"
	      "cannot run on this host, or husk failed.\n", out);
}

/* Parse with the options of p, run the VM. */
static int cli_vm(struct config_parse *p, int argc, char **argv, void (*help)(FILE *out))
{
	int ret = cli_parse(p, argc, argv);

	if (ret > 0) {
		help(stdout);
		ret = 0;
	} else if (ret) {
		fprintf(stderr, "husk: %s\n", p->error);
		ret = EXIT_HUSK;
	} else {
		ret = vm_run(&p->cfg);
	}
	free(p->config_path);
	config_free(&p->cfg);
	return ret;
}

int cli_run(int argc, char **argv)
{
	struct config_parse p;

	if (config_init(&p)) {
		fputs("husk: out of memory\n", stderr);
		return EXIT_HUSK;
	}
	return cli_vm(&p, argc, argv, cli_run_help);
}

int cli_boot(int argc, char **argv)
{
	struct config_parse p;

	if (config_init(&p)) {
		fputs("husk: out of memory\n", stderr);
		return EXIT_HUSK;
	}
	p.command = "boot";
	p.options = boot_option_table;
	p.noptions = boot_option_count;
	p.check = boot_config_check;
	p.cfg.boot = true;
	p.cfg.stall_s = 60;
	return cli_vm(&p, argc, argv, cli_boot_help);
}
