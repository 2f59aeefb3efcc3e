package dev.podcache.embedded;

/** What the server does with an event of a watch. */
public enum EventOutcome {
    /** Sends the event. */
    PASS,
    /** Loses the event and continues the watch. */
    DROP,
    /** Sends the event twice, as a proxy does that retries after an uncertain delivery. */
    DUPLICATE,
    /** Sends half of the event, then breaks the connection. */
    CUT
}
