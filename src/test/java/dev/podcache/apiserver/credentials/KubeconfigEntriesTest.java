package dev.podcache.apiserver.credentials;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that are written to a kubeconfig where the old ones stand. */
class KubeconfigEntriesTest {

    private static final Map<String, String> NEWS = Map.of("id-token", "new'\"\\é", "absent", "x");
    private static final String WRITTEN = "\"new'\\\"\\\\é\"";

    @TempDir
    private Path directory = Path.of("");

    private Path file(String content, Charset charset) throws IOException {
        return Files.writeString(directory.resolve("kubeconfig"), content, charset);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "users: [{name: u, user: {auth-provider: {config: {id-token: OLD, refresh-token: b}}}}]",
                "users: [{name: u, user: {auth-provider: {config: {refresh-token: OLD, id-token: OLD}}}}]",
                "{\"users\": [{\"name\": \"u\", \"user\": {\"auth-provider\": {\"config\": {\"id-token\": \"OLD\"}}}}]}",
                "# é 😀\nusers:\n- {name: OLD, user: {}}\n- name: u\n  user:\n    auth-provider:\n      config:\n        id-token: OLD",
                "users:\r\n- name: u\r\n  user:\r\n    auth-provider:\r\n      config:\r\n        id-token: 'OLD' # OLD\r\n",
                "users: [{user: {auth-provider: {config: {é: 😀, id-token: \"OLD\"}}}, name: u}]\n---\nid-token: OLD\n",
            })
    void replace_valueOnOneLine_isReplacedAndNothingElse(String content) throws IOException {
        Path file = file(content.replace("OLD", "old-1.x_y"), StandardCharsets.UTF_8);

        assertThat(KubeconfigEntries.replaceInAuthProvider(file, "u", NEWS)).isTrue();

        String expected =
                content.replaceFirst("(id-token\"?: )[\"']?OLD[\"']?", "$1@").replace("OLD", "old-1.x_y");
        assertThat(Files.readString(file)).isEqualTo(expected.replace("@", WRITTEN));
        assertThat(directory).isDirectoryNotContaining("glob:**{lock,new}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "users: [{name: u, user: {auth-provider: {config: {id-token: \"o\\u006cd\"}}}}]",
                "users: [{name: u, user: {auth-provider: {config: {id-token: !!str old}}}}]",
                "users: [{name: u, user: {auth-provider: {config: {id-token: &a old}}}}]",
                "users:\n- name: u\n  user:\n    auth-provider:\n      config:\n        id-token: |\n          old\n",
                "users: [{name: u, user: {token: abc}}]",
                "users: [{name: v, user: {auth-provider: {config: {id-token: old}}}}]",
                "users: [",
                "",
            })
    void replace_valueThatIsWrittenInAnotherWay_leavesTheFileAsItIs(String content) throws IOException {
        Path file = file(content, StandardCharsets.UTF_8);

        assertThat(KubeconfigEntries.replaceInAuthProvider(file, "u", NEWS)).isFalse();

        assertThat(Files.readString(file)).isEqualTo(content);
        assertThat(directory).isDirectoryNotContaining("glob:**{lock,new}");
    }

    @Test
    void replace_utf16_leavesTheFileAsItIs() throws IOException {
        Path file = file(
                "\ufeffusers: [{name: u, user: {auth-provider: {config: {id-token: old}}}}]",
                StandardCharsets.UTF_16LE);

        assertThat(KubeconfigEntries.replaceInAuthProvider(file, "u", NEWS)).isFalse();
    }

    /** A kubeconfig is often a link, to a file that another program replaces. */
    @Test
    void replace_link_changesWhatItPointsTo() throws IOException {
        Path file =
                file("users: [{name: u, user: {auth-provider: {config: {id-token: old}}}}]", StandardCharsets.UTF_8);
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);

        assertThat(KubeconfigEntries.replaceInAuthProvider(link, "u", NEWS)).isTrue();

        assertThat(link).isSymbolicLink();
        assertThat(Files.readString(file)).contains(WRITTEN);
    }

    @Test
    void replace_whileAnotherProgramWrites_changesNothing() throws IOException {
        Path file =
                file("users: [{name: u, user: {auth-provider: {config: {id-token: old}}}}]", StandardCharsets.UTF_8);
        Path lock = Files.createFile(directory.resolve("kubeconfig.lock"));

        assertThat(KubeconfigEntries.replaceInAuthProvider(file, "u", NEWS)).isFalse();

        assertThat(lock).exists();
        assertThat(Files.readString(file)).contains("old");
    }
}
