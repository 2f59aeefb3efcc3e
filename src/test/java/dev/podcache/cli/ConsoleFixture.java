package dev.podcache.cli;

import dev.podcache.cli.output.CapturedConsole;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A console with an empty home, in which a test may write files. */
abstract class ConsoleFixture {

    @TempDir
    Path home;

    CapturedConsole console = new CapturedConsole(Path.of(""));

    @BeforeEach
    void useHome() {
        console = new CapturedConsole(home);
    }

    /** Writes a kubeconfig of a server, and returns its path. */
    final Path kubeconfig(String server) throws IOException {
        return Files.writeString(home.resolve("kubeconfig"), """
                apiVersion: v1
                kind: Config
                current-context: test
                contexts: [{name: test, context: {cluster: test, user: test}}]
                clusters: [{name: test, cluster: {server: "%s"}}]
                users: [{name: test, user: {token: "abc"}}]
                """.formatted(server));
    }
}
