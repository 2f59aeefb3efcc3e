package dev.podcache.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class WatchedNodeTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ManualListerWatcher<Node> server = new ManualListerWatcher<>();
    private final NodeLister lister = NodeLister.following("worker-1", server, new Recovery(time, () -> 0.0));

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        leaks.allowWarnings("a listener of Node worker-1 threw");
    }

    @AfterEach
    void tearDown() {
        lister.close();
    }

    @Test
    void get_beforeAnyAnswer_isEmptyWithAProblem() {
        assertThat(lister.get()).isEmpty();
        assertThat(lister.problem()).contains("Node worker-1 has not been read yet");
    }

    @Test
    void get_afterTheList_isTheNodeWithoutAProblem() {
        Node node = node("worker-1");
        answer(node);

        assertThat(lister.get()).containsSame(node);
        assertThat(lister.problem()).isEmpty();
    }

    @Test
    void get_anotherNodeInTheAnswer_isIgnored() {
        answer(node("worker-2"));

        assertThat(lister.get()).isEmpty();
    }

    @Test
    void problem_watchRefused_saysSoAndKeepsTheNode() {
        answer(node("worker-1"));
        server.watch().end(new ApiServerException(FailureReason.FORBIDDEN, 403, null, "answered 403", null));

        assertThat(lister.get()).isPresent();
        assertThat(lister.problem()).contains("watch of Node worker-1 failed: answered 403");
    }

    @Test
    void problem_connectedAgain_isGone() {
        answer(node("worker-1"));
        server.watch().end(new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "gone", null));
        time.advance(Duration.ofSeconds(1));
        server.watch().open();

        assertThat(lister.problem()).isEmpty();
    }

    @Test
    void addListener_untilRemoved_runsAtEachChange() {
        AtomicInteger reported = new AtomicInteger();
        Runnable listener = reported::incrementAndGet;
        lister.addListener(listener);
        answer(node("worker-1"));
        server.watch().open();
        assertThat(reported).hasValue(1);

        server.watch().delete(node("worker-1"), "2");
        assertThat(reported).hasValue(2);

        lister.removeListener(listener);
        server.watch().upsert(node("worker-1"), "3");
        assertThat(reported).hasValue(2);
    }

    @Test
    void listener_thatThrows_doesNotKeepOthersFromRunning() {
        AtomicInteger reported = new AtomicInteger();
        lister.addListener(() -> {
            throw new IllegalStateException("broken listener");
        });
        lister.addListener(reported::incrementAndGet);
        answer(node("worker-1"));

        assertThat(reported).hasValue(1);
    }

    @Test
    void close_endsTheWatchAndKeepsWhatIsKnown() {
        answer(node("worker-1"));
        lister.close();

        assertThat(server.watch().closed()).isTrue();
        assertThat(lister.get()).isPresent();
    }

    private void answer(Node node) {
        server.answer("1", List.of(new Fetched<>(node, "1", 1)));
    }

    private static Node node(String name) {
        return new NodeBuilder().withNewMetadata().withName(name).endMetadata().build();
    }
}
