package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ObjectArrays;
import com.sun.net.httpserver.HttpServer;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.cli.output.RecordedOutput;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DumpCommandTest {

    private static final String OBJECTS = """
            {"node": "hollow-1", "objects": [
              {"kind": "Secret", "namespace": "shop", "name": "db", "state": "FRESH", "ageSeconds": 12.0, "bytes": 48,
               "resourceVersion": "7", "connection": "https://10.0.0.1:6443 #1",
               "holders": [{"kind": "Pod", "namespace": "shop", "name": "web", "uid": "u", "usages": ["ENV"]}]},
              {"kind": "ConfigMap", "namespace": "shop", "name": "settings", "state": "NOT_SYNCED", "bytes": 0,
               "resourceVersion": "", "holders": [], "lastFailure": "LIST configmaps was answered 403"}]}
            """;

    private final CapturedConsole console = new CapturedConsole(Path.of(""));
    private final AtomicReference<String> asked = new AtomicReference<>();
    private HttpServer server;
    private int status = 200;
    private String body = OBJECTS;

    @TempDir
    private Path folder;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            asked.set(exchange.getRequestURI().toString());
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void dump_text_isALineAnObject() throws IOException {
        int code = dump();

        assertThat(code).isZero();
        assertThat(asked).hasValue("/api/v1/nodes/hollow-1/proxy/debug/objects");
        assertThat(console.out())
                .containsExactly(
                        "FRESH       Secret     shop/db  age 12.00 s  48 bytes  held by Pod shop/web",
                        "NOT_SYNCED  ConfigMap  shop/settings  0 bytes  held by nothing  last failure: LIST configmaps was"
                                + " answered 403",
                        "2 objects on node hollow-1");
    }

    /** The answer is of an agent, whose words are cut and kept on one line each; the line is as long as it takes. */
    @Test
    void dump_manyHoldersAndAFailure_areAllOnTheLine() throws IOException {
        String holders = IntStream.range(0, 20)
                .mapToObj(i -> "{\"kind\": \"Pod\", \"namespace\": \"shop\", \"name\": \"web-7d4b9c6f5-" + i + "\"}")
                .collect(Collectors.joining(", "));
        body = "{\"objects\": [{\"kind\": \"Secret\", \"namespace\": \"shop\", \"name\": \"db\\nforged\","
                + " \"state\": \"STALE\", \"bytes\": 0, \"lastFailure\": \"GET secrets was answered 403\", \"holders\": ["
                + holders + "]}]}";

        dump();

        assertThat(console.out()).hasSize(2);
        assertThat(console.out().get(0))
                .startsWith("STALE       Secret     shop/db forged  0 bytes  held by Pod shop/web-7d4b9c6f5-0, ")
                .endsWith("Pod shop/web-7d4b9c6f5-19  last failure: GET secrets was answered 403");
    }

    @Test
    void dump_json_isOneObjectALine() throws IOException {
        int code = dump("-o", "json");

        assertThat(code).isZero();
        assertThat(console.out()).hasSize(2);
        assertThat(RecordedOutput.parsed(console.out().get(0))
                        .at("/holders/0/name")
                        .asText())
                .isEqualTo("web");
        assertThat(RecordedOutput.parsed(console.out().get(1))
                        .path("lastFailure")
                        .asText())
                .isEqualTo("LIST configmaps was answered 403");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "401 | credentials were not accepted (401): start the agent with --client-ca-file",
                "403 | access was refused (403): grant get on nodes/proxy",
                "404 | no agent of Podcache",
                "503 | the API server could not reach its endpoint (503)"
            })
    void dump_answerIsAnError_failsWithWhatToDo(int code, String complaint) throws IOException {
        status = code;

        assertThat(dump()).isEqualTo(1);
        assertThat(console.out()).isEmpty();
        assertThat(console.err()).singleElement().asString().contains("node \"hollow-1\"", complaint);
    }

    @Test
    void dump_answerIsNoJson_fails() throws IOException {
        body = "<html>";

        assertThat(dump()).isEqualTo(1);
        assertThat(console.err()).singleElement().asString().contains("without a list of objects");
    }

    @Test
    void dump_noNode_isUsageError() {
        assertThat(console.execute("dump")).isEqualTo(2);
        assertThat(console.err()).first().asString().contains("the node is missing");
    }

    private int dump(String... more) throws IOException {
        Path kubeconfig = Files.writeString(
                folder.resolve("kubeconfig"),
                "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                        + "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:"
                        + server.getAddress().getPort() + "'}}]\n");
        String[] command = {"dump", "--node", "hollow-1", "--kubeconfig", kubeconfig.toString()};
        return console.execute(ObjectArrays.concat(command, more, String.class));
    }
}
