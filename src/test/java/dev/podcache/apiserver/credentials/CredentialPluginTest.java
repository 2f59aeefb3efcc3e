package dev.podcache.apiserver.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.credentials.CredentialPlugin.ExecCredential;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.TestCertificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The rules are client-go's; each row was tried with kubectl. */
class CredentialPluginTest {

    private static final String V1 = "client.authentication.k8s.io/v1";

    @TempDir
    private Path directory = Path.of("");

    private final ManualTimekeeper time = new ManualTimekeeper();

    @Test
    void run_token_isReadWithItsEnd() throws IOException {
        ExecCredential printed = printed("""
                {"kind":"ExecCredential","apiVersion":"%s","status":
                  {"token":"abc","expirationTimestamp":"2030-01-02T03:04:05+01:00"}}""".formatted(V1));

        assertThat(printed.token()).isEqualTo("abc");
        assertThat(printed.expires()).isEqualTo(Instant.parse("2030-01-02T02:04:05Z"));
        assertThat(printed).hasToString("credentials until 2030-01-02T02:04:05Z");
    }

    @Test
    void run_yamlAsKubectlTakesIt_isRead() throws IOException {
        assertThat(printed("apiVersion: " + V1 + "\nkind: ExecCredential\nstatus: {token: abc}\n")
                        .token())
                .isEqualTo("abc");
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                Arguments.of("canary", "did not print JSON: it must print an ExecCredential"),
                Arguments.of("", "did not print JSON"),
                Arguments.of("{\"canary\": ", "did not print JSON"),
                Arguments.of("[\"canary\"]", "did not print JSON"),
                Arguments.of(status("v1beta1", "\"token\":\"canary\""), "printed another apiVersion than " + V1),
                Arguments.of("{\"kind\":\"ExecCredential\"}", "printed another apiVersion"),
                Arguments.of("{\"kind\":\"canary\",\"apiVersion\":\"" + V1 + "\"}", "printed another kind"),
                Arguments.of("{\"apiVersion\":\"" + V1 + "\"}", "printed no status"),
                Arguments.of(status("v1", ""), "printed neither a token nor a client certificate with its key"),
                Arguments.of(status("v1", "\"token\":\"\""), "printed neither"),
                Arguments.of(status("v1", "\"token\":7"), "printed a token that is no text"),
                Arguments.of(status("v1", "\"token\":\"canary\",\"clientKeyData\":\"k\""), "only a client certificate"),
                Arguments.of(status("v1", "\"token\":\"canary\",\"expirationTimestamp\":\"soon\""), "is no time"));
    }

    private static String status(String version, String fields) {
        return "{\"apiVersion\":\"client.authentication.k8s.io/%s\",\"kind\":\"ExecCredential\",\"status\":{%s}}"
                .formatted(version, fields);
    }

    @ParameterizedTest
    @MethodSource("refused")
    void run_noCredentials_isRefusedWithoutWhatItPrinted(String output, String why) {
        assertThatThrownBy(() -> printed(output))
                .isInstanceOf(CredentialsException.class)
                .hasMessageContaining("user \"u\": the credential plugin " + directory.resolve("plugin") + " ")
                .hasMessageContaining(why)
                .hasMessageNotContaining("canary")
                .hasNoCause();
    }

    @Test
    void run_exitCode_isNamedWithoutTheOutput() throws IOException {
        script("echo canary; echo canary >&2; exit 3");

        assertThatThrownBy(() -> run("command: ./plugin"))
                .hasMessageContaining("failed with exit code 3: run it by hand to see its output")
                .hasMessageNotContaining("canary");
    }

    @Test
    void run_missingCommand_showsTheHintForItsInstallation() {
        assertThatThrownBy(() -> run("command: no-such-plugin, installHint: \"install it with:\\n pkg add\""))
                .hasMessageContaining("the credential plugin no-such-plugin was not found: install it with: ")
                .hasMessageContaining("pkg add");
        assertThatThrownBy(() -> run("command: ./no-such-plugin"))
                .hasMessageContaining(directory.resolve("no-such-plugin") + " was not found: install it, or correct");
    }

    @Test
    void run_noProgram_isSaidSo() throws IOException {
        Files.writeString(directory.resolve("plugin"), "no program");

        assertThatThrownBy(() -> run("command: ./plugin")).hasMessageContaining("could not be started");
    }

    @Test
    void run_argumentsEnvironmentAndInput_areThoseOfTheKubeconfig() throws IOException {
        script("cat > input; echo \"$1|$2|$A|$B\" > seen; " + printing("\"token\":\"t\""));

        run("command: ./plugin, args: [one, 'two three'], env: [{name: A, value: x y}, {name: B}]");

        assertThat(directory.resolve("seen")).hasContent("one|two three|x y|");
        assertThat(directory.resolve("input")).isEmptyFile();
    }

    @Test
    void run_provideClusterInfo_isWhatClientGoWrites() throws Exception {
        String authority = new TestCertificates().authorityPem();
        Files.writeString(directory.resolve("ca.crt"), authority);
        script("printf %s \"$KUBERNETES_EXEC_INFO\" > seen; " + printing("\"token\":\"t\""));

        run(
                "command: ./plugin, provideClusterInfo: true",
                "certificate-authority: ca.crt, tls-server-name: a, proxy-url: 'http://p:1',"
                        + " extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: foo}}]");

        JsonNode seen = new ObjectMapper().readTree(Files.readString(directory.resolve("seen")));
        assertThat(seen.path("kind").asText()).isEqualTo("ExecCredential");
        assertThat(seen.path("apiVersion").asText()).isEqualTo(V1);
        assertThat(seen.at("/spec/interactive").isBoolean()).isTrue();
        JsonNode cluster = seen.at("/spec/cluster");
        assertThat(cluster.path("server").asText()).isEqualTo("https://127.0.0.1:1");
        assertThat(cluster.path("tls-server-name").asText()).isEqualTo("a");
        assertThat(cluster.path("proxy-url").asText()).isEqualTo("http://p:1");
        assertThat(cluster.path("certificate-authority-data").asText())
                .isEqualTo(Kubeconfig.base64(PemText.bytes(authority)));
        assertThat(cluster.at("/config/audience").asText()).isEqualTo("foo");
        assertThat(cluster.has("insecure-skip-tls-verify")).isFalse();
    }

    @Test
    void run_moreThanAPipeHolds_isRead() throws IOException {
        script("printf '{\"x\":\"'; head -c 300000 /dev/zero | tr '\\0' a; printf '\",'; "
                + printing("\"token\":\"t\"").replace("'{", "'"));

        assertThat(run("command: ./plugin").token()).isEqualTo("t");
    }

    /** The pipe stays open for as long as the grandchild lives. */
    @Test
    void run_grandchildHoldsThePipe_doesNotWaitForIt() throws IOException {
        script("sleep 600 & echo $! > grandchild; " + printing("\"token\":\"t\""));

        assertThat(run("command: ./plugin").token()).isEqualTo("t");

        handle("grandchild").destroyForcibly();
    }

    @Test
    void run_pluginThatHangsWithAGrandchild_isEndedByTheTimer() throws Exception {
        script("sleep 600 & echo $! > grandchild; echo $$ > child; mv child started; sleep 600");
        CompletableFuture<ExecCredential> result = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return run("command: ./plugin");
                    } catch (IOException e) {
                        throw new CompletionException(e);
                    }
                },
                NewThread.EACH);
        await().until(() -> Files.exists(directory.resolve("started")));
        ProcessHandle grandchild = handle("grandchild");
        ProcessHandle child = handle("started");

        time.advance(Duration.ofMinutes(1));

        await().until(result::isDone);
        assertThatThrownBy(result::join)
                .hasRootCauseInstanceOf(CredentialsException.class)
                .hasMessageContaining("did not end within 60 s and was killed");
        await().until(() -> !child.isAlive() && !grandchild.isAlive());
    }

    private ProcessHandle handle(String file) throws IOException {
        return ProcessHandle.of(
                        Long.parseLong(Files.readString(directory.resolve(file)).strip()))
                .orElseThrow();
    }

    private static String printing(String fields) {
        return "printf '" + status("v1", fields) + "'";
    }

    private ExecCredential printed(String output) throws IOException {
        Files.writeString(directory.resolve("output"), output);
        script("cat output");
        return run("command: ./plugin");
    }

    private void script(String body) throws IOException {
        Path script = directory.resolve("plugin");
        Files.writeString(script, "#!/bin/sh\ncd " + directory + "\n" + body + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    }

    private ExecCredential run(String exec) throws IOException {
        return run(exec, "tls-server-name: a");
    }

    private ExecCredential run(String exec, String cluster) throws IOException {
        Path file = Files.writeString(directory.resolve("kubeconfig"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', %s}}]
                users: [{name: u, user: {exec: {%s, apiVersion: %s, interactiveMode: Never}}}]
                """.formatted(cluster, exec, V1));
        Kubeconfig read = Kubeconfig.read(file, "--kubeconfig");
        return new CredentialPlugin(Objects.requireNonNull(read.user().exec()), read.cluster(), read::ofUser).run(time);
    }
}
