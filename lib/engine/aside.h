/* SPDX-License-Identifier: MIT */
#ifndef IW_ENGINE_ASIDE_H
#define IW_ENGINE_ASIDE_H

struct ipcwait_window;

/*
 * A thread whose compare-and-swap has failed, on the word of an object that it could have had,
 * stands aside: for half a microsecond, and for twice as long each time that it happens again soon,
 * up to 5 us. The other does many operations meanwhile. With both at it, each operation waits for
 * the word's cache line to come from the other CPU. Not where spinning is no use or not wanted: one
 * CPU, a small quota, IPCWAIT_BLOCK, a budget of 0.
 */
void iw_stand_aside(const struct ipcwait_window *window);

#endif
