package dev.podcache.testing;

import static org.assertj.core.api.Assertions.fail;

import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/** Finds the kubectl that comes with the real API server, for tests against other servers. */
public final class KubectlBinary {

    private KubectlBinary() {}

    /** Returns the path of kubectl. Skips the test if this machine has none; fails it if real servers are required. */
    public static Path path() {
        return ServerBinaries.found().map(ServerBinaries::kubectl).orElseGet(KubectlBinary::absent);
    }

    private static Path absent() {
        String message = "no kubectl under " + ServerBinaries.folder();
        return ServerBinaries.required() ? fail(message) : Assumptions.abort(message);
    }
}
