/**
 * Linearizability: whatever a few threads do at once, the outcome is one that they could have had one after the
 * other. On real threads ({@code Linearizability}) the checker tries random programs many times and compares with the
 * same class run by one thread. References, including the multiset that an entry guards, and gets are checked of both
 * stores, registrations of the manager over both, and the table of entries. Requests are answered on other threads.
 *
 * <p>By model checking ({@code ModelChecking}) it switches between threads wherever they can meet, in small programs:
 * of the table, and of an entry and its fetches. A mistake that one thread alone can make is seen by neither, for the
 * class is compared with itself: that is for the other tests.
 *
 * <p>How hard both try is said by the system property {@code podcache.effort}: {@code verify}, the default, or {@code
 * nightly}.
 *
 * <p>What the checker cannot see is an object that another thread meets half built, a data race on the fields of an
 * answer. Model checking knows only sequentially consistent executions, in which there is no such
 * thing; and on real threads this processor and compiler hardly ever produce one. It rests on the language instead: all
 * fields of an answer are final (JLS 17.5), so that even a racy read of one finds them set, and it is handed over in a
 * volatile field. {@code touched} is the one plain field that many threads write; nothing is read through it, so all
 * that a race can do is to have an object look unused.
 *
 * <p>Read {@code StoreReferences}, {@code ManagerRegistrations}, the two tests of reads, then {@code SharedSecret}.
 */
@NullMarked
package dev.podcache.concurrency;

import org.jspecify.annotations.NullMarked;
