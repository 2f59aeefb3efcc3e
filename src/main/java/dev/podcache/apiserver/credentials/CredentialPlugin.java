package dev.podcache.apiserver.credentials;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.Streams;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ClusterEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ExecEntry;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import dev.podcache.yaml.YamlException;
import dev.podcache.yaml.YamlNode;
import dev.podcache.yaml.YamlReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs the credential plugin of a kubeconfig ({@code user.exec}) and reads the ExecCredential that it prints, by the rules
 * of client-go. Blocks while the plugin runs, and kills it with its descendants after a minute. What it prints is in no
 * message. Not thread-safe.
 */
final class CredentialPlugin {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    /** How often what it has printed is fetched, so that it never waits for long with a full pipe. */
    private static final Duration FETCH_EVERY = Duration.ofMillis(10);

    private static final String GROUP = "client.authentication.k8s.io/";
    private static final String V1 = GROUP + "v1";
    private static final Set<String> VERSIONS = Set.of(V1, GROUP + "v1beta1");
    private static final int MOST_OUTPUT = 4 << 20;

    private final ExecEntry exec;
    private final ClusterEntry cluster;
    private final Function<String, CredentialsException> refusal;

    /**
     * Creates a plugin without running it.
     *
     * @param cluster that the plugin is told of, if it asks for that
     * @param refusal makes the exception that names file and user
     */
    CredentialPlugin(ExecEntry exec, ClusterEntry cluster, Function<String, CredentialsException> refusal) {
        this.exec = exec;
        this.cluster = cluster;
        this.refusal = refusal;
    }

    /**
     * The credentials that the plugin printed; {@code toString} does not show them.
     *
     * @param token empty if it printed none
     * @param certificate in PEM format; empty if it printed none
     * @param expires null if the plugin did not set it
     */
    record ExecCredential(
            String token,
            String certificate,
            String key,
            @Nullable Instant expires) {

        @Override
        public String toString() {
            return "credentials until " + expires;
        }
    }

    /**
     * Checks what a kubeconfig says of a plugin.
     *
     * @throws CredentialsException of {@code refusal} if client-go refuses it
     */
    static void requireLegal(ExecEntry exec, Function<String, CredentialsException> refusal) {
        if (exec.command().isEmpty()) {
            throw refusal.apply("exec has no command: add the program to run");
        }
        if (!VERSIONS.contains(exec.apiVersion())) {
            throw refusal.apply("exec has another apiVersion than " + V1 + " and " + GROUP
                    + "v1beta1: use a version of the plugin that has one of them, and write it as apiVersion");
        }
        if (exec.env().containsKey("")) {
            throw refusal.apply("exec has a variable without a name in env: add its name, or remove it");
        }
        if (exec.env().keySet().stream().anyMatch(name -> name.contains("="))) {
            throw refusal.apply("exec has a variable in env whose name has a '=' in it: write its value as value");
        }
        if (texts(exec).anyMatch(text -> text.indexOf('\0') >= 0)) {
            throw refusal.apply("exec has a null character in args or env: remove it");
        }
        switch (exec.interactiveMode()) {
            case "Never", "IfAvailable" -> {}
            case "Always" ->
                throw refusal.apply("exec has interactiveMode Always, and this program has no terminal:"
                        + " use a plugin that asks nothing, with interactiveMode Never");
            case "" -> {
                if (exec.apiVersion().equals(V1)) {
                    throw refusal.apply("exec has no interactiveMode: add interactiveMode: Never");
                }
            }
            default -> throw refusal.apply("exec has an interactiveMode that is none: write Never or IfAvailable");
        }
    }

    private static Stream<String> texts(ExecEntry exec) {
        return Streams.concat(exec.args().stream(), exec.env().keySet().stream(), exec.env().values().stream());
    }

    /**
     * Runs the plugin. Returns after a minute at the latest, whatever the plugin and its descendants do.
     *
     * @throws CredentialsException if the plugin fails or prints no credentials; the message never quotes its output
     */
    ExecCredential run(Timekeeper timekeeper) {
        AtomicBoolean late = new AtomicBoolean();
        Process process = started();
        Timekeeper.Scheduled end = timekeeper.schedule(TIMEOUT, () -> {
            late.set(true);
            kill(process);
        });
        try {
            return read(output(process, late));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("was interrupted");
        } catch (IOException e) {
            throw failed("could not be read");
        } finally {
            end.cancel();
            if (process.isAlive()) {
                kill(process);
            }
        }
    }

