package dev.podcache.kubelet.server;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code /statusz} and {@code /flagz}: texts for people, as components of Kubernetes show them. They say nothing about what
 * the component depends on. Thread-safe; no method blocks.
 *
 * <p>Follows {@code pkg/server/statusz/textserializer.go} and {@code pkg/server/flagz} of k8s.io/apiserver, as of July 2026,
 * with three differences: the text has fixed separators, where upstream takes one of four by chance so that no program reads
 * it; it names the version of Java instead of that of Go; and whatever a client accepts, it gets the text, not JSON or YAML.
 */
final class ZPages {

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

    KubeletResponse.Content statusz() {
        return KubeletResponse.text(200, statusText());
    }

    KubeletResponse.Content flagz() {
        return KubeletResponse.text(
                200, flagText(new TreeMap<>(component.flags().get())));
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

    private String flagText(Map<String, String> flags) {
        StringBuilder text = new StringBuilder(header("flagz"));
        flags.forEach(
                (name, value) -> text.append(name).append('=').append(value).append('\n'));
        return text.toString();
    }
}
