package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.testing.EqualsTester;
import com.google.common.testing.NullPointerTester;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PodKeyTest {

    @Test
    void equals_allThreeParts_onlyThen() {
        new EqualsTester()
                .addEqualityGroup(PodKey.of("shop", "web", "u1"), PodKey.of("shop", "web", "u1"))
                .addEqualityGroup(PodKey.of("shop", "web", "u2"))
                .addEqualityGroup(PodKey.of("shop", "api", "u1"))
                .addEqualityGroup(PodKey.of("stock", "web", "u1"))
                .testEquals();
    }

    @Test
    void of_null_isRefused() {
        new NullPointerTester().testAllPublicStaticMethods(PodKey.class);
    }

    @Test
    void of_emptyUid_saysWhatToRegister() {
        assertThatThrownBy(() -> PodKey.of("shop", "web", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("pod shop/web has an empty uid: register pods as the API server returned them, with"
                        + " metadata.uid");
    }

    @Test
    void toString_anyPod_isFitForLogs() {
        assertThat(PodKey.of("shop", "web", "u1")).hasToString("shop/web(u1)");
    }

    @Test
    void accessors_anyPod_areItsThreeParts() {
        PodKey key = PodKey.of("shop", "web", "u1");

        assertThat(List.of(key.namespace(), key.name(), key.uid())).containsExactly("shop", "web", "u1");
    }

    @Test
    void hashCode_manyKeys_spreads() {
        Set<Integer> codes = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            codes.add(PodKey.of("shop-" + i % 10, "web-" + i / 10 % 10, "u" + i / 100)
                    .hashCode());
        }

        assertThat(codes).hasSizeGreaterThan(900);
    }
}
