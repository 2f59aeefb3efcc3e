package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.RealServerTest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The promises, while everything fails that can between caches and a kube-apiserver. Some
 * seconds of it here; for longer,
 *
 * <pre>{@code mvn -q verify -Dtest=ChaosTest -Dchaos.minutes=30 -Dchaos.seed=1}</pre>
 */
@RealServerTest
@Tag("chaos")
class ChaosTest {

    private static final Duration USUALLY = Duration.ofSeconds(32);
    private static final long SEED = 2880;

    @Test
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void everythingFails_noPromiseIsBroken() throws Exception {
        ChaosOptions options = ChaosOptions.of(ChaosTest.class, USUALLY, SEED);
        try (ChaosServer server = new RealChaosServer()) {
            ChaosReport report = new ChaosRun(server, options).run();

            assertThat(report.findings())
                    .as("repeat with: " + options.command())
                    .isEmpty();
        }
    }
}
