package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.FakeTrustBundles;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.ServedCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;

/** The checks of the features, on a server in memory that keeps every field. */
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class FeatureChecksTest {

    private final List<FeatureCheck.FeatureResult> results = new ArrayList<>();

    @Test
    void run_everyFeatureIsSeen_andNothingIsLeft(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("was not pulled; retrying");
        try (ServedCluster cluster = new ServedCluster()) {
            cluster.cluster().serve(FakeTrustBundles.KIND);
            try (FeatureChecks checks =
                    new FeatureChecks(cluster.client().getConfiguration(), Duration.ofSeconds(Patience.SECONDS))) {
                checks.run(results::add);
            }

            assertThat(results).noneMatch(FeatureCheck.FeatureResult::failed);
            assertThat(results)
                    .extracting(FeatureCheck.FeatureResult::toString)
                    .allMatch(line -> line.contains(" ok: "))
                    .anyMatch(line -> line.startsWith("K1 ok: restart rules: restarted for its exit code"))
                    .anyMatch(line -> line.startsWith("K9 ok: clusterTrustBundle: -----BEGIN CERTIFICATE-----"))
                    .anyMatch(line -> line.startsWith("K14 ok: "));
            assertThat(cluster.client().pods().inAnyNamespace().list().getItems())
                    .isEmpty();
            assertThat(cluster.client().nodes().list().getItems()).isEmpty();
        }
    }

    @Test
    void check_notSeenInTime_hasFailed_andFieldThatIsDropped_isNotOnTheServer() {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("web")
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build();
        try (ServedCluster cluster = new ServedCluster()) {
            FeatureCheck dropped = new FeatureCheck("K0", "nothing", "/spec/nothing", pod, seen -> null);
            assertThat(dropped.create(cluster.client()))
                    .hasToString("K0 not on this server: nothing: the server dropped /spec/nothing");

            FeatureCheck check = new FeatureCheck("K0", "nothing", "", pod, seen -> null);
            FeatureCheck.FeatureResult result = check.await(cluster.client(), Duration.ofMillis(300));
            assertThat(result.failed()).isTrue();
            assertThat(result).asString().startsWith("K0 FAILED: nothing: after 0 s: ");
        }
    }
}
