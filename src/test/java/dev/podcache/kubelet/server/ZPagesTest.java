package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.testing.ManualTimekeeper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /statusz} and {@code /flagz} against the page "Kubernetes z-pages" of the documentation of Kubernetes 1.36. */
class ZPagesTest {

    private static final String WARNING =
            "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and"
                    + " is for debugging purposes only.\n";

    private final ManualTimekeeper clock = new ManualTimekeeper();
    private final Instant start = clock.wallTime();
    private final ZPages pages = new ZPages(
            ComponentInfo.of("podcache", "v1.2.3").withFlags(() -> Map.of("v", "2", "max-pods", "110")),
            List.of("/healthz", "/metrics"),
            clock);

    @AfterEach
    void close() {
        clock.close();
    }

    private static KubeletRequest accepting(String accept) {
        return new KubeletRequest("GET", "/statusz", Map.of(), null, List.of(), "", List.of(), accept);
    }

    private static String body(KubeletResponse response) {
        return new String(((KubeletResponse.Content) response).body(), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "*/*",
                "text/*",
                "text/plain",
                "text/plain; charset=utf-8",
                "application/json, text/plain",
                "application/json;g=config.k8s.io;v=v1beta1;as=Statusz;q=0.5, text/plain"
            })
    void statusz_textIsAccepted_isTheText(String accept) {
        clock.advance(Duration.ofSeconds(3 * 3600 + 61));

        String text = body(pages.statusz(accepting(accept)));

        assertThat(text)
                .startsWith("\npodcache statusz\n" + WARNING + "\nStarted: ")
                .contains("\nUp: 3 hr 01 min 01 sec\n")
                .contains("\nJava version: " + System.getProperty("java.version") + "\n")
                .contains("\nBinary version: v1.2.3\n")
                .endsWith("\nPaths: /healthz /metrics\n");
    }

    @Test
    void statusz_started_isInGosUnixDate() {
        assertThat(body(pages.statusz(accepting(""))))
                .containsPattern(
                        "\nStarted: (Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 1-3][0-9] \\d\\d:\\d\\d:\\d\\d UTC \\d{4}\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/json;v=v1beta1;g=config.k8s.io;as=Statusz",
                "application/json; as=Statusz; g=config.k8s.io; v=v1beta1",
                "text/plain;q=0.1, application/json;v=v1beta1;g=config.k8s.io;as=Statusz"
            })
    void statusz_completeAcceptHeader_isJson(String accept) throws IOException {
        clock.advance(Duration.ofMinutes(2));

        JsonNode json = new ObjectMapper().readTree(body(pages.statusz(accepting(accept))));

        assertThat(json).isEqualTo(new ObjectMapper().readTree("""
                {"kind": "Statusz", "apiVersion": "config.k8s.io/v1beta1", "metadata": {"name": "podcache"},
                 "startTime": "%s", "uptimeSeconds": 120, "binaryVersion": "v1.2.3", "paths": ["/healthz", "/metrics"]}
                """.formatted(
                                start.truncatedTo(java.time.temporal.ChronoUnit.SECONDS))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/json",
                "application/json;v=v1beta1;g=config.k8s.io",
                "application/json;v=v1beta1;as=Statusz",
                "application/json;g=config.k8s.io;as=Statusz",
                "application/json;v=v1;g=config.k8s.io;as=Statusz",
                "application/json;v=v1beta1;g=config.k8s.io;as=Flagz",
                "application/yaml",
                "text/html",
                "text/plain;q=0",
                "text/plain;q=x",
                "nonsense"
            })
    void statusz_nothingElseIsAccepted_is406(String accept) {
        RefusedException refused = catchThrowableOfType(RefusedException.class, () -> pages.statusz(accepting(accept)));

        assertThat(refused.code()).isEqualTo(406);
    }

    @Test
    void flagz_text_isSorted() {
        assertThat(body(pages.flagz(accepting("text/plain"))))
                .isEqualTo("\npodcache flags\n" + WARNING + "\nmax-pods=110\nv=2\n");
    }

    @Test
    void flagz_completeAcceptHeader_isJson() throws IOException {
        String json = body(pages.flagz(accepting("application/json;v=v1beta1;g=config.k8s.io;as=Flagz")));

        assertThat(new ObjectMapper().readTree(json)).isEqualTo(new ObjectMapper().readTree("""
                {"kind": "Flagz", "apiVersion": "config.k8s.io/v1beta1", "metadata": {"name": "podcache"},
                 "flags": {"max-pods": "110", "v": "2"}}
                """));
    }
}
