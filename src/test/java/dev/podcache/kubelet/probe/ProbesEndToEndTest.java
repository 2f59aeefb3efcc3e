package dev.podcache.kubelet.probe;

import static dev.podcache.kubelet.probe.ProbesFixture.FIRST;
import static dev.podcache.kubelet.probe.ProbesFixture.key;
import static dev.podcache.kubelet.probe.ProbesFixture.pod;
import static dev.podcache.kubelet.probe.ProbesFixture.running;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.sun.net.httpserver.HttpServer;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RecordedEvents;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Probes of a server, on real time, threads and connections. */
@ExtendWith(NoLeaks.class)
class ProbesEndToEndTest {

    private final BlockingQueue<ProbeChange> changes = new LinkedBlockingQueue<>();
    private final RecordedEvents events = new RecordedEvents();
    private final AtomicInteger status = new AtomicInteger(200);

    private static Probe http(int port) {
        return new ProbeBuilder()
                .withNewHttpGet()
                .withPath("/")
                .withPort(new IntOrString(port))
                .endHttpGet()
                .withTimeoutSeconds(20)
                .withPeriodSeconds(1)
                .withFailureThreshold(1)
                .build();
    }

    private ProbeChange nextChange() throws InterruptedException {
        return changes.poll(60, TimeUnit.SECONDS);
    }

    @Test
    void server_thatBreaks_isStartedAndReadyAndThenNeither() throws IOException, InterruptedException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(status.get(), -1);
            }
        });
        server.start();
        int port = server.getAddress().getPort();
        Pod pod = pod(new ContainerBuilder()
                .withName("main")
                .withStartupProbe(http(port))
                .withReadinessProbe(http(port))
                .withLivenessProbe(http(port))
                .build());
        try (Timekeeper timekeeper = Timekeeper.system();
                ProbeNetwork network = new ProbeNetwork(timekeeper, "1.36");
                Probes probes = new Probes(
                        network,
                        (key, container, command, timeout) -> CompletableFuture.failedFuture(new IOException()),
                        changes::add,
                        events)) {
            probes.add(pod);
            probes.observe(pod, List.of(running("main", FIRST)), "127.0.0.1");
            assertThat(nextChange()).isEqualTo(new ProbeChange(key(pod), "main", ProbeKind.STARTUP, true, ""));
            assertThat(nextChange()).isEqualTo(new ProbeChange(key(pod), "main", ProbeKind.READINESS, true, ""));
            assertThat(probes.ready(key(pod), "main", FIRST)).isTrue();

            status.set(503);

            assertThat(List.of(nextChange(), nextChange()))
                    .extracting(ProbeChange::kind, ProbeChange::success)
                    .containsExactlyInAnyOrder(tuple(ProbeKind.READINESS, false), tuple(ProbeKind.LIVENESS, false));
            assertThat(probes.ready(key(pod), "main", FIRST)).isFalse();
            assertThat(probes.failed(key(pod), "main", FIRST)).isPresent();
            assertThat(events.lines())
                    .contains("Warning Unhealthy Liveness probe failed: HTTP probe failed with statuscode: 503");
        } finally {
            server.stop(0);
        }
    }
}
