/**
 * Linearizability: whatever a few threads do at once, the outcome is one that they could have had one after the other. The
 * checker tries random programs many times on real threads and compares with the same class run by one thread.
 */
@NullMarked
package dev.podcache.concurrency;

import org.jspecify.annotations.NullMarked;
