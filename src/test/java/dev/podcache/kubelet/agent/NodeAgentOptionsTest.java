package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.HollowStage;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Options of an agent that no API server accepts. */
@ExtendWith(NoLeaks.class)
class NodeAgentOptionsTest {

    private final AgentFixture fixture = new AgentFixture();

    private final NodeAgentBuilder options = new NodeAgentBuilder(ignored -> {
        throw new AssertionError("not reached");
    });

    @AfterEach
    void tearDown() {
        fixture.close();
    }

    @Test
    void labels_illegalOrReserved_areRefusedByTheSetter() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.labels(Map.of("zone", "a b")))
                .withMessageContaining("label zone")
                .withMessageContaining("\"a b\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.labels(Map.of("kubernetes.io/role", "web")))
                .withMessageContaining("kubernetes.io/role");
    }

    @Test
    void taints_ofAnUnknownEffect_areRefusedByTheSetter() {
        Taint never = new TaintBuilder().withKey("web").withEffect("Never").build();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.taints(List.of(never)))
                .withMessageContaining("effect \"Never\" of taint web");
    }

    @Test
    void leaseDuration_ofMoreSecondsThanAnInt_isTheLongestOne() {
        fixture.agent(builder -> builder.leaseDuration(Duration.ofSeconds((1L << 32) + 1)))
                .start();
        fixture.timekeeper.advance(Duration.ofSeconds(15));

        assertThat(fixture.lease().getSpec().getLeaseDurationSeconds()).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void maxContainerRestartPeriod_containerEndsAgainAndAgain_noPauseIsLonger() {
        HollowStage failing = new HollowStage(Map.of(), Duration.ZERO, Duration.ofSeconds(1), 1);
        fixture.agent(builder -> builder.maxContainerRestartPeriod(Duration.ofSeconds(2))
                        .runtime(time -> new HollowRuntime(time, List.of(failing), pod -> List.of())))
                .start();
        fixture.createLatePod();

        // starts at 0 s, 1 s, 4 s, 7 s and 10 s, and runs for a second each time
        for (int i = 0; i < 125; i++) {
            fixture.timekeeper.advance(Duration.ofMillis(100));
        }

        ContainerStatus late =
                fixture.pod("late").getStatus().getContainerStatuses().get(0);
        assertThat(late.getRestartCount()).isEqualTo(4);
        assertThat(late.getState().getWaiting().getMessage()).startsWith("back-off 2s restarting failed container=");
    }

    @Test
    void runtime_functionReturnsNull_buildSaysSo() {
        assertThatNullPointerException()
                .isThrownBy(() -> fixture.agent(builder -> builder.runtime(timekeeper -> null)))
                .withMessage("the function of runtime(...) returned no runtime");
    }
}
