package dev.podcache.embedded;

import java.time.Duration;

/** What happens to a request. */
public sealed interface RequestOutcome {

    /** It is answered. */
    record Pass() implements RequestOutcome {}

    /** It is answered when the test says so. */
    record Hold(Held held) implements RequestOutcome {}

    /** It is answered later. */
    record Delay(Duration duration) implements RequestOutcome {}

    /** Its connection is closed without an answer. */
    record Refuse() implements RequestOutcome {}

    /** It is answered with an error. */
    record Fail(StatusException error) implements RequestOutcome {}
}
