/* SPDX-License-Identifier: MIT */
/*
 * The semaphore's protocol: state table in <ipcwait/sem.h>, transitions in lib/sync/sem.c,
 * waiting loop in lib/engine/wait.c. run.py has the shapes it is run in and the mutants.
 *
 * A transition is one atomic step here, a load and a CAS in the code. Nothing is lost: all
 * state is one word, so a CAS that succeeds proves that the word is what the decision was
 * made on, and one that fails changes nothing and is tried again. Where the code ends
 * without a CAS (look in vain, mark_spinner() that fails, word already right) the step is
 * the load. One word has one order of changes, so weak memory adds nothing.
 * Steps of their own: FUTEX_WAKE, any time after its post's CAS, of any sleepers; the
 * kernel's comparison, any time after settle(). By construction a post issues at most one
 * FUTEX_WAKE, and reads nothing after its CAS.
 *
 * A post may find WAKES stale whenever WAKES is not zero, however fresh it is in truth. In
 * the code the first load that finds it so decides for all CAS attempts of the post.
 *
 * watch() checks every state: no token lost or made up; WAKES <= SLEEPERS <= waiters; once
 * all wakes are issued WAKES <= waiters on their way to look; SPINNER only without tokens;
 * and when nobody is on his way to look and no wake is owed, no thread sleeps over tokens.
 * The last is the invariant in docs/design/sem.md: from a state where too few are on their
 * way, some order of steps leads to one where none is. At the end the word is clean, and
 * ENOUGH: no waiter sleeps for good.
 *
 * Killed processes. Asleep, or announced and not woken: costs needless wakes only. Woken and
 * not yet taking: one token lies unannounced, every token above it wakes a sleeper. Between
 * a post's CAS and its wake: that wake's tokens lie so, and if it was to wake all (WAKES =
 * SLEEPERS) all later ones too. Both last until a post finds WAKES stale, or a waiter goes
 * to sleep. As the spinner: the token of the post that relies on it lies, until the post
 * after that one, or a waiter goes to sleep. Who looks finds every token.
 * NOT true, see run.py's claims: that the next post ends it, or that a stale one always does.
 */
#ifndef WAITERS		/* a shape; run.py gives all of it */
#define WAITERS 2	/* without a deadline */
#define TIMED 1		/* waiters that a deadline or a signal may end */
#define ROUNDS 1	/* tokens that each of them takes */
#define BARGES 1	/* tokens that may go by the fast path */
#define POSTERS 1
#define POSTS 2		/* by each poster */
#define N 1		/* tokens in a post */
#define SPURIOUS 1	/* returns from the futex for no reason */
#define TIMERS 1	/* sleeps that a timer of the engine ends */
#define ROOM 3		/* SLEEPERS_MAX */
#define KILLS 0
#define WHOM 15		/* 1 announced or asleep, 2 woken, 4 spinner, 8 poster */
#define MAY_LIE PER_WAKE	/* tokens that may lie unannounced while a thread sleeps */
#define TILL 0		/* ENDED by 1, 2: so many posts, 3: a post that finds WAKES stale */
#define BROKEN 0	/* which mutant: a number at the line that it breaks */
#endif

/* NEW has published nothing, GOING is before the futex, EXPIRED and RUNG will withdraw. */
mtype = { NEW, AWAKE, WOKEN, GOING, ASLEEP, NAPPING, EXPIRED, RUNG, GONE };
mtype st[4] = GONE;
byte v, k, s; bit sp;		/* VALUE, WAKES, SLEEPERS, SPINNER */
byte posted, taken, owed;	/* owed: posts whose wake is still to be issued */
byte kills = KILLS, spurious = SPURIOUS, timers = TIMERS;
byte unheard;			/* wakes that never arrive, but that WAKES may count */
byte relied;			/* killed spinners that a post relies or has relied on */
byte since;			/* what TILL counts, since the last kill */

#define PER_DEATH (unheard + relied)	/* what MAY_LIE can be, or a number */
#define PER_WAKE (unheard && k == s -> 99 : unheard + relied)
#define ENDED (since == TILL -> 0 : 99)

#define ALL (WAITERS + TIMED)
#define IF(n, broken, right) (BROKEN == n -> (broken) : (right))
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define LESS(a, b) ((a) > (b) -> (a) - (b) : 0)
#define LOOKS (st[i] == NEW || st[i] == AWAKE || st[i] == WOKEN)
#define IDLE(j) (st[j] == NEW || st[j] == ASLEEP || st[j] == GONE)
#define COUNT(p) (p(0) + p(1) + p(2) + p(3))
#define IS_ASLEEP(j) (st[j] == ASLEEP)
#define IS_GONE(j) (st[j] == GONE)
#define COMING (4 - COUNT(IDLE))	/* waiters on their way to look */
#define QUIET (!owed && !COMING)
#define SLEEPS COUNT(IS_ASLEEP)
#define ALL_GONE (COUNT(IS_GONE) == 4)
#define WORD (((v * 8 + s) * 8 + k) * 2 + sp)
#define LOW (s * 16 + IF(4, 0, k))	/* the futex word; 4: SLEEPERS alone */

inline leave(next)	/* without_me(); 1: keeps WAKES, 3: WAKES may be 0 */
{
	s = s - (sleeper && s);
	k = (sleeper && IF(3, 1, k) -> IF(1, k, k - 1) : k);
	sleeper = 0; spinner = 0; st[i] = next
}

