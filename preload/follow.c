/* SPDX-License-Identifier: MIT */
/* What `ipcwait run` has put into the environment, and how it goes out of that again. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "../tools/common/tally_form.h"
#include "chain.h"
#include "env/config.h"
#include "tally.h"

/*
 * The texts become shorter, or empty, where they are. That needs no memory, and no entry goes away:
 * some runtimes look behind the last for what the kernel has put there.
 */
static void leave(void)
{
	for (char **entry = environ; *entry; entry++) {
		char *chain = iw_chain_value(*entry, IW_CHAIN_VARIABLE);
		char *tally = iw_chain_value(*entry, TALLY_VARIABLE);

		if (chain)
			iw_chain_cut(chain);
		if (tally)
			*tally = '\0';
	}
}

__attribute__((constructor)) static void load(void)
{
	const char *tally = iw_config_variable(TALLY_VARIABLE);
	const char *follow = iw_config_variable(FOLLOW_VARIABLE);
	int saved_errno = errno;

	if (tally)
		tally_join(tally);
	if (follow && strcmp(follow, "0") == 0)
		leave();
	errno = saved_errno;
}
