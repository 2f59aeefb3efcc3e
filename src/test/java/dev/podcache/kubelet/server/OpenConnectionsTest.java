package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.server.OpenConnections.OpenConnection;
import dev.podcache.testing.ManualTimekeeper;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenConnectionsTest {

    private final ManualTimekeeper clock = new ManualTimekeeper();
    private final OpenConnections connections = new OpenConnections(3, clock);
    private final List<String> closed = new ArrayList<>();

    private OpenConnection open(String name) {
        return open(name, "10.0.0.1");
    }

    private OpenConnection open(String name, String address) {
        return connections.opened(source(address), () -> closed.add(name)).orElseThrow();
    }

    private static ClientSource source(String address) {
        return ClientSource.of(InetAddresses.forString(address));
    }

    @Test
    void opened_tooMany_theOldestWithoutARequestGivesWay() {
        OpenConnection first = open("first");
        open("second");
        open("third");
        first.requestBegan();

        open("fourth");

        assertThat(closed).containsExactly("second");
        assertThat(connections.size()).isEqualTo(3);
    }

    @Test
    void opened_tooManyOfOneNetwork_itsOwnGiveWay() {
        open("victim", "10.0.0.1");
        open("flood 1", "2001:db8::1");
        open("flood 2", "2001:db8::2");

        open("flood 3", "2001:db8::3");
        open("flood 4", "2001:db8::4");

        assertThat(closed).containsExactly("flood 1", "flood 2");
    }

    @Test
    void opened_tooMany_anUnknownClientGivesWayBeforeAKnownOne() {
        OpenConnection known = open("known");
        known.requestBegan();
        known.authenticated();
        known.requestEnded();
        OpenConnection refused = open("refused");
        open("silent");
        refused.requestBegan();
        refused.requestEnded();

        open("a");
        open("b");
        open("c");

        assertThat(closed).containsExactly("silent", "refused", "a");
    }

    @Test
    void opened_allKnownAndIdle_theOneThatIsIdleForLongestGivesWay() {
        List<OpenConnection> all = List.of(open("a"), open("b"), open("c"));
        all.forEach(OpenConnection::requestBegan);
        all.forEach(OpenConnection::authenticated);
        all.get(1).requestEnded();
        all.get(0).requestEnded();

        open("d");

        assertThat(closed).containsExactly("b");
    }

    @Test
    void opened_clientHasNotTakenItsAnswer_itGivesWayBeforeAKnownOne() {
        OpenConnection known = open("known");
        known.requestBegan();
        known.authenticated();
        known.requestEnded();
        OpenConnection slow = open("slow");
        slow.requestBegan();
        slow.answerUnread();
        OpenConnection busy = open("busy");
        busy.requestBegan();

        open("next");

        assertThat(closed).containsExactly("slow");
        slow.requestEnded();
        assertThat(connections.size()).isEqualTo(3);
    }

    @Test
    void opened_allHaveRequests_isRefused() {
        List.of(open("a"), open("b"), open("c")).forEach(OpenConnection::requestBegan);

        assertThat(connections.opened(source("10.0.0.1"), () -> {})).isEmpty();
        assertThat(closed).isEmpty();
        assertThat(connections.size()).isEqualTo(3);
    }

    @Test
    void connection_withoutARequest_isClosedAfter90sFromItsHandshakeOn() {
        OpenConnection idle = open("idle");
        OpenConnection busy = open("busy");
        clock.advance(OpenConnections.IDLE);
        idle.established();
        busy.established();
        busy.requestBegan();

        clock.advance(OpenConnections.IDLE);
        assertThat(closed).containsExactly("idle");

        busy.requestEnded();
        clock.advance(OpenConnections.IDLE);
        assertThat(closed).containsExactly("idle", "busy");
    }

    @Test
    void closed_connection_isForgottenWhateverFollows() {
        OpenConnection gone = open("gone");
        gone.requestBegan();
        gone.closed();
        gone.closed();
        gone.requestEnded();
        gone.established();

        assertThat(connections.size()).isZero();
        assertThat(clock.scheduledTasks()).isZero();
    }
}
