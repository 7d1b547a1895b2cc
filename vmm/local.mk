# SPDX-License-Identifier: Apache-2.0

husk_SOURCES += vmm/main.c vmm/config.h
