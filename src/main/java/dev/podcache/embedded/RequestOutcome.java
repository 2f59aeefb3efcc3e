package dev.podcache.embedded;

import java.time.Duration;

/** What the server does with a request. */
public sealed interface RequestOutcome {

    /** Answers the request. */
    record Pass() implements RequestOutcome {}

    /** Answers the request when the test releases it. */
    record Hold(HeldRequests held) implements RequestOutcome {}

    /** Answers the request after a delay. */
    record Delay(Duration duration) implements RequestOutcome {}

    /** Closes the connection without an answer. */
    record Refuse() implements RequestOutcome {}

    /** Answers the request with an error. */
    record Fail(StatusException error) implements RequestOutcome {}
}
