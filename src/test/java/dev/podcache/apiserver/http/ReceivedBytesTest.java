package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.WatchEvent;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is received and not decoded, over connections to a server. */
class ReceivedBytesTest extends WatchConnectionsFixture {

    private static final int WATCHES = 40;
    private static final int MOST = 24 << 20;
    private static final int EVENT = 2 << 20;

    /** As 600 watches with 4 MiB each and a limit of 256 MiB, on several connections. */
    @Test
    void eventsThatTogetherExceedTheLimit_allArrive() {
        StreamServer server = server(15);
        connect(server.port(), MOST);
        List<FollowedWatch> watches = watchAndAwait(server, WATCHES);
        String event = event("x".repeat(EVENT));

        for (int i = 0; i < WATCHES; i++) {
            server.send("/watch/" + i, event);
        }

        await().until(() -> watches.stream().allMatch(each -> each.objects().size() == 1));
        assertThat(watches).noneMatch(each -> each.events.stream().anyMatch(WatchEvent.Ended.class::isInstance));
        assertThat(connections.budget().peak()).isBetween(2L * EVENT, (long) MOST);
        await().until(() -> connections.budget().held() == 0);
    }

    @Test
    void halfEventsOnAllWatches_otherTrafficGoesOn_andTheyGetComplete() {
        StreamServer server = server(15);
        connect(server.port(), MOST);
        List<FollowedWatch> watches = watchAndAwait(server, WATCHES);
        String event = event("x".repeat(EVENT));
        for (int i = 0; i < WATCHES; i++) {
            server.send("/watch/" + i, event.substring(0, event.length() / 2));
        }
        // as much as is received without a wait
        await().until(() -> connections.budget().held() > MOST * 3 / 8);

        assertThat(read(connections.session(), "/small")).isEqualTo("/small");
        FollowedWatch other = watch("/watch/other");
        await().until(other::isOpen);
        server.send("/watch/other", event("small"));
        await().until(() -> other.objects().equals(List.of(object("small"))));

        for (int i = 0; i < WATCHES; i++) {
            server.send("/watch/" + i, event.substring(event.length() / 2));
        }
        await().until(() -> watches.stream().allMatch(each -> each.objects().size() == 1));
        assertThat(connections.budget().peak()).isLessThanOrEqualTo(MOST);
    }

    @Test
    void closedWatches_giveBackWhatTheyHold() {
        StreamServer server = server(15);
        connect(server.port(), MOST);
        List<FollowedWatch> watches = watchAndAwait(server, 3);
        for (int i = 0; i < 3; i++) {
            server.send("/watch/" + i, event("x".repeat(EVENT)).substring(0, EVENT));
        }
        await().until(() -> connections.budget().held() == 3L * EVENT);

        watches.get(0).handle.close();
        server.end("/watch/1");

        await().until(() -> connections.budget().held() == EVENT);
    }
}
