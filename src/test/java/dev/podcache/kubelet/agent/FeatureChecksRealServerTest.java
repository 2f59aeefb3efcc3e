package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;

/** The checks of the features, those that the server has. */
@RealServerTest
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class FeatureChecksRealServerTest {

    @Test
    void run_everyFeatureOfTheServerIsSeen(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("was not pulled; retrying");
        // a busy machine
        leaks.allowWarnings("no answer from");
        List<FeatureCheck.FeatureResult> results = new ArrayList<>();
        try (FeatureChecks checks =
                new FeatureChecks(RealApiServer.shared().config(), Duration.ofSeconds(Patience.SECONDS))) {
            checks.run(results::add);
        }

        assertThat(results).noneMatch(FeatureCheck.FeatureResult::failed);
        // what every server has
        assertThat(results)
                .filteredOn(result -> result.toString().contains(" ok: "))
                .hasSizeGreaterThanOrEqualTo(9);
        results.forEach(System.out::println);
    }
}
