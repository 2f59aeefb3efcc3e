package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.testing.ManualTimekeeper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /statusz} and {@code /flagz} against {@code statusz_test.go} and {@code flagz_test.go} of k8s.io/apiserver. */
class ZPagesTest {

    private static final String WARNING =
            "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and"
                    + " is for debugging purposes only.\n";

    private static final ObjectMapper JSON = new ObjectMapper();

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
        return Requested.accepting("/statusz", accept);
    }

    private static String body(KubeletResponse.Content response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "*/*",
                "text/*",
                "text/plain",
                "text/plain; charset=utf-8",
                "application/json, text/plain",
                "application/json;v=foo;g=config.k8s.io;as=Statusz,*/*",
                "application/json;g=config.k8s.io;v=v1beta1;as=Statusz;q=0.5, text/plain"
            })
    void statusz_textIsAccepted_isTheText(String accept) {
        clock.advance(Duration.ofSeconds(3 * 3600 + 61));

        KubeletResponse.Content answer = pages.statusz(accepting(accept));

        assertThat(answer.mediaType()).isEqualTo("text/plain; charset=utf-8");
        assertThat(body(answer))
                .startsWith("\npodcache statusz\n" + WARNING + "\nStarted: ")
                .contains("\nUp: 3 hr 01 min 01 sec\n")
                .endsWith("\nJava version: " + System.getProperty("java.version")
                        + "\nBinary version: v1.2.3\n\nPaths: /healthz /metrics\n");
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
                "application/*;v=v1beta1;g=config.k8s.io;as=Statusz",
                "*/*, application/json;v=v1beta1;g=config.k8s.io;as=Statusz",
                "text/plain;q=0.1, application/json;v=v1beta1;g=config.k8s.io;as=Statusz"
            })
    void statusz_completeAcceptHeader_isJson(String accept) throws IOException {
        clock.advance(Duration.ofMinutes(2));

        KubeletResponse.Content answer = pages.statusz(accepting(accept));

        assertThat(answer.mediaType()).isEqualTo("application/json;g=config.k8s.io;v=v1beta1;as=Statusz");
        assertThat(answer.headers()).isEmpty();
        assertThat(JSON.readTree(answer.body())).isEqualTo(JSON.readTree("""
                {"kind": "Statusz", "apiVersion": "config.k8s.io/v1beta1", "metadata": {"name": "podcache"},
                 "startTime": "%s", "uptimeSeconds": 120, "binaryVersion": "v1.2.3", "paths": ["/healthz", "/metrics"]}
                """.formatted(startTime())));
    }

    @Test
    void statusz_yaml_isSortedAndItsTextsAreQuoted() {
        KubeletResponse.Content answer =
                pages.statusz(accepting("application/yaml;v=v1beta1;g=config.k8s.io;as=Statusz"));

        assertThat(answer.mediaType()).isEqualTo("application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz");
        assertThat(body(answer)).isEqualTo("""
                apiVersion: "config.k8s.io/v1beta1"
                binaryVersion: "v1.2.3"
                kind: "Statusz"
                metadata:
                  name: "podcache"
                paths:
                - "/healthz"
                - "/metrics"
                startTime: "%s"
                uptimeSeconds: 0
                """.formatted(startTime()));
    }

    @Test
    void statusz_v1alpha1_isTheSameWithAWarning() throws IOException {
        KubeletResponse.Content answer =
                pages.statusz(accepting("application/json;v=v1alpha1;g=config.k8s.io;as=Statusz"));

        assertThat(answer.mediaType()).isEqualTo("application/json;g=config.k8s.io;v=v1alpha1;as=Statusz");
        assertThat(answer.headers())
                .isEqualTo(Map.of(
                        "Warning",
                        "299 - \"This version of the statusz endpoint is deprecated. Please use a newer version.\""));
        JsonNode json = JSON.readTree(answer.body());
        assertThat(json.path("apiVersion").asText()).isEqualTo("config.k8s.io/v1alpha1");
        assertThat(json.path("binaryVersion").asText()).isEqualTo("v1.2.3");
    }

    private Instant startTime() {
        return start.truncatedTo(ChronoUnit.SECONDS);
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
                "application/json;v=v1beta1;g=config.k8s.io;as=Statusz;stream=watch",
                "application/cbor;v=v1beta1;g=config.k8s.io;as=Statusz",
                "application/xml",
                "text/html",
                "text/plain;v=v1beta1;g=config.k8s.io;as=Statusz",
                "text/plain;q=0",
                "text/plain;q=x",
                "nonsense"
            })
    void statusz_nothingElseIsAccepted_is406WithAStatus(String accept) throws IOException {
        KubeletResponse.Content answer = pages.statusz(accepting(accept));

        assertThat(answer.code()).isEqualTo(406);
        assertThat(answer.mediaType()).isEqualTo("application/json");
        assertThat(JSON.readTree(answer.body())).isEqualTo(JSON.readTree("""
                {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "NotAcceptable",
                 "message": "only the following media types are accepted: application/json, application/yaml, text/plain",
                 "code": 406}
                """));
    }

    @Test
    void statusz_plainYamlIsAccepted_is406WithAStatusInYaml() {
        KubeletResponse.Content answer = pages.statusz(accepting("application/yaml"));

        assertThat(answer.code()).isEqualTo(406);
        assertThat(answer.mediaType()).isEqualTo("application/yaml");
        assertThat(body(answer)).contains("\ncode: 406\nkind: \"Status\"\n");
    }

    @Test
    void flagz_text_isSorted() {
        assertThat(body(pages.flagz(accepting("text/plain"))))
                .isEqualTo("\npodcache flagz\n" + WARNING + "max-pods=110\nv=2\n");
    }

    @Test
    void flagz_completeAcceptHeader_isJson() throws IOException {
        String json = body(pages.flagz(accepting("application/json;v=v1beta1;g=config.k8s.io;as=Flagz")));

        assertThat(JSON.readTree(json)).isEqualTo(JSON.readTree("""
                {"kind": "Flagz", "apiVersion": "config.k8s.io/v1beta1", "metadata": {"name": "podcache"},
                 "flags": {"max-pods": "110", "v": "2"}}
                """));
    }

    @Test
    void flagz_yaml_hasTextsOnly() {
        assertThat(body(pages.flagz(accepting("application/yaml;v=v1beta1;g=config.k8s.io;as=Flagz"))))
                .contains("flags:\n  max-pods: \"110\"\n  v: \"2\"\nkind: \"Flagz\"\n");
    }
}
