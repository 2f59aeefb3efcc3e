package dev.podcache.embedded;

/** What happens to an event of a watch. */
public enum EventOutcome {
    /** It is sent. */
    PASS,
    /** It is lost, and the watch goes on as if nothing had happened. */
    DROP,
    /** It is sent twice, as by a proxy that repeats what it is not sure to have passed on. */
    DUPLICATE,
    /** Half of it is sent, then the connection breaks. */
    CUT
}
