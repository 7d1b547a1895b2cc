# SPDX-License-Identifier: Apache-2.0

unit_tests += tests/unit/guest_string
tests_unit_guest_string_SOURCES = tests/unit/guest_string.c
unit_tests += tests/unit/guest_print
tests_unit_guest_print_SOURCES = tests/unit/guest_print.c
unit_tests += tests/unit/guest_fdt
tests_unit_guest_fdt_SOURCES = tests/unit/guest_fdt.c guestkern/core/fdt.c
tests_unit_guest_fdt_LDADD = $(LIBFDT_LIBS)
unit_tests += tests/unit/guest_time
tests_unit_guest_time_SOURCES = tests/unit/guest_time.c
unit_tests += tests/unit/guest_random
tests_unit_guest_random_SOURCES = tests/unit/guest_random.c
unit_tests += tests/unit/guest_virtio
tests_unit_guest_virtio_SOURCES = tests/unit/guest_virtio.c