    private Process started() {
        ProcessBuilder builder = builder();
        if (!isFound()) {
            throw failed("was not found: "
                    + (exec.installHint().isEmpty()
                            ? "install it, or correct the command"
                            : Quoted.text(exec.installHint().strip())));
        }
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            return process;
        } catch (IOException e) {
            throw failed("could not be started: check that it is a program for this machine, and executable");
        }
    }

    private boolean isFound() {
        String command = exec.command();
        if (command.contains(File.separator)) {
            return Files.exists(Path.of(command));
        }
        String path = System.getenv("PATH");
        return Stream.of((path == null ? "" : path).split(File.pathSeparator)).anyMatch(folder -> {
            try {
                return Files.isRegularFile(Path.of(folder, command));
            } catch (InvalidPathException e) {
                return false;
            }
        });
    }

    /**
     * Returns what the process printed until it ended. Never waits for the pipe, which a descendant may hold open for
     * longer than the process lives.
     */
    private byte[] output(Process process, AtomicBoolean late) throws IOException, InterruptedException {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        InputStream pipe = process.getInputStream();
        boolean ended = false;
        while (!ended) {
            ended = process.waitFor(FETCH_EVERY.toMillis(), TimeUnit.MILLISECONDS);
            if (late.get()) {
                throw failed("did not end within " + TIMEOUT.toSeconds()
                        + " s and was killed: run it by hand to see what it waits for");
            }
            for (int available = pipe.available(); available > 0; available = pipe.available()) {
                printed.write(pipe.readNBytes(available));
                if (printed.size() > MOST_OUTPUT) {
                    throw failed("printed more than " + MOST_OUTPUT + " bytes: it must print an ExecCredential");
                }
            }
        }
        if (process.exitValue() != 0) {
            throw failed("failed with exit code " + process.exitValue() + ": run it by hand to see its output");
        }
        return printed.toByteArray();
    }

    /** Kills the descendants first, which are not known any more when their parent has ended. */
    private static void kill(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private ProcessBuilder builder() {
        List<String> line = new ArrayList<>();
        line.add(exec.command());
        line.addAll(exec.args());
        // stderr may quote credentials
        ProcessBuilder builder = new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.DISCARD);
        Map<String, String> environment = builder.environment();
        environment.putAll(exec.env());
        environment.put("KUBERNETES_EXEC_INFO", info());
        return builder;
    }

    /** Returns what client-go tells a plugin. */
    private String info() {
        Map<String, Object> spec = new LinkedHashMap<>();
        if (exec.provideClusterInfo()) {
            spec.put("cluster", clusterInfo());
        }
        spec.put("interactive", false);
        Map<String, Object> info = new LinkedHashMap<>();
        info.put("kind", "ExecCredential");
        info.put("apiVersion", exec.apiVersion());
        info.put("spec", spec);
        try {
            return MAPPER.writeValueAsString(info);
        } catch (JsonProcessingException e) {
            throw failed("cannot be told of its cluster");
        }
    }

    private Map<String, Object> clusterInfo() {
        Map<String, Object> info = new LinkedHashMap<>();
        info.put("server", cluster.server());
        putUnlessEmpty(info, "tls-server-name", cluster.tlsServerName());
        if (cluster.insecure()) {
            info.put("insecure-skip-tls-verify", true);
        }
        String authority = authority();
        putUnlessEmpty(info, "certificate-authority-data", authority == null ? "" : authority);
        putUnlessEmpty(info, "proxy-url", cluster.proxyUrl());
        if (cluster.disableCompression()) {
            info.put("disable-compression", true);
        }
        info.put("config", cluster.execConfig());
        return info;
    }

    private static void putUnlessEmpty(Map<String, Object> info, String name, String value) {
        if (!value.isEmpty()) {
            info.put(name, value);
        }
    }

    /** Returns the authority of the cluster in base64; null if it has none. */
    private @Nullable String authority() {
        Path file = cluster.authority();
        if (file == null) {
            return cluster.authorityData();
        }
        try {
            return Kubeconfig.base64(Files.readAllBytes(file));
        } catch (IOException e) {
            throw failed("cannot be told of the authority of its cluster: " + file + " cannot be read");
        }
    }

    private ExecCredential read(byte[] output) {
        List<YamlNode> documents;
        try {
            documents = YamlReader.read(output, new YamlReader.Limits(MOST_OUTPUT, 10_000));
        } catch (YamlException e) {
            throw failed("did not print JSON: it must print an ExecCredential");
        }
        if (documents.size() != 1 || !(documents.get(0) instanceof YamlNode.Mapping printed)) {
            throw failed("did not print JSON: it must print an ExecCredential");
        }
        String kind = text(printed, "kind");
        if (!kind.isEmpty() && !kind.equals("ExecCredential")) {
            throw failed("printed another kind than ExecCredential");
        }
        if (!text(printed, "apiVersion").equals(exec.apiVersion())) {
            throw failed("printed another apiVersion than " + exec.apiVersion()
                    + ", which the kubeconfig has: make both the same");
        }
        if (!(printed.field("status") instanceof YamlNode.Mapping status)) {
            throw failed("printed no status: it must print credentials");
        }
        ExecCredential credential = new ExecCredential(
                text(status, "token"),
                text(status, "clientCertificateData"),
                text(status, "clientKeyData"),
                time(text(status, "expirationTimestamp")));
        if (credential.certificate.isEmpty() != credential.key.isEmpty()) {
            throw failed("printed only a client certificate or only its key");
        }
        if (credential.token.isEmpty() && credential.certificate.isEmpty()) {
            throw failed("printed neither a token nor a client certificate with its key");
        }
        return credential;
    }

    private String text(YamlNode.Mapping map, String name) {
        YamlNode field = map.field(name);
        if (field == null) {
            return "";
        }
        if (field instanceof YamlNode.Scalar scalar && scalar.content() instanceof String text) {
            return text;
        }
        throw failed("printed a " + name + " that is no text");
    }

    private @Nullable Instant time(String text) {
        try {
            return text.isEmpty() ? null : OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException unknownForm) {
            throw failed("printed an expirationTimestamp that is no time");
        }
    }

    private CredentialsException failed(String how) {
        return refusal.apply("the credential plugin " + Quoted.text(exec.command()) + " " + how);
    }
}
