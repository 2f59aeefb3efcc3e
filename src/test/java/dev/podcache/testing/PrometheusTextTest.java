package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Prometheus accepts, and what it does not. */
class PrometheusTextTest {

    private static final String HEAD = "# TYPE a counter\n";

    @Test
    void parse_documentedExample_hasTypesLabelsAndValues() {
        PrometheusText text = PrometheusText.parse("""
                # HELP http_requests_total The total number of HTTP requests.
                # TYPE http_requests_total counter
                http_requests_total{method="post",code="200"} 1027 1395066363000
                http_requests_total{method="post",code="400"}    3
                """.replace("    3", " 3") + """
                # TYPE msdos_file_access_time_seconds gauge
                msdos_file_access_time_seconds{path="C:\\\\DIR\\\\FILE.TXT",error="Cannot find file:\\n\\"FILE.TXT\\""} 1.458255915e9
                # TYPE latency histogram
                latency_bucket{le="0.05"} 24054
                latency_bucket{le="+Inf"} 144320
                latency_sum 53423
                latency_count 144320
                # TYPE odd untyped
                odd -Inf
                """);

        assertThat(text.types())
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "http_requests_total", "counter",
                        "msdos_file_access_time_seconds", "gauge",
                        "latency", "histogram",
                        "odd", "untyped"));
        assertThat(text.value("http_requests_total", Map.of("method", "post", "code", "200")))
                .isEqualTo(1027);
        assertThat(text.names()).contains("latency_bucket", "latency_sum", "latency_count");
        assertThat(text.labels("latency_bucket")).containsExactly("le");
        assertThat(text.samples().get(2).labels()).containsEntry("error", "Cannot find file:\n\"FILE.TXT\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a 1",
                "b 1\n",
                HEAD + "a\n",
                HEAD + "a one\n",
                HEAD + "a -1\n",
                HEAD + "a 1\na 2\n",
                HEAD + "a 1 2 3\n",
                HEAD + "a  1\n",
                HEAD + "a{b=\"1\"\n",
                HEAD + "a{b=1} 1\n",
                HEAD + "a{b=\"1\" c=\"2\"} 1\n",
                HEAD + "a{b=\"1\",b=\"2\"} 1\n",
                HEAD + "a{b=\"\\x\"} 1\n",
                HEAD + "a{b-c=\"1\"} 1\n",
                HEAD + HEAD,
                HEAD + "a 1\n# TYPE b gauge\nb 1\na{c=\"1\"} 1\n",
                "# TYPE a number\n",
                "# HELP a b\n# HELP a b\n",
                "#TYPE a counter\n",
                "# EOF\n",
                HEAD + "a 1\r\n",
                "-a 1\n"
            })
    void parse_notAllowed_isRefused(String text) {
        assertThatThrownBy(() -> PrometheusText.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
