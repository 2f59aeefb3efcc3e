package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.net.InetAddresses;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HandshakesTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Handshakes handshakes = new Handshakes();
    private final List<String> made = new ArrayList<>();

    @AfterEach
    void close() {
        channel.close();
    }

    private void make(String name, String address, boolean open) {
        handshakes.make(channel.eventLoop(), ClientSource.of(InetAddresses.forString(address)), () -> {
            made.add(name);
            return open;
        });
    }

    private void make(String name, String address) {
        make(name, address, true);
    }

    private void turn() {
        channel.runScheduledPendingTasks();
    }

    @Test
    void make_many_oneInEachTurn() {
        make("a", "10.0.0.1");
        make("b", "10.0.0.1");
        make("c", "10.0.0.1");
        assertThat(made).containsExactly("a");

        turn();
        assertThat(made).containsExactly("a", "b");
        turn();
        turn();
        make("d", "10.0.0.1");
        assertThat(made).containsExactly("a", "b", "c", "d");
    }

    @Test
    void make_floodOfOneNetwork_othersAreNext() {
        for (int i = 0; i < 1000; i++) {
            make("flood " + i, "2001:db8::" + i);
        }
        make("victim", "10.0.0.2");
        turn();
        turn();

        assertThat(made).containsExactly("flood 0", "flood 1", "victim");
    }

    @Test
    void make_connectionsClosedMeanwhile_takeNoTurn() {
        make("a", "10.0.0.1");
        for (int i = 0; i < 1000; i++) {
            make("closed", "10.0.0.1", false);
        }
        make("b", "10.0.0.1");
        turn();

        assertThat(made).hasSize(1002).endsWith("b");
    }

    @Test
    void make_partThrows_theOthersFollow() {
        make("a", "10.0.0.1");
        handshakes.make(channel.eventLoop(), ClientSource.of(InetAddresses.forString("10.0.0.1")), () -> {
            throw new StackOverflowError("of TLS");
        });
        make("b", "10.0.0.1");
        turn();
        turn();

        assertThat(made).containsExactly("a", "b");
    }
}
