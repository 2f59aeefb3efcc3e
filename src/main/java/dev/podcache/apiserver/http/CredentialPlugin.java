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
 * runs it too when it makes a Config, but writes all that a failing plugin prints to its log, and forgets when the
 * credentials expire. Not thread-safe; blocks for as long as the plugin runs, which is ended after a minute.
 */
final class CredentialPlugin {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Duration ENDS_WITHIN = Duration.ofMinutes(1);

    private final ExecConfig exec;
    private final File kubeconfig;
    private final Timekeeper timekeeper;

    /**
     * A plugin.
     *
     * @param kubeconfig to whose folder a relative command belongs
     */
    CredentialPlugin(ExecConfig exec, File kubeconfig, Timekeeper timekeeper) {
        this.exec = exec;
        this.kubeconfig = kubeconfig;
        this.timekeeper = timekeeper;
    }

    /**
     * What it printed; its text never shows it.
     *
     * @param expires null if it does not say
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
     * Runs it.
     *
     * @throws IllegalStateException if it fails or prints no credentials; the message quotes nothing that it printed
     */
    ExecCredential run() {
        try {
            Process process = builder().start();
            Timekeeper.Scheduled end = timekeeper.schedule(ENDS_WITHIN, process::destroyForcibly);
            try (InputStream printed = process.getInputStream()) {
                byte[] output = printed.readAllBytes();
                int code = process.waitFor();
                if (code != 0) {
                    throw failed("ended with exit code " + code, null);
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
        // what it says to people may quote credentials
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
            // its message would quote the output
            throw failed("printed no JSON", null);
        }
        JsonNode status = printed.path("status");
        ExecCredential answer = new ExecCredential(
                status.path("token").textValue(),
                status.path("clientCertificateData").textValue(),
                status.path("clientKeyData").textValue(),
                time(status.path("expirationTimestamp").textValue()));
        if (answer.token == null && (answer.certificate == null || answer.key == null)) {
            throw failed("printed neither a token nor a client certificate with its key", null);
        }
        return answer;
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
                "the credential plugin " + exec.getCommand() + " " + how + "; run it by hand to see what it says",
                cause);
    }
}
