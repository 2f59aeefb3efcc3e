package dev.podcache.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs kubectl without input. Its cache lies beside the files of the test server.
 *
 * @param program the kubectl binary
 * @param kubeconfig the server and the user
 * @param folder the folder for the cache
 */
record Kubectl(Path program, Path kubeconfig, Path folder) {

    private static final int ENDS_WITHIN_SECONDS = 60;

    /**
     * Runs kubectl and returns its output.
     *
     * @throws IllegalStateException if it exits with a code other than 0, or not within a minute; the message has its
     *     error output
     */
    String run(String... arguments) {
        String asked = "kubectl " + String.join(" ", arguments);
        List<String> command = new ArrayList<>(List.of(
                program.toString(), "--kubeconfig=" + kubeconfig, "--cache-dir=" + folder.resolve("kubectl-cache")));
        command.addAll(List.of(arguments));
        try {
            Path out = Files.createTempFile(folder, "kubectl", ".out");
            Path err = Files.createTempFile(folder, "kubectl", ".err");
            Process process = new ProcessBuilder(command)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            if (!process.waitFor(ENDS_WITHIN_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException(asked + " did not end within " + ENDS_WITHIN_SECONDS + " s");
            }
            if (process.exitValue() != 0) {
                throw new IllegalStateException(asked + " ended with code " + process.exitValue() + ": "
                        + Files.readString(err).strip());
            }
            return Files.readString(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for kubectl", e);
        }
    }
}
