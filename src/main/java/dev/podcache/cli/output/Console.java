package dev.podcache.cli.output;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * What a command gets from the process it runs in.
 *
 * @param out for data
 * @param err for complaints
 * @param environment the variables
 * @param home the user's directory
 * @param stop completes when the user wants the command to end
 * @param logging sets from which level on Podcache logs; called before a command does anything
 */
public record Console(
        PrintStream out,
        PrintStream err,
        Map<String, String> environment,
        Path home,
        CompletableFuture<Void> stop,
        Consumer<Level> logging) {

    /** The real one. */
    public static Console ofProcess() {
        return new Console(
                System.out,
                System.err,
                System.getenv(),
                Path.of(System.getProperty("user.home", "")),
                new CompletableFuture<>(),
                AgentLogging::toStandardError);
    }

    /**
     * Waits until the user wants an end, or {@code duration} has passed.
     *
     * @param duration null to wait for ever
     * @return whether time passed in full, and nobody wanted an end before
     * @throws CommandFailure if nobody reads {@code account} any more
     */
    public boolean await(@Nullable Duration duration, Account account) {
        try {
            CompletableFuture<Object> either = CompletableFuture.anyOf(stop, account.broken());
            if (duration == null) {
                either.get();
            } else {
                either.get(duration.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (TimeoutException over) {
            return true;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        account.requireUnbroken();
        return false;
    }
}
