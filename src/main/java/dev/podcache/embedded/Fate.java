package dev.podcache.embedded;

import java.time.Duration;

/** What happens to a request. */
public sealed interface Fate {

    /** It is answered. */
    record Pass() implements Fate {}

    /** It is answered when the test says so. */
    record Hold(Held held) implements Fate {}

    /** It is answered later. */
    record Delay(Duration duration) implements Fate {}

    /** Its connection is closed without an answer. */
    record Refuse() implements Fate {}

    /** It is answered with an error. */
    record Fail(StatusException error) implements Fate {}
}
