/* SPDX-License-Identifier: MIT */
/*
 * Linked with the whole of one layer and with those below it, and nothing else. That it links
 * is the test: a call up would be an undefined symbol.
 */
int main(void)
{
	return 0;
}
