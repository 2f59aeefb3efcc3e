package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.cli.output.CommandException;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenFileTest {

    private static final String KUBECONFIG = """
            apiVersion: v1
            kind: Config
            current-context: here
            contexts: [{name: here, context: {cluster: c, user: u}}]
            clusters: [{name: c, cluster: {server: 'https://api.example:6443'}}]
            users:
            - {name: other, user: {tokenFile: no-such-file}}
            - {name: u, user: {tokenFile: token}}
            """;

    @TempDir
    private Path directory;

    private Path kubeconfig;
    private Path token;

    @BeforeEach
    void writeFiles() throws IOException {
        kubeconfig = Files.writeString(directory.resolve("kubeconfig"), KUBECONFIG);
        token = Files.writeString(directory.resolve("token"), "canary-one\n");
    }

    @Test
    void config_tokenFile_isReadForEachUse() throws IOException {
        Config config = config();

        assertThat(config.getOauthTokenProvider().getToken()).isEqualTo("canary-one");
        Files.writeString(token, "canary-two\n");
        assertThat(config.getOauthTokenProvider().getToken()).isEqualTo("canary-two");
        assertThat(ClusterAccess.isAnonymous(config)).isFalse();
    }

    @Test
    void config_tokenFileGoneLater_lastTokenIsUsed() throws IOException {
        Config config = config();

        Files.delete(token);

        assertThat(config.getOauthTokenProvider().getToken()).isEqualTo("canary-one");
    }

    @Test
    void config_tokenFileMissing_isNamedWithoutItsToken() throws IOException {
        Files.delete(token);

        assertThatThrownBy(this::config)
                .isInstanceOf(CommandException.class)
                .hasMessage("kubeconfig " + kubeconfig + " names the tokenFile " + token
                        + ", which cannot be read: NoSuchFileException");
    }

    private Config config() {
        return new ClusterAccess(Map.of(), directory).config(kubeconfig);
    }
}
