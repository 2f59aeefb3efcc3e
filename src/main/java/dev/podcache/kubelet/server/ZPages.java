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
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * {@code /statusz} and {@code /flagz} as components of Kubernetes have them since 1.36: a text for people, or JSON or YAML
 * of {@code config.k8s.io} for a client whose Accept header asks for it completely; otherwise 406 with a {@code Status}.
 * They say nothing about what the component depends on. Thread-safe; no method blocks.
 *
 * <p>Follows {@code pkg/server/statusz} and {@code pkg/server/flagz} of k8s.io/apiserver ({@code statusz.go}, {@code
 * textserializer.go}, {@code negotiate/negotiation.go}), as of July 2026, with four differences: the text has fixed
 * separators, where upstream takes one of four by chance so that no program reads it; it names the version of Java instead
 * of that of Go, which JSON and YAML leave out; JSON is not indented for browsers; and there is no CBOR, which upstream
 * has off by default.
 */
final class ZPages {

    static final String GROUP = "config.k8s.io";

    /** Of JSON and YAML. Their fields are the same. */
    static final List<String> VERSIONS = List.of("v1beta1", "v1alpha1");

    private static final String DEPRECATED = "v1alpha1";

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

    /** @param paths the other endpoints that help to debug, sorted */
    ZPages(ComponentInfo component, List<String> paths, Timekeeper timekeeper) {
        this.component = component;
        this.paths = List.copyOf(paths);
        this.timekeeper = timekeeper;
        this.startedAt = timekeeper.wallTime().truncatedTo(ChronoUnit.SECONDS);
        this.startedNanos = timekeeper.nanoTime();
    }

    KubeletResponse.Content statusz(KubeletRequest request) {
        return page(request, "Statusz", this::statusText, this::statusFields);
    }

    KubeletResponse.Content flagz(KubeletRequest request) {
        Map<String, String> flags = new TreeMap<>(component.flags().get());
        return page(request, "Flagz", () -> flagText(flags), () -> Map.of("flags", flags));
    }

    private KubeletResponse.Content page(
            KubeletRequest request, String kind, Supplier<String> text, Supplier<Map<String, ?>> fields) {
        AcceptHeader accept = AcceptHeader.of(request.accept());
        Optional<AcceptHeader.Chosen> chosen = accept.zPage(kind);
        if (chosen.isEmpty()) {
            return notAcceptable(accept.ofError());
        }
        AcceptHeader.Form form = chosen.get().form();
        if (form == AcceptHeader.Form.TEXT) {
            return KubeletResponse.text(200, text.get());
        }
        String version = chosen.get().version();
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("kind", kind);
        object.put("apiVersion", GROUP + "/" + version);
        object.put("metadata", Map.of("name", component.name()));
        object.putAll(fields.get());
        KubeletResponse.Content answer = KubeletResponse.of(
                200, form.mediaType() + ";g=" + GROUP + ";v=" + version + ";as=" + kind, written(form, object));
        return version.equals(DEPRECATED) ? answer.with(Map.of("Warning", deprecation(kind))) : answer;
    }

    private static String deprecation(String kind) {
        return "299 - \"This version of the " + kind.toLowerCase(Locale.ROOT)
                + " endpoint is deprecated. Please use a newer version.\"";
    }

    private static KubeletResponse.Content notAcceptable(AcceptHeader.Form form) {
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("kind", "Status");
        status.put("apiVersion", "v1");
        status.put("metadata", Map.of());
        status.put("status", "Failure");
        status.put(
                "message",
                "only the following media types are accepted: application/json, application/yaml, text/plain");
        status.put("reason", "NotAcceptable");
        status.put("code", 406);
        return KubeletResponse.of(406, form.mediaType(), written(form, status));
    }

    private static byte[] written(AcceptHeader.Form form, Map<String, ?> object) {
        return form == AcceptHeader.Form.YAML ? AnswerYaml.bytes(object) : AnswerJson.bytes(object);
    }

    private Duration uptime() {
        return Duration.ofNanos(timekeeper.nanoTime() - startedNanos);
    }

    private String header(String page) {
        return "\n" + component.name() + " " + page + "\n" + WARNING;
    }

    /** The empty line is where upstream has the version that a component emulates, if it does. */
    private String statusText() {
        Duration up = uptime();
        return header("statusz") + "\nStarted: " + UNIX_DATE.format(startedAt)
                + String.format(
                        Locale.ROOT,
                        "\nUp: %d hr %02d min %02d sec\n",
                        up.toHours(),
                        up.toMinutesPart(),
                        up.toSecondsPart())
                + "Java version: " + System.getProperty("java.version") + "\nBinary version: " + component.version()
                + "\n\nPaths: " + String.join(" ", paths) + "\n";
    }

    private Map<String, ?> statusFields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("startTime", startedAt.toString());
        fields.put("uptimeSeconds", uptime().toSeconds());
        fields.put("binaryVersion", component.version());
        fields.put("paths", paths);
        return fields;
    }

    private String flagText(Map<String, String> flags) {
        StringBuilder text = new StringBuilder(header("flagz"));
        flags.forEach(
                (name, value) -> text.append(name).append('=').append(value).append('\n'));
        return text.toString();
    }
}