proctype waiter(byte i; bool timed)
{
	byte left = ROUNDS, expected;
	bit sleeper, spinner;
#ifndef ENOUGH
end:
#endif
	do	/* take(); 5: withdraw() does not try */
	:: d_step { v && (LOOKS || st[i] == RUNG || st[i] == EXPIRED && BROKEN != 5) ->
		v--; taken++; left--; leave((left -> NEW : GONE)) }
		/* mark_spinner(); 2: though it will not be woken, 6: also a sleeper, whom WAKES may count */
	:: d_step { !v && LOOKS && s > k && !sp && IF(6, 1, !sleeper) && IF(2, 1, s < ROOM) ->
		sp = 1; spinner = 1; st[i] = (st[i] == NEW -> AWAKE : st[i]) }
		/* settle(); 7: does not look, 8: keeps WAKES, 9: keeps SPINNER */
	:: d_step { IF(7, 1, !v) && LOOKS && (sleeper || s < ROOM) ->
		s = s + !sleeper; k = IF(8, k, 0); sp = IF(9, sp, 0);
		unheard = 0; relied = 0;
		sleeper = 1; spinner = 0; expected = LOW; st[i] = GOING }
		/* IW_NAP, as good as awake; 10: on the futex word, it swallows wakes */
	:: d_step { IF(10, LOOKS, 0) && !v && !sleeper && s == ROOM -> st[i] = NAPPING }
	:: d_step { st[i] == NAPPING -> st[i] = AWAKE }
	:: d_step { timed && LOOKS && !v && !sleeper && s == ROOM -> st[i] = EXPIRED }
		/* the kernel: sleep or EAGAIN; a spurious return; ETIMEDOUT or EINTR */
	:: d_step { st[i] == GOING ->
		st[i] = (LOW == expected -> ASLEEP : AWAKE); expected = 0 }
	:: d_step { st[i] == ASLEEP && spurious -> spurious--; st[i] = AWAKE }
	:: d_step { st[i] == ASLEEP && timed -> st[i] = EXPIRED }
		/* withdraw() */
	:: d_step { st[i] == EXPIRED && IF(5, 1, !v) -> leave(GONE) }
		/* the same in the middle of a wait; 20: forgets to clear me->sleeper */
	:: d_step { st[i] == ASLEEP && timers -> timers--; st[i] = RUNG }
	:: d_step { st[i] == RUNG && !v -> leave(NEW); sleeper = IF(20, 1, 0) }
		/* SIGKILL */
	:: d_step { kills && (WHOM & 1 && sleeper && st[i] != WOKEN ||
			      WHOM & 2 && st[i] == WOKEN || WHOM & 4 && spinner) ->
		unheard = unheard + (st[i] == WOKEN); relied = relied + spinner;
		kills--; since = 0;
		sleeper = 0; spinner = 0; expected = 0; left = 0; st[i] = GONE }
	:: st[i] == GONE -> break
	od
}

#define WAKE(j) :: st[j] == ASLEEP || st[j] == NAPPING -> st[j] = WOKEN
#define COMES IF(19, k, known)

inline add(stale)	/* post_slow() and wakes_due(); 11: fast path over sleepers, 12: counts
			 * new tokens only, 13: no FUTEX_WAKE, 14: of one, 15: SPINNER takes
			 * all tokens, 16: keeps SPINNER, 17, 19: half of it uses stale WAKES */
{
	known = (stale -> 0 : k);
	due = MIN(LESS(IF(12, N, v + N), COMES + IF(15, 99, 1) * sp), LESS(s, COMES));
	due = IF(11, 0, due);
	unheard = (stale || seen -> 0 : unheard); relied = (sp -> relied : 0);
	since = (TILL == 3 -> (stale || seen -> 3 : since) : MIN(since + 1, TILL));
	v = v + N; k = IF(17, k, known) + due; sp = IF(16, sp, 0);
	posted = posted + N; left--; seen = 0; known = 0;
	due = IF(13, 0, IF(14, MIN(due, 1), due)); owed = owed + (due > 0)
}

proctype poster()
{
	byte left = POSTS, due, known;
	short seen;	/* 18: the word whose WAKES were stale, at the first attempt */

	do	/* WAKES fresh, or stale; 18: fresh after a CAS that failed, by its own stamp */
	:: d_step { left && !due && (!seen || seen != WORD) -> add(0) }
	:: d_step { left && !due && k && (BROKEN != 18 || seen == WORD) -> add(1) }
	:: d_step { BROKEN == 18 && left && !due && k && !seen && !kills ->
		seen = WORD }
	:: atomic { due -> owed--;
		do
		:: due -> if WAKE(0) WAKE(1) WAKE(2) WAKE(3) :: else -> due = 1 fi; due--
		:: else -> break
		od }
		/* SIGKILL */
	:: d_step { due && kills && WHOM & 8 ->
		unheard = unheard + due; kills--; since = 0;
		owed--; due = 0; left = 0 }
	:: !left && !due -> break
	od
}

proctype barger()	/* trywait, and a wait that finds a token at once */
{
	byte left = BARGES;
end:	do :: d_step { left && v -> v--; taken++; left-- } od
}

proctype watch()	/* runs in the first state that is wrong */
{
end:	atomic { posted != taken + v || k > s || s > ALL ||
		 !KILLS && (!owed && k > COMING || ALL_GONE && s + k + sp) ||
		 sp && v && BROKEN != 16 ||
		 QUIET && SLEEPS && v > (MAY_LIE) -> assert(false) }
}

init {
	byte i;
	atomic {
		for (i : 1 .. POSTERS) { run poster() }
		for (i : 0 .. ALL - 1) { st[i] = NEW; run waiter(i, i >= WAITERS) }
		run barger(); run watch(); i = 0
	}
}
