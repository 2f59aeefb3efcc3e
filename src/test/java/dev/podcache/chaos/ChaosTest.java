package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Needs;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The promises, while everything fails that can between caches and a kube-apiserver, each fault once. For longer, or
 * otherwise,
 *
 * <pre>{@code
 * mvn -q verify -Dtest=ChaosTest -Dchaos.minutes=30 -Dfork.seconds=3600
 * mvn -q verify -Dtest=ChaosTest -Dchaos.seed=random
 * }</pre>
 */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
@Tag("chaos")
class ChaosTest {

    static final long SEED = 2880;

    @Test
    @Timeout(value = 3, unit = TimeUnit.HOURS)
    void everythingFails_noPromiseIsBroken() throws Exception {
        assertThat(ChaosProgram.On.REAL.run()).isEmpty();
    }
}
