package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code /statusz} and {@code /flagz} against {@code statusz_test.go} and {@code flagz_test.go} of k8s.io/apiserver. */
class ZPagesTest {

    private static final String WARNING =
            "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and"
                    + " is for debugging purposes only.\n";

    private final ManualTimekeeper clock = new ManualTimekeeper();
    private final ZPages pages = new ZPages(
            ComponentInfo.of("podcache", "v1.2.3").withFlags(() -> Map.of("v", "2", "max-pods", "110")),
            List.of("/healthz", "/metrics"),
            clock);

    @AfterEach
    void close() {
        clock.close();
    }

    private static String body(KubeletResponse.Content response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    @Test
    void statusz_isTheText() {
        clock.advance(Duration.ofSeconds(3 * 3600 + 61));

        KubeletResponse.Content answer = pages.statusz();

        assertThat(answer.mediaType()).isEqualTo("text/plain; charset=utf-8");
        assertThat(body(answer))
                .startsWith("\npodcache statusz\n" + WARNING + "\nStarted: ")
                .contains("\nUp: 3 hr 01 min 01 sec\n")
                .endsWith("\nJava version: " + System.getProperty("java.version")
                        + "\nBinary version: v1.2.3\n\nPaths: /healthz /metrics\n");
    }

    @Test
    void statusz_started_isInGosUnixDate() {
        assertThat(body(pages.statusz()))
                .containsPattern(
                        "\nStarted: (Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 1-3][0-9] \\d\\d:\\d\\d:\\d\\d UTC \\d{4}\n");
    }

    @Test
    void flagz_text_isSorted() {
        assertThat(body(pages.flagz())).isEqualTo("\npodcache flagz\n" + WARNING + "max-pods=110\nv=2\n");
    }
}
