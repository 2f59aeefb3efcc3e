package dev.podcache.cli.output;

import java.io.InputStream;
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
import picocli.CommandLine.Help.Ansi;

/**
 * What a command gets from its process.
 *
 * @param in what a manifest named - is read from
 * @param out for data
 * @param err for error messages
 * @param environment the environment variables
 * @param home the user's home directory: {@code HOME}, as for kubectl, else that of the user database
 * @param stop completes when the command is asked to end
 * @param begun completes when the command waits for the first time; before that, it has nothing to end in order
 * @param terminal whether a person reads the output: colours and progress are for people only
 * @param logging sets the log level of Podcache; called before a command does anything else
 */
public record Console(
        InputStream in,
        PrintStream out,
        PrintStream err,
        Map<String, String> environment,
        Path home,
        CompletableFuture<Void> stop,
        CompletableFuture<Void> begun,
        boolean terminal,
        Consumer<Level> logging) {

    /** Returns the console of this process. */
    public static Console ofProcess() {
        return new Console(
                System.in,
                System.out,
                System.err,
                System.getenv(),
                Path.of(System.getenv().getOrDefault("HOME", System.getProperty("user.home", ""))),
                new CompletableFuture<>(),
                new CompletableFuture<>(),
                Ansi.AUTO.enabled(),
                ProgramLogging::toStandardError);
    }

    /**
     * Waits until the command is asked to end, or {@code duration} has passed.
     *
     * @param duration null to wait without limit
     * @return true if {@code duration} has passed, false if the command is to end
     * @throws CommandException if the output of {@code events} cannot be written any more
     */
    public boolean await(@Nullable Duration duration, EventWriter events) {
        return !endsWithin(duration, stop, events);
    }

    /**
     * Waits until {@code future} is complete, normally or exceptionally, or the command is asked to end.
     *
     * @return true if {@code future} is complete, false if the command is to end
     * @throws CommandException if the output of {@code events} cannot be written any more
     */
    public boolean await(CompletableFuture<?> future, EventWriter events) {
        endsWithin(null, CompletableFuture.anyOf(stop, future.handle((value, thrown) -> "")), events);
        return !stop.isDone();
    }

    private boolean endsWithin(@Nullable Duration duration, CompletableFuture<?> end, EventWriter events) {
        begun.complete(null);
        boolean ended = true;
        try {
            long nanos = duration == null ? Long.MAX_VALUE : duration.toNanos();
            CompletableFuture.anyOf(end, events.broken()).get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            ended = false;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        events.requireReader();
        return ended;
    }
}
