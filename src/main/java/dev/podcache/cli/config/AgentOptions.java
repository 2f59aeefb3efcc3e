package dev.podcache.cli.config;

import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the commands that run an agent. */
public final class AgentOptions {

    @Option(
            names = "--strategy",
            paramLabel = "STRATEGY",
            description = "how changes are detected: Get (every read asks), Cache (asks again after the TTL)"
                    + " or Watch (the default: the API server tells)")
    @Nullable
    public ChangeDetectionStrategy strategy;

    @Option(
            names = "--for",
            paramLabel = "DURATION",
            description = "ends by itself after that time, such as 15s or 1m30s")
    @Nullable
    public Duration duration;
}
