package dev.podcache.chaos;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a kube-apiserver writes down of lists and watches of a run's objects, passed on to its {@link WatchLog}. */
final class AuditLog implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(20);
    private static final int REFUSED = 400;
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String POLICY = """
            apiVersion: audit.k8s.io/v1
            kind: Policy
            omitStages: [ResponseStarted]
            rules:
            - level: Metadata
              verbs: [list, watch]
              namespaces: [%s]
              resources: [{group: "", resources: [secrets, configmaps]}]
            - level: None
            """;

    private final Path folder;
    private final Path log;
    private final Map<String, CachedObject> open = new HashMap<>(); // of the reading thread
    private @Nullable Thread reading; // guarded by this
    private volatile boolean closed;

    /** One that is empty. */
    AuditLog() throws IOException {
        folder = Files.createTempDirectory("podcache-audit");
        log = Files.createFile(folder.resolve("audit.log"));
        Files.writeString(folder.resolve("policy.yaml"), POLICY.formatted(ChaosServer.NAMESPACE));
    }

    /** What makes a server write it. */
    List<String> flags() {
        return List.of(
                "--audit-policy-file=" + folder.resolve("policy.yaml"),
                "--audit-log-path=" + log,
                "--audit-log-mode=blocking");
    }

    /** Passes on what is written from now on. To be called once. */
    synchronized void passTo(World world) {
        Thread thread = new Thread(() -> follow(world), "chaos-audit");
        thread.setDaemon(true);
        thread.start();
        reading = thread;
    }

    private void follow(World world) {
        try (BufferedReader lines = Files.newBufferedReader(log)) {
            StringBuilder line = new StringBuilder();
            while (!closed) {
                int next = lines.read();
                if (next < 0) {
                    LockSupport.parkNanos(POLL.toNanos());
                } else if (next == '\n') {
                    take(world, line.toString());
                    line.setLength(0);
                } else {
                    line.append((char) next);
                }
            }
        } catch (IOException e) {
            world.violations.broke("the audit log", e);
        }
    }

    private void take(World world, String line) {
        JsonNode event;
        try {
            event = JSON.readTree(line);
        } catch (JsonProcessingException cutByTheServersDeath) {
            return;
        }
        CachedObject subject = world.subject(
                event.at("/objectRef/resource").asText(),
                event.at("/objectRef/name").asText());
        if (subject == null) {
            return;
        }
        String id = event.path("auditID").asText();
        long now = world.time.now();
        world.journal.note(
                subject,
                event.path("verb").asText() + " " + id + " "
                        + event.path("stage").asText() + " "
                        + event.at("/responseStatus/code").asText());
        if (event.path("stage").asText().equals("RequestReceived")) {
            if (event.path("verb").asText().equals("watch")) {
                // that a watch was accepted is written when it ends; most are
                open.put(id, subject);
                world.watches.accepted(subject);
            }
        } else if (open.remove(id) != null) {
            if (event.at("/responseStatus/code").asInt() < REFUSED) {
                world.watches.ended(subject, now);
            } else {
                world.watches.refused(subject);
            }
        }
    }

    /** Ends the thread and deletes the file. */
    @Override
    public void close() {
        closed = true;
        Thread thread;
        synchronized (this) {
            thread = reading;
        }
        try {
            if (thread != null) {
                thread.join();
            }
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
