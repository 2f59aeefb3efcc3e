package dev.podcache.cli.config;

import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the commands that run an agent. */
public final class AgentOptions {

    @Option(
            names = "--strategy",
            paramLabel = "STRATEGY",
            completionCandidates = StrategyNames.class,
            description = "how changes are detected: Get (every read is a request), Cache (a request after the"
                    + " TTL) or Watch (the API server sends changes; the default)")
    @Nullable
    public ChangeDetectionStrategy strategy;

    @Option(names = "--for", paramLabel = "DURATION", description = "end after this time, such as 15s or 1m30s")
    @Nullable
    public Duration duration;
}
