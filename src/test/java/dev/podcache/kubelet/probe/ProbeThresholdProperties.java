package dev.podcache.kubelet.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Thresholds against a model that looks at the whole history. */
class ProbeThresholdProperties {

    /** The result follows from the outcomes alone: the latest run that was long enough. */
    @Property
    void readiness_isTheLatestRunThatReachedItsThreshold(
            @ForAll @IntRange(min = 1, max = 4) int successThreshold,
            @ForAll @IntRange(min = 1, max = 4) int failureThreshold,
            @ForAll @Size(max = 40) List<Boolean> outcomes) {
        ProbeState state = new ProbeState(ProbeKind.READINESS, successThreshold, failureThreshold);
        state.container("test://first", null);

        for (int checks = 1; checks <= outcomes.size(); checks++) {
            ProbeResult before = state.result();
            boolean changed = state.checked(outcomes.get(checks - 1));

            assertThat(state.result())
                    .isEqualTo(modelled(outcomes.subList(0, checks), successThreshold, failureThreshold));
            assertThat(changed).isEqualTo(state.result() != before);
        }
    }

    private static ProbeResult modelled(List<Boolean> outcomes, int successThreshold, int failureThreshold) {
        for (int end = outcomes.size(); end > 0; end--) {
            if (endsInRun(outcomes.subList(0, end), true, successThreshold)) {
                return ProbeResult.SUCCESS;
            }
            if (endsInRun(outcomes.subList(0, end), false, failureThreshold)) {
                return ProbeResult.FAILURE;
            }
        }
        return ProbeResult.FAILURE;
    }

    private static boolean endsInRun(List<Boolean> outcomes, boolean outcome, int length) {
        return outcomes.size() >= length
                && outcomes.subList(outcomes.size() - length, outcomes.size()).stream()
                        .allMatch(each -> each == outcome);
    }
}
