package dev.podcache.embedded;

/** What happens to an event of a watch. */
public enum EventFate {
    /** It is sent. */
    PASS,
    /** It is lost, and the watch goes on as if nothing had happened. */
    DROP,
    /** Half of it is sent, then the connection breaks. */
    CUT
}
