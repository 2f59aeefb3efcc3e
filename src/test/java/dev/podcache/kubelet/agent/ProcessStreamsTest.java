package dev.podcache.kubelet.agent;

import static dev.podcache.kubelet.agent.ProcessFixture.reader;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.kubelet.runtime.PodPortForward.PortConnection;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attachments to processes, and connections to their ports. */
@EnabledOnOs(OS.LINUX)
class ProcessStreamsTest extends OnProcesses {

    /** Prints a line when the test creates the file {@code go}, and ends. */
    private static final String WAITING = "echo ready; while [ ! -e go ]; do sleep 0.05; done; echo late; echo end >&2";

    @BeforeEach
    void setUp() {
        fixture.restarted(
                ProcessRuntime.builder(fixture.directory, fixture.timekeeper).portForwarding());
    }

    private ContainerProcess attach() throws IOException {
        return fixture.runtime.attach(fixture.key, "main", false);
    }

    private PortConnection connect(int port) throws IOException {
        return fixture.runtime.portForward(fixture.key, port);
    }

    @Test
    void attach_showsBothOutputsFromNowOn_andEndsWithTheContainer() throws IOException, InterruptedException {
        fixture.runUntilReady(WAITING);

        try (ContainerProcess attached = attach()) {
            Files.createFile(fixture.instance(0).resolve("root/go"));

            assertThat(reader(attached.stdout()).lines()).containsExactly("late", "end");
            assertThat(attached.stderr().read()).isEqualTo(-1);
            attached.await();
        }
        fixture.awaitChange();
    }

    @Test
    void attach_agentRestarted_endsWithTheContainerToo() throws IOException, InterruptedException {
        fixture.runUntilReady(WAITING);
        fixture.restarted();

        try (ContainerProcess attached = attach();
                BufferedReader output = reader(attached.stdout())) {
            Files.createFile(fixture.instance(0).resolve("root/go"));

            attached.await();
            assertThat(output.lines()).containsExactly("late", "end");
        }
        fixture.awaitChange();
    }

    @Test
    void attach_closed_waitEndsAndTheContainerGoesOn() throws Exception {
        fixture.runUntilReady("echo ready; exec sleep 300");
        ContainerProcess attached = attach();
        CompletableFuture<Integer> end = new CompletableFuture<>();
        NewThread.EACH.execute(() -> {
            try {
                end.complete(attached.await());
            } catch (InterruptedException e) {
                end.completeExceptionally(e);
            }
        });

        attached.close();
        attached.close();

        end.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(attached.stdout().read()).isEqualTo(-1);
        assertThat(fixture.isRunning()).isTrue();
    }

    @Test
    void attach_withInput_isRefusedWithTheRemedy() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");

        assertThatThrownBy(() -> fixture.runtime.attach(fixture.key, "main", true))
                .isInstanceOf(IOException.class)
                .hasMessage("containers of the process runtime have no standard input; leave out --stdin");
    }

    @Test
    void attach_containerHasEnded_saysSo() throws IOException, InterruptedException {
        fixture.runToEnd("true");

        assertThatThrownBy(this::attach).isInstanceOf(IOException.class).hasMessage("container main does not run");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void portForward_connectsToTheLoopbackAddress(String address) throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        try (ServerSocket server = listen(address);
                PortConnection connection = connect(server.getLocalPort());
                Socket accepted = server.accept()) {
            connection.output().write("request".getBytes(StandardCharsets.UTF_8));
            assertThat(accepted.getInputStream().readNBytes(7)).asString().isEqualTo("request");
            accepted.getOutputStream().write("answer".getBytes(StandardCharsets.UTF_8));
            accepted.shutdownOutput();

            assertThat(connection.input().readAllBytes()).asString().isEqualTo("answer");
        }
    }

    private static ServerSocket listen(String address) throws IOException {
        try {
            return new ServerSocket(0, 1, InetAddress.getByName(address));
        } catch (IOException e) {
            assumeTrue(address.equals("127.0.0.1"), "this machine has no IPv6");
            throw e;
        }
    }

    @Test
    void portForward_closedWhileAReadBlocks_readEnds() throws Exception {
        fixture.run("exec sleep 300");
        try (ServerSocket server = listen("127.0.0.1")) {
            PortConnection connection = connect(server.getLocalPort());
            CompletableFuture<Object> end = new CompletableFuture<>();
            NewThread.EACH.execute(() -> {
                try {
                    end.complete(connection.input().read());
                } catch (IOException e) {
                    end.complete(e);
                }
            });

            connection.close();
            connection.close();

            end.get(Patience.SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void portForward_nothingListens_saysSo() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        int port = FreePorts.find(1).get(0);

        assertThatThrownBy(() -> connect(port))
                .isInstanceOf(IOException.class)
                .hasMessage("nothing listens on port " + port + " of 127.0.0.1 or ::1");
    }

    @Test
    void portForward_notAllowed_saysHowToAllowIt() throws IOException, InterruptedException {
        fixture.restarted();
        fixture.runUntilReady(WAITING);
        try (ServerSocket server = listen("127.0.0.1")) {
            assertThatThrownBy(() -> connect(server.getLocalPort()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("portForwarding()");
        }
    }

    @Test
    void portForward_podDoesNotRun_connectsToNothing() throws IOException, InterruptedException {
        fixture.runToEnd("true");
        try (ServerSocket server = listen("127.0.0.1")) {
            assertThatThrownBy(() -> connect(server.getLocalPort()))
                    .isInstanceOf(IOException.class)
                    .hasMessage("no container of the pod runs");
        }
    }
}
