package dev.podcache.cli.controllers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LeadershipTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final AtomicInteger tries = new AtomicInteger();

    private RunningControllers failingOnce(String url) {
        if (tries.incrementAndGet() == 1) {
            throw new IllegalStateException("planned");
        }
        Config config = new ConfigBuilder(Config.empty()).withMasterUrl(url).build();
        return new RunningControllers(
                Fabric8ApiServer.of(config, RequestLimit.UNLIMITED), NodeLifecycleOptions.DEFAULT, "test", event -> {});
    }

    @Test
    @ExpectedWarnings("the controllers did not start; trying again in 5 s")
    void startFails_isTriedAgain() {
        try (Timekeeper time = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(time);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
                Leadership leadership = new Leadership(() -> failingOnce(server.url()), timekeeper, event -> {})) {
            leadership.startedLeading();
            assertThat(leadership.problem()).isPresent();

            timekeeper.advance(Duration.ofSeconds(6));

            assertThat(leadership.problem()).isEmpty();
            assertThat(tries).hasValue(2);
        }
    }

    /** Those that run would be replaced, and run on beside the new ones whatever becomes of the leadership. */
    @Test
    @ExpectedWarnings("the controllers did not start; trying again in 5 s")
    void startFails_leadershipIsLostAndWonBeforeTheNextTry_thatStartsNoSecondSet() {
        try (Timekeeper time = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(time);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
                Leadership leadership = new Leadership(() -> failingOnce(server.url()), timekeeper, event -> {})) {
            leadership.startedLeading();
            leadership.stoppedLeading("the test says so");
            leadership.startedLeading();
            assertThat(tries).hasValue(2);

            timekeeper.advance(Duration.ofSeconds(6));

            assertThat(leadership.problem()).isEmpty();
            assertThat(tries).hasValue(2);
        }
    }
}
