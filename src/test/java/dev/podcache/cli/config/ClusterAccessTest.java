package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.credentials.CredentialsException;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.output.CommandException;
import io.fabric8.kubernetes.client.Config;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterAccessTest {

    private static final String COMPLETE = """
            apiVersion: v1
            kind: Config
            current-context: here
            contexts:
            - name: here
              context: {cluster: c, user: u}
            clusters:
            - name: c
              cluster: {server: 'https://api.example:6443'}
            users:
            - name: u
              user: {token: canary-token}
            """;

    @TempDir
    private Path directory;

    @Test
    void config_completeKubeconfig_isUsed() throws IOException {
        Path file = write(COMPLETE);

        assertThat(access(Map.of()).config(file).getMasterUrl()).isEqualTo("https://api.example:6443/");
    }

    @Test
    void config_flagAndVariable_flagWins() throws IOException {
        Path file = write(COMPLETE);

        assertThat(access(Map.of("KUBECONFIG", "/nowhere")).config(file).getMasterUrl())
                .isEqualTo("https://api.example:6443/");
    }

    @Test
    void config_noFlag_variableIsUsed() throws IOException {
        Path file = write(COMPLETE);

        assertThat(access(Map.of("KUBECONFIG", file.toString())).config(null).getMasterUrl())
                .isEqualTo("https://api.example:6443/");
    }

    @Test
    void config_neitherFlagNorVariable_homeIsUsed() throws IOException {
        Files.createDirectory(directory.resolve(".kube"));
        Files.writeString(directory.resolve(".kube/config"), COMPLETE);

        assertThat(access(Map.of()).config(null).getMasterUrl()).isEqualTo("https://api.example:6443/");
    }

    @Test
    void config_nothingAtAll_namesTheWays() {
        assertRefused(null, "no cluster to connect to: set --kubeconfig or KUBECONFIG");
    }

    @Test
    void config_variableWithSeveralFiles_mergesThemAndSkipsWhatIsMissing() throws IOException {
        Path server = Files.writeString(
                directory.resolve("server"),
                "clusters: [{name: c, cluster: {server: 'https://first.example'}}]\ncurrent-context: here\n");
        String list = String.join(
                File.pathSeparator,
                "",
                "/nowhere/a",
                server.toString(),
                write(COMPLETE).toString(),
                "");

        assertThat(access(Map.of("KUBECONFIG", list)).config(null).getMasterUrl())
                .isEqualTo("https://first.example/");
    }

    @Test
    void config_variableWithMissingFilesOnly_namesThem() {
        String two = "/nowhere/a" + File.pathSeparator + "/nowhere/b";

        assertThatThrownBy(() -> access(Map.of("KUBECONFIG", two)).config(null))
                .isInstanceOf(CommandException.class)
                .hasMessage(
                        "kubeconfig " + two + " (from KUBECONFIG) does not exist: give the path of an existing file");
    }

    @Test
    void config_missingFile_isNamedWithItsOrigin() {
        Path file = directory.resolve("nope");

        assertRefused(file, "kubeconfig " + file + " (from --kubeconfig) does not exist");
    }

    @Test
    void config_emptyPath_asksForOne() {
        assertRefused(Path.of(""), "--kubeconfig is empty: give the path of a kubeconfig");
    }

    @Test
    void config_nullAmongTheContexts_isPassedOver() throws IOException {
        assertBroken("current-context: a\ncontexts: [null]\n", "has no context \"a\", its current-context");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "client-certificate: /nowhere/x.crt, client-key: /nowhere/x.key | file /nowhere/x.crt cannot be read",
                "client-certificate-data: Y2FuYXJ5, client-key-data: Y2FuYXJ5 | there is no certificate in PEM format"
            })
    void server_unusableCertificate_isNamedAndNotQuoted(String user, String why) throws IOException {
        Path file = write("""
                current-context: x
                contexts: [{name: x, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: "https://api.example:6443"}}]
                users: [{name: u, user: {%s}}]
                """.formatted(user));
        Config config = access(Map.of()).config(file);

        assertUnusable(() -> ClusterAccess.server(config, RequestLimit.DEFAULT), why);
    }

    private static void assertUnusable(ThrowingCallable opened, String why) {
        assertThatThrownBy(opened)
                .isInstanceOf(CommandException.class)
                .hasMessageContaining(
                        "API server https://api.example:6443/: its credentials or settings cannot be used")
                .hasMessageContaining(why)
                .hasMessageNotContaining("canary");
    }

    @Test
    void config_directory_isNamed() {
        assertRefused(directory, "kubeconfig " + directory + " (from --kubeconfig) is a directory");
    }

    @Test
    void config_emptyFile_isNoKubeconfig() throws IOException {
        assertBroken("", "is not a kubeconfig: it must be YAML");
    }

    @Test
    void config_plainText_isNoKubeconfigAndNotQuoted() throws IOException {
        Path file = write("canary-token");

        assertThatThrownBy(() -> access(Map.of()).config(file))
                .hasMessageContaining("is not a kubeconfig")
                .hasMessageNotContaining("canary")
                .hasRootCauseInstanceOf(CredentialsException.class);
    }

    @Test
    void config_brokenYaml_isNoKubeconfig() throws IOException {
        assertBroken("{{{:\n\t- x", "is not a kubeconfig: it must be YAML");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a: \"\\U", "a: \"\\u", "a: \"\\Uffffffff\"", "a: !!%9 1", "!<%> a: 1"})
    void config_brokenEscape_isNoKubeconfig(String content) throws IOException {
        assertBroken(content, "is not a kubeconfig: it must be YAML");
    }

    @Test
    void config_binary_isNoKubeconfig() throws IOException {
        Path file = Files.write(directory.resolve("binary"), new byte[] {(byte) 0xc3, (byte) 0x28, 0});

        assertRefused(file, "is not a kubeconfig: it is not text");
    }

    @Test
    void config_withoutCurrentContext_isRefused() throws IOException {
        assertBroken(COMPLETE.replace("current-context: here", ""), "names no current-context");
    }

    @Test
    void config_unknownCurrentContext_isNamed() throws IOException {
        assertBroken(
                COMPLETE.replace("current-context: here", "current-context: there"),
                "has no context \"there\", its current-context");
    }

    @Test
    void config_unknownCluster_isNamed() throws IOException {
        assertBroken(
                COMPLETE.replace("cluster: c,", "cluster: d,"),
                "has no cluster \"d\", which its context \"here\" names");
    }

    @Test
    void config_serverThatIsNoUrl_isNamed() throws IOException {
        assertBroken(
                COMPLETE.replace("https://api.example:6443", ":::nonsense"),
                "cluster \"c\": server is not a URL: write it as https://HOST:PORT");
    }

    @Test
    void config_pipe_isRefusedBecauseItCanBeReadOnlyOnce() throws IOException, InterruptedException {
        Path pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();

        assertRefused(pipe, "is not a regular file, and is read more than once: write it to a file");
    }

    private void assertBroken(String content, String why) throws IOException {
        assertRefused(write(content), why);
    }

    private void assertRefused(@Nullable Path file, String why) {
        assertThatThrownBy(() -> access(Map.of()).config(file))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining(why);
    }

    private ClusterAccess access(Map<String, String> environment) {
        return new ClusterAccess(environment, directory);
    }

    private Path write(String content) throws IOException {
        return Files.writeString(directory.resolve("kubeconfig"), content);
    }
}
