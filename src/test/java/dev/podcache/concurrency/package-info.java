/**
 * Linearizability: whatever a few threads do at once, the outcome is one that they could have had one after the
 * other. The checker tries random programs many times on real threads and compares with the same class run by one
 * thread. References, including the multiset that an entry guards, and gets are checked of both stores, and
 * registrations of the manager over both.
 *
 * <p>What the checker cannot see is an object that another thread meets half built, a data race on the fields of an
 * answer. Its other mode, model checking, knows only sequentially consistent executions, in which there is no such
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
