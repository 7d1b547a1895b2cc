/* SPDX-License-Identifier: Apache-2.0 */
/* ACPI fixed hardware: PM1 event and control registers, reset register. */
#pragma once

#include "devices/bus.h"

#define ACPI_PM_EVENT_PORT	0x600	/* status, enable: 16 bits each */
#define ACPI_PM_CONTROL_PORT	0x604
#define ACPI_PM_RESET_PORT	0x60c
#define ACPI_PM_RESET_VALUE	1
#define ACPI_PM_SLEEP_S5	5	/* SLP_TYP that turns the machine off */

/* Both ends of the machine are HUSK_EXIT_REBOOT. NULL with errno. */
struct device *acpi_pm_new(struct bus *bus);
