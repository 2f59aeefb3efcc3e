package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class FreePortsTest {

    @Test
    void next_askedManyTimes_givesNoPortTwice() throws IOException {
        FreePorts ports = new FreePorts();
        List<Integer> given = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            given.addAll(ports.next(3));
        }

        assertThat(new HashSet<>(given)).hasSize(60);
    }

    /** Two instances in one JVM behave as in two JVMs, because a socket separates them. */
    @Test
    void next_ofTwoOwners_givesNoPortToBoth() throws IOException {
        assertThat(new FreePorts().next(100)).doesNotContainAnyElementsOf(new FreePorts().next(100));
    }

    @Test
    void next_somebodyListensOnThePort_givesTheOneAfter() throws IOException {
        FreePorts ports = new FreePorts();
        int before = ports.next(1).get(0);
        try (ServerSocket stranger = new ServerSocket(before + 1, 1, InetAddress.getLoopbackAddress())) {
            assertThat(ports.next(1)).doesNotContain(stranger.getLocalPort());
        }
    }
}
