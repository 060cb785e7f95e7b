/* SPDX-License-Identifier: MIT */
/* Does nothing; linked with one set of libraries or another. */
int main(void)
{
	return 0;
}
