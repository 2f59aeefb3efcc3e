package dev.podcache.kubelet.nodestatus;

import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.BEFORE;
import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.NOW;
import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.NOW_TEXT;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import org.junit.jupiter.api.Test;

/** Upstream's TestReadyCondition. */
class ReadySetterTest {

    private static final String GOOD = "True | KubeletReady | kubelet is posting ready status";

    private final NodeStatusFixture status = new NodeStatusFixture();
    private ImmutableList<String> runtime = ImmutableList.of();
    private ImmutableList<String> network = ImmutableList.of();
    private boolean localStorage = true;

    private void set() {
        new ReadySetter(ImmutableList.of(() -> runtime, () -> network), localStorage, status.events)
                .set(status.node, NOW);
    }

    private static String notReady(String message) {
        return "False | KubeletNotReady | " + message + " | " + NOW_TEXT + " | " + NOW_TEXT;
    }

    @Test
    void set_newAndReady_isTrueWithoutAnEvent() {
        status.withCapacity();
        set();
        assertThat(status.onlyCondition()).isEqualTo(GOOD + " | " + NOW_TEXT + " | " + NOW_TEXT);
        assertThat(status.recorded.lines()).isEmpty();
    }

    @Test
    void set_newWithANetworkError_isNotReadyWithoutAnEvent() {
        status.withCapacity();
        network = ImmutableList.of("some network error");
        set();
        assertThat(status.onlyCondition()).isEqualTo(notReady("some network error"));
        assertThat(status.recorded.lines()).isEmpty();
    }

    @Test
    void set_runtimeAndNetworkErrors_areListedInOrder() {
        status.withCapacity();
        runtime = ImmutableList.of("runtime");
        network = ImmutableList.of("network");
        set();
        assertThat(status.onlyCondition()).isEqualTo(notReady("[runtime, network]"));
    }

    @Test
    void set_theSameErrorTwice_isSaidOnceWithoutBrackets() {
        status.withCapacity();
        runtime = ImmutableList.of("down", "down");
        network = ImmutableList.of("down");
        set();
        assertThat(status.onlyCondition()).isEqualTo(notReady("down"));
    }

    @Test
    void set_noCapacity_namesWhatIsMissing() {
        set();
        assertThat(status.onlyCondition())
                .isEqualTo(notReady("missing node capacity for resources: cpu, memory, pods, ephemeral-storage"));
    }

    @Test
    void set_noLocalStorageIsOffered_itIsNotMissing() {
        localStorage = false;
        set();
        assertThat(status.onlyCondition())
                .isEqualTo(notReady("missing node capacity for resources: cpu, memory, pods"));
    }

    @Test
    void set_becomesReady_transitsAndIsRecorded() {
        status.withCapacity().withCondition("Ready", "False");
        set();
        assertThat(status.onlyCondition()).isEqualTo(GOOD + " | " + NOW_TEXT + " | " + NOW_TEXT);
        assertThat(status.recorded.lines())
                .containsExactly("Normal NodeReady Node test-kubelet-node status is now: NodeReady");
    }

    @Test
    void set_noLongerReady_transitsAndIsRecorded() {
        status.withCapacity().withCondition("Ready", "True");
        runtime = ImmutableList.of("foo");
        set();
        assertThat(status.onlyCondition()).isEqualTo(notReady("foo"));
        assertThat(status.recorded.lines())
                .containsExactly("Normal NodeNotReady Node test-kubelet-node status is now: NodeNotReady");
    }

    @Test
    void set_staysReady_keepsTheTransition() {
        status.withCapacity().withCondition("Ready", "True");
        set();
        assertThat(status.onlyCondition()).isEqualTo(GOOD + " | " + BEFORE + " | " + NOW_TEXT);
        assertThat(status.recorded.lines()).isEmpty();
    }

    @Test
    void set_staysNotReady_keepsTheTransitionButNotTheMessage() {
        status.withCapacity().withCondition("Ready", "False");
        runtime = ImmutableList.of("foo");
        set();
        assertThat(status.onlyCondition()).isEqualTo("False | KubeletNotReady | foo | " + BEFORE + " | " + NOW_TEXT);
        assertThat(status.recorded.lines()).isEmpty();
    }

    @Test
    void set_event_isAboutTheNodeUnderItsNameAsUid() {
        status.withCapacity().withCondition("Ready", "False");
        set();
        assertThat(status.recorded.events()).singleElement().satisfies(event -> {
            assertThat(event.about().getKind()).isEqualTo("Node");
            assertThat(event.about().getName()).isEqualTo("test-kubelet-node");
            assertThat(event.about().getUid()).isEqualTo("test-kubelet-node");
            assertThat(event.about().getNamespace()).isNull();
        });
    }
}
