package dev.podcache.kubelet.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.kubelet.probe.ProbeExec.CommandResult;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands, TCP and ports: {@code prober_test.go}, {@code exec_test.go} and {@code tcp_test.go} of Kubernetes. */
@ExtendWith(NoLeaks.class)
class ProbeActionsTest {

    private static final Probe EXEC = new ProbeBuilder()
            .withNewExec()
            .withCommand("cat", "/tmp/ready")
            .endExec()
            .withTimeoutSeconds(2)
            .build();

    private static final ProbeExec NO_EXEC =
            (pod, container, command, timeout) -> CompletableFuture.failedFuture(new IOException("no exec"));

    private static final int PATIENCE_SECONDS = 20;

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ProbeNetwork network = new ProbeNetwork(time, "1.36");
    private final List<String> commands = new ArrayList<>();
    private CompletableFuture<CommandResult> result = new CompletableFuture<>();
    private final ProbeActions actions = new ProbeActions(network, (pod, container, command, timeout) -> {
        commands.add(container + " " + command + " " + timeout);
        return result;
    });

    @AfterEach
    void close() {
        network.close();
    }

    private static ProbeTarget target(String podIp) {
        Container container = new ContainerBuilder()
                .withName("main")
                .addNewPort()
                .withName("found")
                .withContainerPort(93)
                .endPort()
                .build();
        return new ProbeTarget(ProbesFixture.pod(container), container, podIp);
    }

    private ProbeOutcome run(Probe probe) {
        return actions.run(probe, target("127.0.0.1")).join();
    }

    @Test
    void probe_noHandler() {
        assertThat(run(new Probe())).isEqualTo(ProbeOutcome.error("missing probe handler for shop/web(uid-web):main"));
    }

    @ParameterizedTest
    @CsvSource({"0, SUCCESS", "1, FAILURE", "137, FAILURE"})
    void probe_exec_isJudgedByTheExitCode(int exitCode, ProbeOutcome.Verdict expected) {
        result.complete(new CommandResult(exitCode, "output"));

        assertThat(run(EXEC)).isEqualTo(new ProbeOutcome(expected, "output"));
        assertThat(commands).containsExactly("main [cat, /tmp/ready] PT2S");
    }

    @Test
    void probe_execHasAnError_isTriedThreeTimes() {
        result.completeExceptionally(new IOException("no such container"));

        assertThat(run(EXEC)).isEqualTo(ProbeOutcome.error("no such container"));
        assertThat(commands).hasSize(3);
    }

    @Test
    void exec_outputIsCut() {
        result.complete(new CommandResult(1, "a".repeat(20_000)));

        assertThat(run(EXEC).message()).hasSize(10_240);
    }

