/* SPDX-License-Identifier: Apache-2.0 */
/* `husk run` and its help page. */
#include "vmm/cli.h"

#include <stdlib.h>

#include "vmm/options.h"
#include "vmm/run.h"

void cli_run_help(FILE *out)
{
	fputs("usage: husk run [OPTIONS] [--] PROGRAM [ARGS]\n\n"
	      "Runs PROGRAM in a virtual machine of its own. It sees the host's system directories\n"
	      "and the current directory; what it writes is gone afterwards.\n\n", out);
	for (size_t i = 0; i < option_count; i++) {
		const struct option_spec *o = &option_table[i];
		char left[48];

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
			 o->kind == OPTION_OPTIONAL ? "[=" : o->value ? " " : "",
			 o->value ? o->value : "", o->kind == OPTION_OPTIONAL ? "]" : "");
		fprintf(out, "  %-32s  %s\n", left, o->help);
	}
	fprintf(out, "  %-32s  %s\n", "-h, --help", "this text");
	fputs("\n-v and -e may be given several times. Exit status: PROGRAM's own, or 128 + n when\n"
	      "signal n killed it, 124 timeout, 125 husk failed, 126 cannot execute, 127 not found.\n",
	      out);
}

int cli_run(int argc, char **argv)
{
	struct config_parse p;
	int ret;

	if (config_init(&p)) {
		fputs("husk: out of memory\n", stderr);
		return EXIT_HUSK;
	}
	ret = cli_parse(&p, argc, argv);
	if (ret > 0) {
		cli_run_help(stdout);
		ret = 0;
	} else if (ret) {
		fprintf(stderr, "husk: %s\n", p.error);
		ret = EXIT_HUSK;
	} else {
		ret = vm_run(&p.cfg);
	}
	free(p.config_path);
	config_free(&p.cfg);
	return ret;
}
