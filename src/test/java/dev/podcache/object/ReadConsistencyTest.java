package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReadConsistencyTest {

    @Test
    void latest_isNeverMetByWhatIsInMemory() {
        assertThat(ReadConsistency.latest().isMetBy("7", Duration.ZERO)).isFalse();
        assertThat(ReadConsistency.latest()).hasToString("latest");
    }

    @Test
    void atLeast_isMetByThatVersionAndNewerOnes() {
        ReadConsistency atLeast = ReadConsistency.atLeast("4711");
        assertThat(atLeast.isMetBy("4710", Duration.ZERO)).isFalse();
        assertThat(atLeast.isMetBy("4711", null)).isTrue();
        assertThat(atLeast.isMetBy("10000", null)).isTrue();
        assertThat(atLeast.isMetBy("", Duration.ZERO)).isFalse();
        assertThat(atLeast).hasToString("at least version 4711");
    }

    @Test
    void maxAge_isMetByWhatIsThatYoung() {
        ReadConsistency maxAge = ReadConsistency.maxAge(Duration.ofSeconds(5));
        assertThat(maxAge.isMetBy("7", Duration.ofSeconds(5))).isTrue();
        assertThat(maxAge.isMetBy("", Duration.ofSeconds(4))).isTrue();
        assertThat(maxAge.isMetBy("7", Duration.ofSeconds(6))).isFalse();
        assertThat(maxAge.isMetBy("7", null)).isFalse();
        assertThat(maxAge).hasToString("at most 5000 ms old");
    }

    @Test
    void maxAge_zero_isMetByNothingInMemory() {
        assertThat(ReadConsistency.maxAge(Duration.ZERO).isMetBy("7", Duration.ZERO))
                .isFalse();
    }

    @Test
    void badInput_isQuotedWithTheRemedy() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ReadConsistency.atLeast("newest"))
                .withMessageContaining("\"newest\"")
                .withMessageContaining("metadata.resourceVersion");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ReadConsistency.maxAge(Duration.ofSeconds(-1)))
                .withMessageContaining("-1000 ms");
    }
}
