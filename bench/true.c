/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program; statically linked it is what bench/startup starts everywhere. */
int main(void)
{
	return 0;
}
