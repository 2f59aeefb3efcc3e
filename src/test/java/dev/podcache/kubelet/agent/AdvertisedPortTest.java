package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.Verb;
import dev.podcache.kubelet.server.KubeletServerBuilder;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.Node;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The port that a node advertises, and how long its registration waits for it. */
@ExtendWith(NoLeaks.class)
class AdvertisedPortTest {

    @RegisterExtension
    final AgentFixture fixture = new AgentFixture();

    @Test
    @ExpectedWarnings({
        "HTTPS endpoint of the node did not start: cannot use /no/such.pem and /no/such.key: there is no file /no/such.pem;"
                + " kubectl logs and exec fail until the agent is restarted"
    })
    void endpointDoesNotListen_nodeIsReadyAndAdvertisesNoPort_andTheLogSaysWhy() {
        fixture.agent(options -> listening(
                        options, endpoint -> endpoint.certificate(Path.of("/no/such.pem"), Path.of("/no/such.key"))))
                .start();
        fixture.timekeeper.advance(Duration.ofSeconds(15));

        assertThat(fixture.ready()).isEqualTo("True");
        assertThat(advertisedPort()).isZero();
    }

    @Test
    void start_endpointDoesNotListenYet_nodeIsRegisteredOnceItDoes_withItsPort() {
        Deque<Runnable> tasks = new ArrayDeque<>();
        startWithEndpoint(tasks);
        tasks.remove().run(); // the runtime answers
        fixture.timekeeper.advance(Duration.ofSeconds(9));
        assertThat(fixture.exists(Node.class, AgentFixture.NODE_KEY)).isFalse();

        tasks.remove().run(); // the endpoint listens
        fixture.timekeeper.advance(Duration.ofSeconds(1));

        assertThat(advertisedPort()).isPositive();
        assertThat(fixture.server.sent())
                .filteredOn(sent -> sent.verb() == Verb.CREATE && sent.kind().equals(ObjectKind.NODE))
                .singleElement()
                .satisfies(sent -> assertThat(sent.body()).contains("{\"Port\":" + advertisedPort() + "}"));
    }

    @Test
    void start_endpointHangs_nodeIsRegisteredWithoutAPort() {
        Deque<Runnable> tasks = new ArrayDeque<>();
        startWithEndpoint(tasks);
        tasks.remove().run(); // the runtime answers

        fixture.timekeeper.advance(Duration.ofSeconds(11));

        assertThat(advertisedPort()).isZero();
    }

    @Test
    @ExpectedWarnings("the HTTPS endpoint of the node is at port ")
    void portIsInUse_anotherOneIsAdvertised_andTheLogSaysSo() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            fixture.agent(options -> listening(options, endpoint -> endpoint.port(other.getLocalPort())))
                    .start();
            fixture.timekeeper.advance(Duration.ofSeconds(15));

            assertThat(advertisedPort()).isPositive().isNotEqualTo(other.getLocalPort());
        }
    }

    /** Takes back that the fixture turns the endpoint off. */
    private static NodeAgentBuilder listening(NodeAgentBuilder options, UnaryOperator<KubeletServerBuilder> more) {
        return options.configuration(KubeletConfiguration.DEFAULT)
                .healthPort("127.0.0.1", 0)
                .server(endpoint -> more.apply(endpoint.address("127.0.0.1").port(0)));
    }

    private void startWithEndpoint(Deque<Runnable> tasks) {
        fixture.agent(options -> listening(options, UnaryOperator.identity())
                        .threadsOf((limit, time) -> TaskThreads.on(tasks::add, limit, time)))
                .start();
    }

    @Test
    void endpointIsOff_nodeAdvertisesNoPort() {
        fixture.start();
        fixture.timekeeper.advance(Duration.ofSeconds(15));

        assertThat(advertisedPort()).isZero();
    }

    private int advertisedPort() {
        return fixture.node()
                .getStatus()
                .getDaemonEndpoints()
                .getKubeletEndpoint()
                .getPort();
    }
}
