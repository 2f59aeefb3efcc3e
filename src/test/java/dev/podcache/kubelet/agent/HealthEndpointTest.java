package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.agent.KubeletConfiguration.HealthPort;
import dev.podcache.kubelet.server.ComponentInfo;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.TaskThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class HealthEndpointTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();

    @AfterEach
    void close() {
        timekeeper.close();
    }

    @Test
    @ExpectedWarnings({
        "the node agent has no health port: cannot listen on 127.0.0.1:",
        "; probes of it fail until the agent is restarted; set another healthzPort"
    })
    void start_portIsInUse_theLogSaysWhyAndWhatFollows() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                HealthEndpoint endpoint = new HealthEndpoint(
                        new HealthPort("127.0.0.1", other.getLocalPort()),
                        () -> ComponentInfo.of("podcache", "v1"),
                        timekeeper)) {
            endpoint.start(TaskThreads.on(Runnable::run, 1, timekeeper));

            assertThat(endpoint.port()).isEmpty();
        }
    }
}
