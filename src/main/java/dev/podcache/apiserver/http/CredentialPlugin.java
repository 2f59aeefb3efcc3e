package dev.podcache.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ExecConfig;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs the credential plugin of a kubeconfig ({@code user.exec}) and reads the ExecCredential that it prints. fabric8
 * also runs the plugin when it creates a Config, but logs all output of a failing plugin and ignores when the
 * credentials expire. Blocks while the plugin runs, and kills it after a minute. Not thread-safe.
 */
final class CredentialPlugin {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final ExecConfig exec;
    private final File kubeconfig;
    private final Timekeeper timekeeper;

    /**
     * Creates a plugin without running it.
     *
     * @param kubeconfig the kubeconfig, whose folder a relative command starts from
     */
    CredentialPlugin(ExecConfig exec, File kubeconfig, Timekeeper timekeeper) {
        this.exec = exec;
        this.kubeconfig = kubeconfig;
        this.timekeeper = timekeeper;
    }

    /**
     * The credentials that the plugin printed; {@code toString} does not show them.
     *
     * @param expires null if the plugin did not set it
     */
    record ExecCredential(
            @Nullable String token,
            @Nullable String certificate,
            @Nullable String key,
            @Nullable Instant expires) {

        @Override
        public String toString() {
            return "credentials until " + expires;
        }
    }

    /**
     * Runs the plugin.
     *
     * @throws IllegalStateException if the plugin fails or prints no credentials; the message never quotes its output
     */
    ExecCredential run() {
        try {
            Process process = builder().start();
            Timekeeper.Scheduled end = timekeeper.schedule(TIMEOUT, process::destroyForcibly);
            try (InputStream printed = process.getInputStream()) {
                byte[] output = printed.readAllBytes();
                int code = process.waitFor();
                if (code != 0) {
                    throw failed("failed with exit code " + code, null);
                }
                return read(output);
            } finally {
                end.cancel();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("was interrupted", e);
        } catch (IOException e) {
            throw failed("could not be run", e);
        }
    }

    private ProcessBuilder builder() {
        String command = exec.getCommand();
        boolean relative = command.contains(File.separator) && !Path.of(command).isAbsolute();
        List<String> line = new ArrayList<>();
        line.add(
                relative
                        ? kubeconfig
                                .toPath()
                                .resolveSibling(command)
                                .normalize()
                                .toString()
                        : command);
        if (exec.getArgs() != null) {
            line.addAll(exec.getArgs());
        }
        // stderr may quote credentials
        ProcessBuilder builder = new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.DISCARD);
        Map<String, String> environment = builder.environment();
        environment.put(
                "KUBERNETES_EXEC_INFO",
                "{\"apiVersion\":\"" + exec.getApiVersion()
                        + "\",\"kind\":\"ExecCredential\",\"spec\":{\"interactive\":false}}");
        if (exec.getEnv() != null) {
            exec.getEnv().forEach(each -> environment.put(each.getName(), each.getValue()));
        }
        return builder;
    }

    private ExecCredential read(byte[] output) {
        JsonNode printed;
        try {
            printed = MAPPER.readTree(output);
        } catch (IOException notJson) {
            // no cause, because it would quote the output
            throw failed("did not print JSON", null);
        }
        JsonNode status = printed.path("status");
        ExecCredential credential = new ExecCredential(
                status.path("token").textValue(),
                status.path("clientCertificateData").textValue(),
                status.path("clientKeyData").textValue(),
                time(status.path("expirationTimestamp").textValue()));
        if (credential.token == null && (credential.certificate == null || credential.key == null)) {
            throw failed("printed neither a token nor a client certificate with its key", null);
        }
        return credential;
    }

    private static @Nullable Instant time(@Nullable String text) {
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeException unknownForm) {
            return null;
        }
    }

    private IllegalStateException failed(String how, @Nullable Throwable cause) {
        return new IllegalStateException(
                "the credential plugin " + exec.getCommand() + " " + how + "; run it by hand to see its output", cause);
    }
}
