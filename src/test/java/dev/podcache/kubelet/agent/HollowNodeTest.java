package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.embedded.Verb;
import dev.podcache.kubelet.nodestatus.RuntimeHealth;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.node.NodeLister;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The heartbeats of hollow nodes, in time that is driven by hand. */
@Slow
@ExtendWith(NoLeaks.class)
class HollowNodeTest {

    private static final int NODES = 100;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final Recovery recovery = new Recovery(timekeeper);
    private final RuntimeHealth health =
            new RuntimeHealth(() -> RuntimeStatus.ready("1"), ImmutableMap.of(), Runnable::run, timekeeper);
    private final List<NodeLister> listers = new ArrayList<>();
    private final List<HollowNode> nodes = new ArrayList<>();

    @AfterEach
    void tearDown() {
        nodes.forEach(HollowNode::close);
        listers.forEach(NodeLister::close);
        health.stopAsync();
        server.close();
        timekeeper.close();
    }

    private void start(HollowTemplate template) {
        health.startAsync();
        HollowNode.Shared shared = new HollowNode.Shared(
                template,
                server.api(ObjectKind.NODE, TIMEOUT),
                server.api(ObjectKind.LEASE, TIMEOUT),
                health,
                timekeeper);
        for (int i = 0; i < NODES; i++) {
            String name = template.name(i);
            NodeLister lister = NodeLister.following(
                    name, server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + name), recovery);
            listers.add(lister);
            nodes.add(new HollowNode(shared, i, lister));
        }
        nodes.forEach(HollowNode::start);
        timekeeper.advance(Duration.ofSeconds(30));
        server.clearActions();
    }

    private int reports() {
        int reports = Math.toIntExact(server.actions().stream()
                .filter(action -> action.kind().equals(ObjectKind.NODE) && action.verb() == Verb.PATCH)
                .count());
        server.clearActions();
        return reports;
    }

    @Test
    void start_allAtOnce_reportsSpreadOverTheFirstMinutes() {
        start(new HollowTemplate());

        List<Integer> perMinute = new ArrayList<>();
        for (int minute = 0; minute < 8; minute++) {
            timekeeper.advance(Duration.ofMinutes(1));
            perMinute.add(reports());
        }

        // each node reports once between 2.5 and 8 minutes after its start
        assertThat(perMinute.subList(0, 2)).containsOnly(0);
        assertThat(Collections.max(perMinute)).isLessThan(NODES / 2);
        assertThat(perMinute.stream().mapToInt(Integer::intValue).sum()).isGreaterThanOrEqualTo(NODES);
    }

    private List<String> nodesWithLeaseRequests() {
        return server.actions().stream()
                .filter(action -> action.kind().equals(ObjectKind.LEASE))
                .map(action -> action.key().name())
                .distinct()
                .toList();
    }

    @Test
    void nodeIsDeleted_itsLeaseIsNotRenewed_untilSomebodyCreatesTheNode(NoLeaks leaks) {
        leaks.allowWarnings("Node hollow-3 was deleted, so it is neither registered nor reported");
        start(new HollowTemplate());
        Node deleted = server.cluster().get(Node.class, "", "hollow-3");

        server.cluster().delete(deleted);
        timekeeper.advance(Duration.ofMinutes(1));
        server.clearActions();
        timekeeper.advance(Duration.ofMinutes(1));
        assertThat(nodesWithLeaseRequests()).hasSize(NODES - 1).doesNotContain("hollow-3");

        server.cluster()
                .create(new NodeBuilder()
                        .withNewMetadata()
                        .withName("hollow-3")
                        .endMetadata()
                        .build());
        timekeeper.advance(Duration.ofMinutes(1));
        assertThat(nodesWithLeaseRequests()).contains("hollow-3");
    }

    @Test
    void statusReport_ofFourSeconds_isReportedThatOften() {
        start(new HollowTemplate().statusReport(Duration.ofSeconds(4)));

        timekeeper.advance(Duration.ofMinutes(1));

        assertThat(reports()).isBetween(13 * NODES, 15 * NODES);
    }
}
