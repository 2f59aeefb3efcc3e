package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The condition PodReadyToStartContainers from the first report of a pod to its last. */
@ExtendWith(NoLeaks.class)
class ReadyToStartContainersTest {

    private static final String TYPE = "PodReadyToStartContainers";

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final List<String> reported = new ArrayList<>();
    private @Nullable WorkersFixture node;

    private WorkersFixture start(List<String> podIps) {
        return start(new FlakyRuntime(new HollowRuntime(timekeeper, List.of(), pod -> podIps)));
    }

    private WorkersFixture start(FlakyRuntime runtime) {
        WorkersFixture started = WorkersFixture.on(WorkersFixture.Options.DEFAULT, timekeeper, runtime);
        started.reported = (pod, status) -> {
            String value = value(status.getConditions());
            if (reported.isEmpty() || !reported.get(reported.size() - 1).equals(value)) {
                reported.add(value);
            }
        };
        node = started;
        return started.start();
    }

    @AfterEach
    void tearDown() {
        Objects.requireNonNull(node).close();
    }

    private static String value(List<PodCondition> conditions) {
        return conditions.stream()
                .filter(each -> TYPE.equals(each.getType()))
                .map(PodCondition::getStatus)
                .findFirst()
                .orElse("absent");
    }

    private String value(String pod) {
        return value(Objects.requireNonNull(node).status(pod).getConditions());
    }

    @Test
    void podWithAddress_isReadyOnceItsVolumesAreMounted_andNotAfterItsEnd() {
        WorkersFixture at = start(List.of("10.1.0.7"));

        at.create(Pods.withVolume(pod("web"), "tls"));
        assertThat(value("web")).isEqualTo("False");

        at.secret("tls", "v");
        at.settle();
        assertThat(value("web")).isEqualTo("True");

        Pod deleted = new PodBuilder(at.server.cluster().get(Pod.class, "shop", "web"))
                .editSpec()
                .withActiveDeadlineSeconds(1L)
                .endSpec()
                .build();
        at.server.cluster().update(deleted);
        at.timekeeper.advance(Duration.ofSeconds(5));
        assertThat(at.status("web").getPhase()).isEqualTo("Failed");
        assertThat(value("web")).isEqualTo("False");
        assertThat(reported).containsExactly("False", "True", "False");
    }

    @Test
    void podWithoutAddress_isReadyOnTheNetworkOfTheHostOnly() {
        WorkersFixture at = start(List.of());

        at.create(pod("own"));
        at.create(pod("shared").editSpec().withHostNetwork(true).endSpec());

        assertThat(at.status("own").getPhase()).isEqualTo("Running");
        assertThat(value("own")).isEqualTo("False");
        assertThat(value("shared")).isEqualTo("True");
    }

    /** The container would not have it for as long as it runs. */
    @Test
    void addressComesWithTheVolumes_isInTheEnvironmentOfTheFirstContainer() {
        HollowRuntime hollow = new HollowRuntime(timekeeper, List.of(), pod -> List.of("10.1.0.7"));
        FlakyRuntime runtime = new FlakyRuntime(hollow) {
            @Override
            public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes)
                    throws IOException, InterruptedException {
                super.mount(pod, volumes);
                hidesIps = false;
            }
        };
        runtime.hidesIps = true;
        WorkersFixture at = start(runtime);

        at.create(pod("web")
                .editSpec()
                .editFirstContainer()
                .addNewEnv()
                .withName("POD_IP")
                .withNewValueFrom()
                .withNewFieldRef("v1", "status.podIP")
                .endValueFrom()
                .endEnv()
                .endContainer()
                .endSpec());

        assertThat(at.runtime.environment("main")).containsEntry("POD_IP", "10.1.0.7");
        assertThat(reported).containsExactly("False", "True");
    }

    @Test
    void volumeIsMissingAfterwards_podStaysReady_asOfTheNextAgent() {
        WorkersFixture at = start(List.of("10.1.0.7"));
        Secret tls = at.secret("tls", "v");
        at.create(Pods.withVolume(pod("web"), "tls"));
        assertThat(value("web")).isEqualTo("True");

        at.server.cluster().delete(tls);
        at.timekeeper.advance(Duration.ofMinutes(3));
        assertThat(value("web")).isEqualTo("True");

        at.stop();
        try (WorkersFixture next = at.successorWithThisRuntime()) {
            next.start();
            next.timekeeper.advance(Duration.ofMinutes(3));
            assertThat(value("web")).isEqualTo("True");
        }
    }
}
