package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Slow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@link ChaosTest} on a server that also answers 429, 500, 410 and the like when the schedule wants it to. */
@Slow
@Tag("chaos")
class EmbeddedChaosTest {

    static final long SEED = 12;

    @Test
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void everyAnswerFails_noPromiseIsBroken() throws Exception {
        assertThat(ChaosProgram.On.EMBEDDED.run()).isEmpty();
    }
}
