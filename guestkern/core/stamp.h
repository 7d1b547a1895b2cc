/* SPDX-License-Identifier: Apache-2.0 */
/* `--trace=boot`: what each step of the start cost, printed once the first program is ready. */
#pragma once

void boot_stamp(const char *step);	/* the step that has just ended */
void boot_stamps_print(void);
