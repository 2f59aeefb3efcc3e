package dev.podcache.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import dev.podcache.cli.demo.DemoScript.Act;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.StatusException;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Arrays;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoLeaks.class)
class DemoScriptTest {

    private final RecordedOutput recorded = RecordedOutput.ofText();
    private final DemoCluster demo = DemoCluster.start(1);
    private final InMemoryCluster cluster = demo.cluster();

    @AfterEach
    void close() {
        demo.close();
    }

    @Test
    void begin_ofAllActs_isInOrderAndWithinTheScript() {
        assertThat(Arrays.stream(Act.values()).map(act -> act.begin).toList())
                .isSorted()
                .allMatch(begin -> begin > 0 && begin < 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 55, 60})
    void begin_scriptIsLongEnough_leavesATtlBeforeReturnAndRecovery(int seconds) {
        double ttl = Math.max(1, Math.min(3, seconds / 20));

        assertThat(seconds * (Act.RETURN.begin - Act.DELETION.begin)).isGreaterThan(ttl);
        assertThat(seconds * (Act.RECOVERY.begin - Act.FAILURE.begin)).isBetween(ttl, 10.0);
    }

    @Test
    void play_rotation_saysWhatEachStrategyDoes() {
        play(ChangeDetectionStrategy.WATCH, Act.ROTATION);

        assertThat(recorded.lines())
                .contains("-- Secret shop/db-password is rotated. GET: the next read returns the new version. CACHE:"
                        + " within the TTL, 1 s. WATCH: within milliseconds.");
    }

    @Test
    void play_rotation_changesTheSecretAtTheServer() {
        String before = version(cluster.get(Secret.class, "shop", "db-password"));

        play(ChangeDetectionStrategy.WATCH, Act.ROTATION);

        assertThat(version(cluster.get(Secret.class, "shop", "db-password"))).isNotEqualTo(before);
    }

    @Test
    void play_arrivalAndDeparture_makeAndTakeAPod() {
        play(ChangeDetectionStrategy.WATCH, Act.ARRIVAL, Act.DEPARTURE);

        assertThat(cluster.get(Pod.class, "shop", "mailer-0")).isNotNull();
        Assertions.assertThatThrownBy(() -> cluster.get(Pod.class, "shop", "catalog-0"))
                .isInstanceOf(StatusException.class);
    }

    @Test
    void play_deletionAndReturn_bringAnotherObjectOfThatName() {
        String uid = cluster.get(ConfigMap.class, "billing", "tax-rates")
                .getMetadata()
                .getUid();

        play(ChangeDetectionStrategy.WATCH, Act.DELETION, Act.RETURN);

        assertThat(cluster.get(ConfigMap.class, "billing", "tax-rates")
                        .getMetadata()
                        .getUid())
                .isNotEqualTo(uid);
    }

    @Test
    void play_longerTtl_annotatesTheNode() {
        play(ChangeDetectionStrategy.WATCH, Act.LONGER_TTL);

        assertThat(cluster.get(Node.class, "", DemoCluster.NODE).getMetadata().getAnnotations())
                .containsEntry(NodeTtlSource.ANNOTATION, "300");
    }

    @Test
    void play_failureAndRecovery_reportTheReads(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        play(ChangeDetectionStrategy.WATCH, Act.FAILURE, Act.RECOVERY);

        assertThat(recorded.lines())
                .anyMatch(line -> line.startsWith("-- The API server fails"))
                .anyMatch(line -> line.contains("outage       reads 0 "));
    }

    @Test
    void play_userDeletedTheSecretBefore_actIsSkipped() {
        cluster.delete(cluster.get(Secret.class, "shop", "db-password"));

        play(ChangeDetectionStrategy.CACHE, Act.ROTATION);

        assertThat(recorded.lines()).last().asString().contains("skipped", "db-password");
    }

    @Test
    void play_nothingWasDeleted_nothingReturns() {
        play(ChangeDetectionStrategy.CACHE, Act.RETURN);

        assertThat(recorded.lines()).isEmpty();
    }

    private void play(ChangeDetectionStrategy strategy, Act... acts) {
        ObjectCaching caching = ObjectCaching.usual(strategy, Duration.ofHours(1));
        try (DemoSide side = new DemoSide(demo, caching, recorded.events())) {
            DemoScript script = new DemoScript(demo, ImmutableList.of(side), recorded.events());
            for (Act act : acts) {
                script.play(act);
            }
        }
    }

    private static String version(Secret secret) {
        return secret.getMetadata().getResourceVersion();
    }
}
