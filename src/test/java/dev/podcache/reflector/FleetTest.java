package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Slow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A twentieth of the fleet of {@link FleetSimulation}, with a twentieth of its server's budget. */
@Slow
class FleetTest {

    private static final int NODES = 750;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void serverRestarts_allRecover_andItIsNotAskedForFarMoreThanItCanDo(boolean resumes) {
        FleetServer.Budget budget = FleetSimulation.budget(NODES);
        List<FleetServer.Second> seconds = new FleetSimulation(budget, resumes, NODES, 1, 1)
                .restart(Duration.ofSeconds(20), Duration.ofSeconds(240));

        assertThat(seconds.stream().mapToInt(each -> each.recovered).sum()).isEqualTo(NODES);
        assertThat(seconds.subList(5, seconds.size())).allSatisfy(each -> {
            assertThat(each.requests).as("requests").isLessThan((resumes ? 3 : 5) * budget.requests());
            assertThat(each.dials).as("dials").isLessThan(12 * budget.handshakes());
        });
    }
}
