/* SPDX-License-Identifier: MIT */
/* `ipcwait top`: what programs wait for, as they run. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

/* The subcommand. Returns an exit status. */
int top_main(int argc, char **argv);

#endif
