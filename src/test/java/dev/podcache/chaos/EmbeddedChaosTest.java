package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@link ChaosTest} on a server that also answers 429, 500, 410 and the like when the schedule wants it to. */
@Tag("chaos")
class EmbeddedChaosTest {

    private static final Duration USUALLY = Duration.ofSeconds(15);
    private static final long SEED = 12;

    @Test
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void everyAnswerFails_noPromiseIsBroken() throws Exception {
        ChaosOptions options = ChaosOptions.of(EmbeddedChaosTest.class, USUALLY, SEED);
        try (ChaosServer server = new EmbeddedChaosServer()) {
            ChaosReport report = new ChaosRun(server, options).run();

            assertThat(report.findings())
                    .as("repeat with: " + options.command())
                    .isEmpty();
        }
    }
}
