package dev.podcache.kubelet.podsync;

import dev.podcache.object.Quoted;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs what fails in the syncs of one pod, mostly calls of its runtime: the first time with the stack trace, and each
 * later time as one line. Not thread-safe.
 */
final class RuntimeFailures {

    private static final Logger log = LoggerFactory.getLogger(RuntimeFailures.class);

    /** The maximum number of remembered stack traces, of which a pod has few. When it is reached, all are forgotten. */
    private static final int CAPACITY = 50;

    /** A chain of causes may be a circle. */
    private static final int LONGEST_CHAIN = 10;

    private final Set<Integer> logged = new HashSet<>();

    /**
     * Logs a failure.
     *
     * @param what what failed and what happens next, such as {@code sync of pod shop/web failed; retrying}
     */
    void log(Level level, String what, Throwable failure) {
        if (logged.size() >= CAPACITY) {
            logged.clear();
        }
        if (logged.add(traceHash(failure))) {
            log.atLevel(level).setCause(failure).log(what);
        } else {
            String causes = chain(failure).map(Throwable::toString).collect(Collectors.joining(", caused by "));
            log.atLevel(level).log("{}: {}; its stack trace was logged before", what, Quoted.text(causes));
        }
    }

    /** Leaves out the messages: a message may contain a number or an address that differs each time. */
    private static int traceHash(Throwable failure) {
        return chain(failure)
                .map(each -> Objects.hash(each.getClass(), Arrays.hashCode(each.getStackTrace())))
                .toList()
                .hashCode();
    }

    private static Stream<Throwable> chain(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(LONGEST_CHAIN);
    }
}
