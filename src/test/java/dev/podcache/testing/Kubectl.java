package dev.podcache.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs kubectl, without input, its own cache beside the test server's files.
 *
 * @param program kubectl
 * @param kubeconfig whom it asks, and as whom
 * @param folder where it may write
 */
record Kubectl(Path program, Path kubeconfig, Path folder) {

    private static final int ENDS_WITHIN_SECONDS = 60;

    /**
     * What it printed.
     *
     * @throws IllegalStateException if it ends with another code than 0, or not within a
     *     minute; carries what it complained of
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
