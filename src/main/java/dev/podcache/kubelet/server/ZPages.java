package dev.podcache.kubelet.server;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code /statusz} and {@code /flagz} as components of Kubernetes have them since 1.36: a text for people, or JSON of
 * {@code config.k8s.io/v1beta1} for a client whose Accept header asks for it completely; otherwise 406. They say nothing
 * about what the component depends on. Thread-safe; no method blocks.
 *
 * <p>Follows the page "Kubernetes z-pages" of the documentation of Kubernetes 1.36, except that the text names the version
 * of Java instead of that of Go, which the JSON may leave out.
 */
final class ZPages {

    static final String GROUP = "config.k8s.io";
    static final String VERSION = "v1beta1";

    private static final String WARNING =
            "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and"
                    + " is for debugging purposes only.\n";

    /** Go's {@code time.UnixDate}. */
    private static final DateTimeFormatter UNIX_DATE = DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss 'UTC' uuuu")
            .withLocale(Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private final ComponentInfo component;
    private final List<String> paths;
    private final Timekeeper timekeeper;
    private final Instant startedAt;
    private final long startedNanos;

    /** @param paths the other endpoints that help to debug */
    ZPages(ComponentInfo component, List<String> paths, Timekeeper timekeeper) {
        this.component = component;
        this.paths = List.copyOf(paths);
        this.timekeeper = timekeeper;
        this.startedAt = timekeeper.wallTime().truncatedTo(ChronoUnit.SECONDS);
        this.startedNanos = timekeeper.nanoTime();
    }

    KubeletResponse statusz(KubeletRequest request) {
        return form(request, "Statusz") == AcceptHeader.Form.TEXT
                ? KubeletResponse.text(200, statusText())
                : json("Statusz", statusFields());
    }

    KubeletResponse flagz(KubeletRequest request) {
        Map<String, String> flags = new TreeMap<>(component.flags().get());
        if (form(request, "Flagz") == AcceptHeader.Form.JSON) {
            return json("Flagz", Map.of("flags", flags));
        }
        StringBuilder text = new StringBuilder("\n" + component.name() + " flags\n" + WARNING + "\n");
        flags.forEach(
                (name, value) -> text.append(name).append('=').append(value).append('\n'));
        return KubeletResponse.text(200, text.toString());
    }

    private static AcceptHeader.Form form(KubeletRequest request, String kind) {
        return AcceptHeader.of(request.accept())
                .zPage(kind)
                .orElseThrow(() -> new RefusedException(
                        406,
                        "this endpoint answers with text/plain, or with application/json;g=" + GROUP + ";v=" + VERSION
                                + ";as=" + kind + ", which must be complete"));
    }

    private Duration uptime() {
        return Duration.ofNanos(timekeeper.nanoTime() - startedNanos);
    }

    private String statusText() {
        Duration up = uptime();
        return "\n" + component.name() + " statusz\n" + WARNING + "\nStarted: " + UNIX_DATE.format(startedAt)
                + String.format(
                        Locale.ROOT,
                        "\nUp: %d hr %02d min %02d sec\n",
                        up.toHours(),
                        up.toMinutesPart(),
                        up.toSecondsPart())
                + "Java version: " + System.getProperty("java.version") + "\nBinary version: " + component.version()
                + "\nPaths: " + String.join(" ", paths) + "\n";
    }

    private Map<String, Object> statusFields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("startTime", startedAt.toString());
        fields.put("uptimeSeconds", uptime().toSeconds());
        fields.put("binaryVersion", component.version());
        fields.put("paths", paths);
        return fields;
    }

    private KubeletResponse json(String kind, Map<String, ?> fields) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("kind", kind);
        json.put("apiVersion", GROUP + "/" + VERSION);
        json.put("metadata", Map.of("name", component.name()));
        json.putAll(fields);
        return KubeletResponse.json(AnswerJson.bytes(json));
    }
}
