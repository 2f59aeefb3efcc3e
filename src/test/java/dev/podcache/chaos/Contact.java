package dev.podcache.chaos;

/**
 * What others than the cache know of its contact with the server, at one moment. In nanoseconds.
 *
 * @param lostFor for how long the cache must have known that it has no watch of the object; at most 0 if it need not
 * @param failedFor how long ago the last attempt to read the object failed; at most 0 if it did not fail
 */
record Contact(long lostFor, long failedFor) {

    /** Nothing is known of any trouble. */
    static final Contact GOOD = new Contact(0, 0);
}
