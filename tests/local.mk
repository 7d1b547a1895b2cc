# SPDX-License-Identifier: Apache-2.0

unit_tests += tests/unit/options
tests_unit_options_SOURCES = tests/unit/options.c vmm/options.c vmm/config.c vmm/config_json.c vmm/cli_parse.c
tests_unit_options_LDADD = $(LIBJANSSON_LIBS)

unit_tests += tests/unit/config_json
tests_unit_config_json_SOURCES = tests/unit/config_json.c vmm/options.c vmm/config.c vmm/config_json.c
tests_unit_config_json_LDADD = $(LIBJANSSON_LIBS)

unit_tests += tests/unit/jail
tests_unit_jail_SOURCES = tests/unit/jail.c vmm/jail.c
tests_unit_jail_CFLAGS = $(WARN_CFLAGS)

unit_tests += tests/unit/signals
tests_unit_signals_SOURCES = tests/unit/signals.c vmm/signals.c vmm/terminal.c

unit_tests += tests/unit/terminal
tests_unit_terminal_SOURCES = tests/unit/terminal.c vmm/terminal.c

test_scripts += tests/cli/help
