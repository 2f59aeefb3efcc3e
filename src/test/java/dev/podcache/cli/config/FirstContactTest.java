package dev.podcache.cli.config;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FirstContactTest {

    /** As a load balancer does whose API servers are away. That says nothing of certificates, and passes. */
    @Test
    void await_serverAcceptsAndIsSilent_waits() throws Exception {
        CapturedConsole captured = new CapturedConsole(Path.of(""));
        Console console = captured.console();
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Config config = new ConfigBuilder(Config.empty())
                    .withMasterUrl("https://127.0.0.1:" + silent.getLocalPort())
                    .withConnectionTimeout(300)
                    .build();
            try (EventWriter events = EventWriter.to(console.out(), EventWriter.Format.TEXT);
                    Fabric8ApiServer server = Fabric8ApiServer.of(config, RequestLimit.UNLIMITED)) {
                FirstContact contact = new FirstContact(server, config, console, events);
                CompletableFuture<Boolean> answered = CompletableFuture.supplyAsync(
                        () -> contact.await(ObjectKind.NODE, "metadata.name=worker-1", null), NewThread.EACH);

                await().until(() ->
                        answered.isDone() || String.join("", captured.out()).contains("waiting"));

                captured.stop();
                assertThat(answered.get(Patience.SECONDS, TimeUnit.SECONDS)).isFalse();
            }
        }
        assertThat(captured.out())
                .singleElement()
                .asString()
                .contains("waiting", "in time", "check that it runs there");
    }
}
