package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ServerMetricsTest {

    private static final String TEXT = """
            # TYPE process_resident_memory_bytes gauge
            process_resident_memory_bytes 3.1227904e+08
            # TYPE go_goroutines gauge
            go_goroutines 20561
            process_cpu_seconds_total 12.25
            apiserver_longrunning_requests{resource="secrets",scope="resource",verb="WATCH"} 1000
            apiserver_longrunning_requests{resource="secrets",scope="cluster",verb="WATCH"} 2
            apiserver_longrunning_requests{resource="pods",scope="namespace",verb="WATCH"} 7
            """;

    @Test
    void metrics_ofAProcess_areInBytesAndSeconds() {
        ServerMetrics metrics = new ServerMetrics(TEXT, ServerVersion.parse("v1.36.2"));

        assertThat(metrics.residentMemory()).isEqualTo(312_279_040);
        assertThat(metrics.goroutines()).isEqualTo(20_561);
        assertThat(metrics.processCpu()).isEqualTo(Duration.ofMillis(12_250));
    }

    @Test
    void openWatchesInNamespaces_ofOneResource_areWithoutThoseOfTheServer() {
        ServerMetrics metrics = new ServerMetrics(TEXT, ServerVersion.parse("v1.36.2"));

        assertThat(metrics.openWatchesInNamespaces("secrets")).isEqualTo(1_000);
        assertThat(metrics.openWatches("secrets")).isEqualTo(1_002);
    }
}
