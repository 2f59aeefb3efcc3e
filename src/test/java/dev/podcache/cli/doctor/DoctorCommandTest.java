package dev.podcache.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ObjectArrays;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.testing.NoLeaks;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NoLeaks.class)
class DoctorCommandTest {

    private final CapturedConsole console = new CapturedConsole(Path.of(""));

    @TempDir
    private Path folder;

    @Test
    void doctor_nothingListens_isAProblemWithWhyAndRemedy() throws IOException {
        int port = unusedPort();

        int code = doctor(port, "--secrets", "shop/db");

        assertThat(code).isEqualTo(3);
        assertThat(console.err()).isEmpty();
        assertThat(console.out()).hasSize(4);
        assertThat(console.out().get(0)).startsWith("problem  server").contains("https://127.0.0.1:" + port);
        assertThat(console.out().get(1)).contains("why: nothing can be read");
        assertThat(console.out().get(2)).contains("do:  check that the API server runs there");
        assertThat(console.out().get(3)).isEqualTo("1 problem found");
    }

    @Test
    void doctor_json_isOneObjectADiagnosis() throws IOException {
        int code = doctor(unusedPort(), "-o", "json");

        assertThat(code).isEqualTo(3);
        List<JsonNode> lines =
                console.out().stream().map(RecordedOutput::parsed).toList();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0).path("level").asText()).isEqualTo("problem");
        assertThat(lines.get(0).path("check").asText()).isEqualTo("server");
        assertThat(lines.get(0).path("do").asText()).isNotEmpty();
        assertThat(lines.get(1).path("problems").asInt()).isEqualTo(1);
    }

    /** So that nothing but manifests reaches kubectl. */
    @Test
    void doctor_onlyRolesAndAnotherProblem_hasItOnStandardError() throws IOException {
        int code = doctor(unusedPort(), "--only-roles");

        assertThat(code).isEqualTo(3);
        assertThat(console.out()).isEmpty();
        assertThat(console.err()).first().asString().startsWith("problem  server");
    }

    @Test
    void doctor_onATerminal_showsLevelsInColours() throws IOException {
        console.onATerminal();

        doctor(unusedPort());

        assertThat(console.out().get(0)).startsWith("\u001b[31mproblem").contains("server");
    }

    /** Standard input can be read once only, and a node's checks look at the pods twice. */
    @Test
    void doctor_nodeAndStandardInput_readsItOnce() throws IOException {
        console.withInput("{kind: Pod, metadata: {name: web, namespace: shop}, spec: {containers: [{name: main}]}}");

        int code = doctor(unusedPort(), "--node", "worker-1", "-f", "-");

        assertThat(console.err()).isEmpty();
        assertThat(code).isEqualTo(3);
        assertThat(console.out().get(0)).startsWith("problem  server");
    }

    @Test
    void doctor_missingKubeconfig_isAFailure() {
        int code = console.execute("doctor", "--kubeconfig", "/nope");

        assertThat(code).isEqualTo(1);
        assertThat(console.err()).singleElement().asString().contains("/nope", "does not exist");
    }

    @Test
    void doctor_illegalName_isUsageError() {
        int code = console.execute("doctor", "--secrets", "shop/Db_1");

        assertThat(code).isEqualTo(2);
        assertThat(console.err()).first().asString().contains("--secrets: name \"Db_1\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "token: \"canary\\n\" | user \"u\": token has a line break",
                "tokenFile: missing | user \"u\": tokenFile",
                "client-certificate-data: Y2FuYXJ5, client-key-data: Y2FuYXJ5 | client-certificate or client-key cannot be used",
                "exec: {command: no-such-plugin, apiVersion: client.authentication.k8s.io/v1beta1, installHint: get it} |"
                        + " the credential plugin no-such-plugin was not found: get it",
                "exec: {command: /bin/sh, args: [-c, 'echo canary; exit 4'], apiVersion:"
                        + " client.authentication.k8s.io/v1beta1} | the credential plugin /bin/sh failed with exit code 4",
                "exec: {command: /bin/echo, args: [canary], apiVersion: client.authentication.k8s.io/v1beta1} |"
                        + " did not print JSON"
            })
    void doctor_credentialsThatCannotBeRead_areTheDiagnosis(String user, String what) throws IOException {
        Path kubeconfig = write(unusedPort(), user);

        int code = console.execute("doctor", "--kubeconfig", kubeconfig.toString(), "-v");

        assertThat(code).isEqualTo(3);
        assertThat(console.out().get(0)).startsWith("problem  credentials").contains(what);
        assertThat(console.out().get(1)).contains("why: no request is sent");
        assertThat(String.join("\n", console.out()) + String.join("\n", console.err()))
                .doesNotContain("canary");
    }

    private int doctor(int port, String... more) throws IOException {
        String[] command = {"doctor", "--kubeconfig", write(port, "token: t").toString()};
        return console.execute(ObjectArrays.concat(command, more, String.class));
    }

    private Path write(int port, String user) throws IOException {
        return Files.writeString(
                folder.resolve("kubeconfig"),
                "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                        + "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:" + port + "'}}]\n"
                        + "users: [{name: u, user: {" + user + "}}]\n");
    }

    private static int unusedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
