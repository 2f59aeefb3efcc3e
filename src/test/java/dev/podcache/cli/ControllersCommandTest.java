package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.PrometheusText;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code controllers} on the embedded server. */
@ExtendWith(NoLeaks.class)
class ControllersCommandTest extends ServedCommandFixture {

    private static final List<String> FAST = List.of(
            "--node-monitor-period", "100ms",
            "--node-monitor-grace-period", "1s",
            "--node-startup-grace-period", "1s",
            "--leader-elect-retry-period", "200ms");

    @Override
    CommandRun start(String... options) {
        return CommandRun.start(
                "controllers",
                kubeconfig,
                Stream.concat(FAST.stream(), Stream.of(options)).toArray(String[]::new));
    }

    private Node node() {
        return cluster.get(Node.class, "", "a");
    }

    @Test
    void healthzPort_leader_isReadyAndSaysSo() throws Exception {
        int port = FreePorts.find(1).get(0);
        try (CommandRun run = start("--healthz-port", "" + port)) {
            await().until(() -> run.says("leading"));

            await().until(() -> get(port, "/readyz").statusCode() == 200);
            assertThat(get(port, "/livez?verbose").body()).isEqualTo("[+]ping ok\nlivez check passed\n");
            assertThat(PrometheusText.parse(get(port, "/metrics").body())
                            .value("leader_election_master_status", Map.of("name", "podcache-controllers")))
                    .isEqualTo(1);
            assertThat(run.stop()).isZero();
        }
    }

    private static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .build(),
                        BodyHandlers.ofString());
    }

    @ParameterizedTest
    @CsvSource({"--healthz-port, 70000", "--healthz-bind-address, localhost"})
    void healthzFlag_outOfRange_isAUsageErrorThatNamesIt(String flag, String value) throws Exception {
        try (CommandRun run = start(flag, value)) {
            assertThat(run.awaitEnd()).isEqualTo(2);
            assertThat(run.err()).anyMatch(line -> line.contains(flag) && line.contains(value));
        }
    }

    @Test
    void silentNode_isUnknown_andHasTheTtl_andTheLeaseIsGivenUpAtTheEnd() throws Exception {
        cluster.create(TestNodes.created("a", Instant.now()).build());
        try (CommandRun run = start()) {
            await().until(() -> run.says("RegisteredNode  Node a event: Registered Node a in Controller"));
            await().until(() -> node().getMetadata().getAnnotations().containsKey("node.alpha.kubernetes.io/ttl"));
            await().until(() -> TestNodes.status(node(), "Ready").equals("Unknown"));
            Lease lease = cluster.get(Lease.class, "kube-system", "podcache-controllers");
            assertThat(lease.getSpec().getHolderIdentity()).startsWith("podcache_");

            assertThat(run.stop()).isZero();

            lease = cluster.get(Lease.class, "kube-system", "podcache-controllers");
            assertThat(lease.getSpec().getHolderIdentity()).isNullOrEmpty();
            assertThat(run.out().get(0)).contains("started", "grace period 1000 ms", server.url());
            assertThat(run.says("the controllers have stopped: this process ends"))
                    .isTrue();
            assertThat(run.err()).isEmpty();
        }
    }

    @Test
    void withoutElection_makesNoLease_andJsonHasTheFacts() throws Exception {
        cluster.create(TestNodes.created("a", Instant.now()).build());
        try (CommandRun run = start("--leader-elect=false", "-o", "json")) {
            await().until(() -> run.says("\"event\":\"listed\""));
            await().until(() -> run.says("\"reason\":\"RegisteredNode\""));

            assertThat(run.stop()).isZero();

            assertThat(cluster.list(Resource.LEASES, Selection.everything(), "").items())
                    .isEmpty();
        }
    }

    @Test
    void twoProcesses_theSecondLeadsWhenTheFirstEnds() throws Exception {
        try (CommandRun first = start()) {
            await().until(() -> first.says("leading"));
            try (CommandRun second = start()) {
                await().until(() -> second.says("leader "));
                assertThat(second.says("leading")).isFalse();

                assertThat(first.stop()).isZero();

                await().until(() -> second.says("leading"));
                assertThat(second.stop()).isZero();
            }
        }
    }

    @Test
    void forATime_endsAfterIt() throws Exception {
        try (CommandRun run = start("--for", "1s")) {
            int code = run.awaitEnd();

            assertThat(code).as("%s", run.err()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--node-monitor-period 0s|0s",
                "--node-monitor-grace-period soon|soon",
                "--node-eviction-rate -1|--node-eviction-rate",
                "--node-eviction-rate fast|'fast' is not a number",
                "--secondary-node-eviction-rate NaN|--secondary-node-eviction-rate",
                "--large-cluster-size-threshold -1|--large-cluster-size-threshold",
                "--unhealthy-zone-threshold 1.1|--unhealthy-zone-threshold",
                "--leader-elect-lease-duration 5s|--leader-elect-lease-duration",
                "--leader-elect-lease-duration 15500ms|15.5",
                "--leader-elect-renew-deadline 2s|--leader-elect-renew-deadline",
                "--leader-elect-resource-name Bad_Name|Bad_Name",
                "--leader-elect-resource-namespace a.b|a.b",
                "--leader-elect=perhaps|perhaps",
                "--kube-api-qps 0|0",
                "--kube-api-burst none|none",
                "--node-monitor 5s|--node-monitor"
            })
    void wrongOptions_areUsageErrors(String options, String named) {
        int code = console.execute(("controllers " + options).split(" "));

        assertThat(code).isEqualTo(2);
        assertThat(console.err().get(0)).startsWith("error: ").contains(named);
        assertThat(console.err()).last().isEqualTo("try: podcache controllers --help");
    }

    @Test
    void help_namesTheFlagsOfKubeControllerManager() {
        assertThat(console.execute("controllers", "--help")).isZero();

        assertThat(String.join("\n", console.out()))
                .contains(
                        "--node-monitor-period",
                        "--node-monitor-grace-period",
                        "--node-startup-grace-period",
                        "--node-eviction-rate",
                        "--secondary-node-eviction-rate",
                        "--large-cluster-size-threshold",
                        "--unhealthy-zone-threshold",
                        "--leader-elect-resource-namespace");
    }
}
