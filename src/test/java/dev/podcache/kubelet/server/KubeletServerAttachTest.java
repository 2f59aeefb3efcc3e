package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /attach} over HTTPS, with a WebSocket client of the JDK. */
@ExtendWith(NoLeaks.class)
class KubeletServerAttachTest {

    private static final String ATTACH = "/attach/shop/web/main?output=1&error=1";

    @TempDir
    Path folder;

    private ServerFixture fixture;
    private final ChannelMessages messages = new ChannelMessages();
    private final FakeCommand container = new FakeCommand();

    @BeforeEach
    void start() throws IOException {
        fixture = new ServerFixture(folder);
        fixture.runtime.attach = stdin -> container;
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {ExecEndpoint.V4, ExecEndpoint.V5})
    void attach_connectsTheStreams_andItsEndIsASuccess(String subprotocol) throws Exception {
        WebSocket socket = fixture.connect(ATTACH + "&input=1", subprotocol, messages);
        assertThat(socket.getSubprotocol()).isEqualTo(subprotocol);

        assertThat(messages.take()).isEqualTo("1:");
        assertThat(messages.take()).isEqualTo("2:warned\n");
        ChannelMessages.send(socket, ExecChannels.STDIN, "hello");
        assertThat(messages.take()).isEqualTo("1:hello");
        container.stdin().close();

        assertThat(messages.take()).isEqualTo("3:{\"metadata\":{},\"status\":\"Success\"}");
        assertThat(messages.take()).isEqualTo("closed");
        assertThat(fixture.runtime.attached).containsExactly("shop/web(uid-web) main with input");
        assertThat(fixture.reviews.accesses)
                .containsExactly(new ResourceAccess("create", "nodes", "proxy", "worker-1"));
    }

    @Test
    void attach_withoutInput_leavesTheInputOfTheContainerOpen() throws Exception {
        WebSocket socket = fixture.connect(ATTACH, ExecEndpoint.V4, messages);
        assertThat(messages.take()).isEqualTo("1:");
        assertThat(messages.take()).isEqualTo("2:warned\n");
        ChannelMessages.send(socket, ExecChannels.STDIN, "ignored");

        container.stdin().write('x');
        container.stdin().flush();

        assertThat(messages.take()).isEqualTo("1:x");
        assertThat(fixture.runtime.attached).containsExactly("shop/web(uid-web) main");
        socket.abort();
        container.killed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void attach_clientLeaves_attachmentIsClosed() throws Exception {
        CompletableFuture<Object> attached = new CompletableFuture<>();
        fixture.runtime.attach = stdin -> {
            attached.complete(container);
            return container;
        };
        WebSocket socket = fixture.connect(ATTACH, ExecEndpoint.V4, messages);
        attached.get(Patience.SECONDS, TimeUnit.SECONDS);

        socket.abort();

        container.killed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void attach_containerHasATerminal_isResizedWhateverTheClientAsks() throws Exception {
        fixture.pods.set(
                0,
                new PodBuilder(fixture.pods.get(0))
                        .editSpec()
                        .editFirstContainer()
                        .withTty(true)
                        .endContainer()
                        .endSpec()
                        .build());
        WebSocket socket = fixture.connect(ATTACH, ExecEndpoint.V4, messages);

        ChannelMessages.send(socket, ExecChannels.RESIZE, "{\"Width\":80,\"Height\":24}");

        Patience.await().until(() -> container.sizes.contains("80x24"));
        socket.abort();
        container.killed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void attach_runtimeRefuses_isAnInternalError() throws Exception {
        fixture.runtime.attach = stdin -> {
            throw new IOException("container main does not run");
        };
        fixture.connect(ATTACH, ExecEndpoint.V5, messages);

        assertThat(messages.take())
                .startsWith("3:")
                .contains("error attaching to container: container main does not run", "\"code\":500");
        assertThat(messages.take()).isEqualTo("closed");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /attach/shop/web/main?output=1          | v4.base64.channel.k8s.io | 400 the WebSocket request must offer the subprotocol v5.channel.k8s.io or v4.channel.k8s.io
                    /attach/shop/web/main?output=1          | ''                       | 400 the WebSocket request must offer the subprotocol v5.channel.k8s.io or v4.channel.k8s.io
                    /attach/shop/web/main                   | v4.channel.k8s.io        | 400 you must specify at least 1 of stdin, stdout, stderr
                    /attach/shop/web/side?output=1          | v4.channel.k8s.io        | 404 container "side" not found in pod "web"
                    /attach/shop/web/other-uid/main?output=1 | v4.channel.k8s.io       | 404 pod "web" does not exist
                    /attach/shop/web                        | v4.channel.k8s.io        | 404 containers are attached at /attach/<namespace>/<pod>/<container>
                    """)
    void attach_wrongRequest_isRefused(String path, String subprotocols, String expected) {
        assertThat(fixture.refusal(path, subprotocols)).isEqualTo(expected);
        assertThat(fixture.runtime.attached).isEmpty();
    }

    @Test
    void attach_subprotocolOfAnotherEndpointIsOffered_itsOwnIsChosen() throws Exception {
        WebSocket socket = fixture.connect(ATTACH, "v4.base64.channel.k8s.io v4.channel.k8s.io", messages);

        assertThat(socket.getSubprotocol()).isEqualTo(ExecEndpoint.V4);
        socket.abort();
    }

    @Test
    void attach_notAllowed_isRefusedBeforeTheHandshake() {
        fixture.reviews.allowed = (user, access) -> access.verb().equals("get");

        assertThat(fixture.refusal(ATTACH, ExecEndpoint.V4)).startsWith("403 Forbidden");
        assertThat(fixture.runtime.attached).isEmpty();
    }
}