    @Test
    void exec_timeout_isAFailureAndCancelsTheCommand() {
        CompletableFuture<ProbeOutcome> outcome = actions.run(EXEC, target("127.0.0.1"));
        time.advance(Duration.ofMillis(1_999));
        assertThat(outcome).isNotDone();

        time.advance(Duration.ofMillis(1));

        assertThat(outcome)
                .isCompletedWithValue(ProbeOutcome.failure("command timed out: \"cat /tmp/ready\" timed out after 2s"));
        assertThat(result).isCancelled();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "0", "65536", "not-found"})
    void port_invalid(String port) {
        assertThatThrownBy(() -> target("127.0.0.1").port(new IntOrString(port)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({"found, 93", "118, 118"})
    void port_byNameOrText(String port, int expected) {
        assertThat(target("127.0.0.1").port(new IntOrString(port))).isEqualTo(expected);
        assertThat(target("127.0.0.1").port(new IntOrString(76))).isEqualTo(76);
    }

    private static Probe tcp(int port) {
        return tcp("", port);
    }

    private static Probe tcp(String host, int port) {
        return new ProbeBuilder()
                .withNewTcpSocket()
                .withHost(host)
                .withPort(new IntOrString(port))
                .endTcpSocket()
                .build();
    }

    @Test
    void tcp_listening_succeedsAndCloses() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(run(tcp(server.getLocalPort()))).isEqualTo(ProbeOutcome.success(""));

            try (Socket connection = server.accept()) {
                assertThat(connection.getInputStream().read()).isEqualTo(-1);
            }
        }
    }

    @Test
    void tcp_refused() throws IOException {
        // bound without listening, so that no other program gets the port
        try (Socket reserved = new Socket()) {
            reserved.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));

            assertThat(run(tcp(reserved.getLocalPort())))
                    .isEqualTo(ProbeOutcome.failure(
                            "dial tcp 127.0.0.1:" + reserved.getLocalPort() + ": connect: connection refused"));
        }
    }

    @Test
    void tcp_toAName_whileTheLookupsOfOthersHang_succeeds() throws Exception {
        CountDownLatch hanging = new CountDownLatch(20);
        CountDownLatch held = new CountDownLatch(1);
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                ProbeNetwork named = new ProbeNetwork(time, "1.36", name -> {
                    if (name.startsWith("slow")) {
                        hanging.countDown();
                        Uninterruptibles.awaitUninterruptibly(held);
                    }
                    return new InetAddress[] {InetAddress.getLoopbackAddress()};
                })) {
            ProbeActions checks = new ProbeActions(named, NO_EXEC);
            int port = server.getLocalPort();
            List<CompletableFuture<ProbeOutcome>> slow = new ArrayList<>();
            for (int number = 0; number < 20; number++) {
                slow.add(checks.run(tcp("slow" + number, port), target("127.0.0.1")));
            }
            assertThat(hanging.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();

            assertThat(checks.run(tcp("fast", port), target("127.0.0.1")).get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .isEqualTo(ProbeOutcome.success(""));
            assertThat(slow).noneMatch(CompletableFuture::isDone);
        } finally {
            held.countDown();
        }
    }

    @Test
    void tcp_toOneName_hasOneLookupAtATime() throws Exception {
        List<String> lookups = new CopyOnWriteArrayList<>();
        CountDownLatch held = new CountDownLatch(1);
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                ProbeNetwork named = new ProbeNetwork(time, "1.36", name -> {
                    lookups.add(name);
                    Uninterruptibles.awaitUninterruptibly(held);
                    return new InetAddress[] {InetAddress.getLoopbackAddress()};
                })) {
            ProbeActions checks = new ProbeActions(named, NO_EXEC);
            int port = server.getLocalPort();
            CompletableFuture<ProbeOutcome> first = checks.run(tcp("Db", port), target("127.0.0.1"));
            CompletableFuture<ProbeOutcome> second = checks.run(tcp("dB", port), target("127.0.0.1"));

            held.countDown();

            assertThat(first.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(ProbeOutcome.success(""));
            assertThat(second.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(ProbeOutcome.success(""));
            assertThat(lookups).containsExactly("db");
            assertThat(checks.run(tcp("db", port), target("127.0.0.1")).get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .isEqualTo(ProbeOutcome.success(""));
            assertThat(lookups).containsExactly("db", "db");
        } finally {
            held.countDown();
        }
    }

    @Test
    void tcp_noPodIp_isAnError() {
        assertThat(actions.run(tcp(80), target("")).join()).isEqualTo(ProbeOutcome.error("the pod has no IP address"));
    }

    @Test
    void address_ofIpv6_isInBrackets() {
        assertThat(new ProbeAddress("fd00::6", 80)).hasToString("[fd00::6]:80");
        assertThat(new ProbeAddress("10.0.0.1", 80)).hasToString("10.0.0.1:80");
    }

    @Test
    void closedNetwork_isAnError() {
        network.close();

        assertThat(run(tcp(80)).verdict()).isEqualTo(ProbeOutcome.Verdict.ERROR);
    }
}
