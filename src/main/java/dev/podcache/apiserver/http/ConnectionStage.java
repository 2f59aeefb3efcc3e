package dev.podcache.apiserver.http;

/** The stage of a connection, as its pool knows it. */
enum ConnectionStage {
    OPENING,
    OPEN,
    /** Takes no new streams, and is closed when the last one has ended. */
    RETIRED,
    CLOSED
}
