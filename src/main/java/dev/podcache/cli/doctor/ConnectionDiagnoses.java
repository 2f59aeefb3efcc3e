package dev.podcache.cli.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.http.ConnectionFacts;
import dev.podcache.object.Quoted;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Judges an open connection: server, proxy, protocol, stream limit and clock. Pure. */
final class ConnectionDiagnoses {

    /** What kube-apiserver has allowed by default since Go's answer to rapid resets, and more before. */
    private static final int USUAL_STREAMS = 100;

    /** The highest limit that {@link ConnectionFacts} reports. */
    private static final int MOST_STREAMS = 1000;

    /** Less is not noticed by anything in a cluster. */
    private static final Duration NEGLIGIBLE_SKEW = Duration.ofSeconds(5);

    /** The smallest skew that is a problem: tokens and certificates of ten minutes and more have less to spare. */
    private static final Duration LARGE_SKEW = Duration.ofSeconds(30);

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String url;
    private final boolean watches;
    private final int objects;

    /**
     * Creates a judge.
     *
     * @param url of the server, without credentials
     * @param watches whether each object needs a watch, and so a stream
     * @param objects the number of objects to cache
     */
    ConnectionDiagnoses(String url, boolean watches, int objects) {
        this.url = url;
        this.watches = watches;
        this.objects = objects;
    }

    /** Returns what the connection showed. Whether the server accepted the credentials is judged elsewhere. */
    ImmutableList<Diagnosis> of(ConnectionFacts facts) {
        ImmutableList.Builder<Diagnosis> all = ImmutableList.builder();
        facts.proxy().ifPresent(proxy -> all.add(Diagnosis.ok("proxy", "connects through " + proxy)));
        all.add(
                server(facts.answer()),
                facts.http2() ? streams(facts.streamLimit()) : http11(facts),
                clock(facts.answer()));
        return all.build();
    }

    private Diagnosis server(ConnectionFacts.VersionAnswer answer) {
        Optional<String> version = answer.status() == 200 ? version(answer.body()) : Optional.empty();
        if (version.isPresent()) {
            return Diagnosis.ok("server", url + " runs Kubernetes " + Quoted.text(version.get()));
        }
        if (answer.status() == 401 || answer.status() == 403) {
            return Diagnosis.ok("server", url + " answers, but does not tell its version (" + answer.status() + ")");
        }
        return Diagnosis.problem(
                "server",
                url + " answered " + answer.status() + " to GET /version, without a version",
                "it is no Kubernetes API server, or a proxy before it does not pass requests on",
                "correct the kubeconfig's server, its path included");
    }

    private static Optional<String> version(String body) {
        try {
            return Optional.of(JSON.readTree(body).path("gitVersion").asText(""))
                    .filter(text -> !text.isEmpty());
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private Diagnosis http11(ConnectionFacts facts) {
        if (!facts.http2Offered()) {
            return affectsWatches(
                    "http2",
                    "HTTP/2 is not used, because this side does not offer it",
                    "unset HTTP2_DISABLE; without TLS, connect without a forwarding proxy");
        }
        return affectsWatches(
                "http2",
                "only HTTP/1.1 is spoken by the server or a proxy before it",
                "let the load balancer pass TLS through, or enable HTTP/2 (ALPN h2) in it; or use --strategy Cache");
    }

    private Diagnosis streams(int limit) {
        String streams = limit >= MOST_STREAMS ? MOST_STREAMS + " streams or more" : limit + " streams";
        return limit >= USUAL_STREAMS
                ? Diagnosis.ok("http2", streams + " on each connection")
                : affectsWatches(
                        "http2",
                        "only " + streams + " on each connection, fewer than the usual " + USUAL_STREAMS,
                        "leave --http2-max-streams-per-connection of kube-apiserver out, or set it to " + USUAL_STREAMS
                                + " or more; in a proxy, raise its limit of concurrent streams");
    }

    private Diagnosis affectsWatches(String check, String what, String remedy) {
        String why = "each watched object needs a stream, and if no stream is free, another connection"
                + (objects > 1 && watches ? ": " + objects + " objects are to be watched" : "");
        return watches
                ? Diagnosis.problem(check, what, why, remedy)
                : Diagnosis.note(check, what, why + "; this strategy watches nothing", remedy);
    }

    private static Diagnosis clock(ConnectionFacts.VersionAnswer answer) {
        Optional<Instant> date = date(answer.date());
        if (date.isEmpty()) {
            return Diagnosis.note(
                    "clock",
                    "the answer has no readable Date, so the clocks cannot be compared",
                    "a clock that is off lets certificates and tokens fail",
                    "let the proxy pass the header Date on, or compare the clocks yourself");
        }
        Duration roundTrip = Duration.between(answer.sent(), answer.received());
        // the header has whole seconds, cut off
        Duration ahead =
                Duration.between(date.get().plusMillis(500), answer.sent().plus(roundTrip.dividedBy(2)));
        Duration certain = ahead.abs().minus(roundTrip.dividedBy(2)).minusMillis(500);
        if (certain.compareTo(NEGLIGIBLE_SKEW) < 0) {
            return Diagnosis.ok("clock", "agrees with the server's");
        }
        String what = "this machine's clock is about " + text(ahead.abs())
                + (ahead.isNegative() ? " behind the server's" : " ahead of the server's");
        String why = "certificates and tokens seem expired or not valid yet, and timestamps of Leases, statuses and"
                + " events are wrong";
        String remedy = "synchronise both clocks by NTP, such as with chrony";
        return certain.compareTo(LARGE_SKEW) < 0
                ? Diagnosis.note("clock", what, why, remedy)
                : Diagnosis.problem("clock", what, why, remedy);
    }

    private static Optional<Instant> date(@Nullable String header) {
        if (header == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT))
                    .toInstant());
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    private static String text(Duration duration) {
        long seconds = duration.toSeconds();
        return seconds < 120
                ? seconds + " s"
                : duration.toHours() < 2 ? seconds / 60 + " min" : duration.toHours() + " h";
    }
}
