package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class AgentServicesTest {

    private final List<String> calls = new ArrayList<>();

    @Test
    @ExpectedWarnings("second failed: java.lang.IllegalArgumentException: for the test; stopping the others")
    void close_partThrows_isLoggedWithItsCause_andTheOthersAreStoppedInReverseOrder() {
        AgentServices services = new AgentServices(List.of(
                AgentServices.part("first", () -> calls.add("start first"), () -> calls.add("stop first")),
                AgentServices.part("second", () -> calls.add("start second"), () -> {
                    throw new IllegalArgumentException("for the test");
                }),
                AgentServices.part("third", () -> calls.add("start third"), () -> calls.add("stop third"))));

        services.start();
        services.close();

        assertThat(calls).containsExactly("start first", "start second", "start third", "stop third", "stop first");
    }
}
