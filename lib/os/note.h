/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_NOTE_H
#define IW_OS_NOTE_H

/*
 * Send a message without content to the process that has bound a datagram socket to the abstract
 * name
 * @name, see unix(7). Nothing waits, and nothing happens if there is nobody. Users need no rights
 * on such a name, so it reaches another user's process. At load only: under a filter for system
 * calls (seccomp(2)) nothing is sent, because such a filter may end a process for a call that the
 * program would not make. errno is preserved.
 */
void iw_note_send(const char *name);

#endif
