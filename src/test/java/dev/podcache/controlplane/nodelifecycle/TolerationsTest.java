package dev.podcache.controlplane.nodelifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.controlplane.cluster.TestPods;
import dev.podcache.pod.TaintToleration;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TolerationsTest {

    private static final Taint TAINT = new TaintBuilder()
            .withKey("one")
            .withValue("v")
            .withEffect("NoExecute")
            .build();

    /** TestGetMinTolerationTime: "-" is no limit, and the result -1 is for ever. */
    @ParameterizedTest
    @CsvSource({"'', 0", "-, -1", "'1,2', 1", "'1,-', 1", "'-,1', 1", "'0,5', 0", "'-3,5', 0"})
    void minimum_isTheShortestLimit(String limits, long expected) {
        List<Toleration> tolerations = limits.isEmpty()
                ? List.of()
                : Arrays.stream(limits.split(","))
                        .map(limit -> TestPods.tolerates("one", limit.equals("-") ? null : Long.valueOf(limit)))
                        .toList();

        assertThat(Tolerations.minimum(tolerations))
                .isEqualTo(expected < 0 ? Tolerations.FOREVER : Duration.ofSeconds(expected));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "one, Exists, -, NoExecute, true",
                "one, Exists, -, -, true",
                "one, Exists, -, NoSchedule, false",
                "two, Exists, -, NoExecute, false",
                "-, Exists, -, -, true",
                "one, Equal, v, NoExecute, true",
                "one, -, v, NoExecute, true",
                "one, Equal, w, NoExecute, false",
                "one, Equal, -, NoExecute, false",
                "one, Gt, v, NoExecute, false"
            })
    void toleration_matchesByKeyOperatorValueAndEffect(
            String key, String operator, String value, String effect, boolean matches) {
        Toleration toleration = new TolerationBuilder()
                .withKey(key)
                .withOperator(operator)
                .withValue(value)
                .withEffect(effect)
                .build();

        assertThat(TaintToleration.tolerates(toleration, TAINT)).isEqualTo(matches);
    }

    @Test
    void stay_needsATolerationForEachTaint() {
        Taint other = TestNodes.taint("two", "NoExecute");

        assertThat(Tolerations.stay(List.of(TAINT, other), List.of(TestPods.tolerates("one", null))))
                .isEmpty();
        assertThat(Tolerations.stay(
                        List.of(TAINT, other),
                        List.of(TestPods.tolerates("one", null), TestPods.tolerates("two", 60L))))
                .contains(Duration.ofSeconds(60));
    }

    @Test
    void twoTolerationsMatchATaint_theFirstCounts() {
        List<Toleration> tolerations = List.of(TestPods.tolerates("one", 100L), TestPods.tolerates("one", 1L));

        assertThat(Tolerations.stay(List.of(TAINT), tolerations)).contains(Duration.ofSeconds(100));
    }

    /** TestFilterNoExecuteTaints. */
    @Test
    void noExecute_leavesOutOtherEffects() {
        assertThat(Tolerations.noExecute(List.of(TAINT, TestNodes.taint("two", "NoSchedule"))))
                .containsExactly(TAINT);
    }
}
