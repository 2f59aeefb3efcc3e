package dev.podcache.controlplane.nodelifecycle;

import static dev.podcache.controlplane.cluster.TestNodes.inZone;
import static dev.podcache.controlplane.cluster.TestNodes.reporting;
import static dev.podcache.controlplane.cluster.TestNodes.taints;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.common.base.Splitter;
import dev.podcache.controlplane.cluster.MemoryCluster;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** How many nodes of a zone are not Ready decides how fast they are tainted. */
class ZoneDisruptionTest extends NodeLifecycleFixture {

    private static final String EXCLUDED = "node.kubernetes.io/exclude-disruption";

    private static final Pattern ENTERED = Pattern.compile("^zone \"(.*)\" is now in state (\\w+): ");

    private final Logger logger = (Logger) LoggerFactory.getLogger(NodeLifecycleController.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void captureLog() {
        logger.setLevel(Level.INFO);
        logger.addAppender(log);
        log.start();
    }

    @AfterEach
    void releaseLog() {
        logger.detachAppender(log);
        logger.setLevel(null);
    }

    // TestMonitorNodeHealthEvictPodsWithDisruption

    @Test
    void oneZone_allNodesSilent_noneIsTainted() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "1", "True"));
        start();

        pass(600);

        assertThat(ready("a")).isEqualTo("Unknown");
        assertThat(isEvicting("a") || isEvicting("b")).isFalse();
    }

    @Test
    void twoZones_bothSilent_noneIsTainted() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "2", "True"));
        start();

        pass(600);

        assertThat(isEvicting("a") || isEvicting("b")).isFalse();
    }

    @Test
    void twoZones_oneSilent_isTainted() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "2", "True"));
        alive.add("b");
        start();

        pass(60);

        assertThat(isEvicting("a")).isTrue();
    }

    @Test
    void onlyAnExcludedNodeIsHealthy_noneIsTainted() {
        Node excluded = new NodeBuilder(inZone("b", "1", "True"))
                .editMetadata()
                .addToLabels("node.kubernetes.io/exclude-disruption", "")
                .endMetadata()
                .build();
        cluster.put(inZone("a", "1", "True")).put(excluded);
        alive.add("b");
        start();

        pass(600);

        assertThat(isEvicting("a")).isFalse();
    }

    @Test
    void allSilentThenOneIsBack_theOthersGetANewGracePeriod_andAreTainted() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "1", "True"));
        start();
        pass(600);

        alive.add("b");
        cluster.heartbeat("b", "True");
        pass(30);

        assertThat(isEvicting("a")).isTrue();
        assertThat(isEvicting("b")).isFalse();
    }

    @Test
    void taintsOfAnOutageOfAll_areTakenBack() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "1", "True"));
        alive.add("b");
        start();
        pass(60);
        assertThat(isEvicting("a")).isTrue();

        alive.clear();
        pass(60);

        assertThat(isEvicting("a")).isFalse();
        assertThat(ready("b")).isEqualTo("Unknown");
    }

    @Test
    void smallZonePartlyDisrupted_hasNoEvictions_largeOneAtTheSecondRate() {
        for (int i = 0; i < 5; i++) {
            cluster.put(inZone("n" + i, "1", "True"));
        }
        alive.addAll(Set.of("n3", "n4"));
        start();
        pass(600);
        assertThat(List.of("n0", "n1", "n2")).noneMatch(this::isEvicting);

        // the same zone, taken for a large one
        MemoryCluster large = new MemoryCluster(timekeeper).quietUntilListed();
        for (int i = 0; i < 5; i++) {
            large.put(inZone("n" + i, "1", "True"));
        }
        new NodeLifecycleController(
                        large.cache(),
                        large,
                        (about, type, reason, message) -> {},
                        OPTIONS.largeClusterSizeThreshold(4))
                .start();
        large.list();
        for (int second = 0; second < 400; second += 5) {
            large.renew("n3");
            large.renew("n4");
            timekeeper.advance(Duration.ofSeconds(5));
        }
        assertThat(List.of("n0", "n1", "n2"))
                .filteredOn(node -> taints(large.node(node)).contains("unreachable:NoExecute"))
                .hasSizeBetween(2, 3);
    }

    /** TestMonitorNodeHealthEvictPods: nodes get the labels of their zone after the first pass. */
    @Test
    void nodeWithoutStatusGetsAZoneLater_isNotTainted() {
        cluster.put(TestNodes.created("a", timekeeper.wallTime()).build()).put(reporting("b", "True"));
        alive.add("b");
        start();
        pass(1);

        for (String name : List.of("a", "b")) {
            cluster.put(new NodeBuilder(cluster.node(name))
                    .editMetadata()
                    .addToLabels("topology.kubernetes.io/zone", "1")
                    .endMetadata()
                    .build());
        }
        pass(59);

        assertThat(cluster.calls()).isEmpty();
    }

    /**
     * TestMonitorNodeHealth, and the states of TestMonitorNodeHealthEvictPodsWithDisruption. A node is its zone, 0 for
     * none, and its status of Ready: T, U, - for none, or X for an excluded node that is Ready. A state is its zone and N
     * for normal, P for partly and F for fully disrupted.
     */
    @ParameterizedTest
    @CsvSource({
        "0T, 0N, 0T, 0N",
        "1U 2U, 1F 2F, 1U 2T, 1F 2N",
        "1- 1- 1- 1-, 1F, 1U 1U 1U 1T, 1P",
        "1U 1U 1T 1T 1T, 1N, 1U 1U 1U 1T 1T, 1P",
        "1U 1U 1T, 1N, 1U 1U 1U, 1F",
        "1U 2T, 1F 2N, 1U 2T, 1F 2N",
        "1U 2U, 1F 2F, 1U 2U, 1F 2F",
        "1T, 1N, 1-, 1F",
        "1U 1X, 1F, 1U 1X, 1F",
        "1U 1U, 1F, 1U 1U, 1F",
        "1U 1U 1U 1T 1T, 1P, 1U 1U 1U 1T 1T, 1P"
    })
    void zones_haveStates_thenTheirNodesChange(String nodes, String states, String laterNodes, String laterStates) {
        put(nodes);
        start();
        assertThat(loggedStates(nodes)).isEqualTo(states);

        put(laterNodes);
        pass(6);

        assertThat(loggedStates(laterNodes)).isEqualTo(laterStates);
    }

    /** Returns the states as the log tells them: a zone is normal until a line says otherwise. */
    private String loggedStates(String nodes) {
        Map<String, Character> byZone = new TreeMap<>();
        Splitter.on(' ').split(nodes).forEach(node -> byZone.put(node.substring(0, 1), 'N'));
        for (ILoggingEvent line : log.list) {
            Matcher entered = ENTERED.matcher(line.getFormattedMessage());
            if (entered.find()) {
                String zone = entered.group(1);
                byZone.put(
                        zone.isEmpty() ? "0" : zone.replace("eu/", ""),
                        entered.group(2).charAt(0));
            } else if (line.getFormattedMessage().startsWith("no node of the cluster is Ready")) {
                byZone.replaceAll((zone, state) -> 'F');
            }
        }
        return byZone.entrySet().stream()
                .map(zone -> zone.getKey() + zone.getValue())
                .collect(Collectors.joining(" "));
    }

    private void put(String nodes) {
        int number = 0;
        for (String node : Splitter.on(' ').split(nodes)) {
            String name = "n" + number++;
            put(name, node.charAt(0), node.charAt(1));
        }
    }

    private void put(String name, char zone, char status) {
        String ready = status == 'U' ? "Unknown" : "True";
        NodeBuilder node =
                new NodeBuilder(zone == '0' ? reporting(name, ready) : inZone(name, String.valueOf(zone), ready));
        node.editMetadata()
                .withCreationTimestamp(ApiTime.of(timekeeper.wallTime()))
                .endMetadata();
        if (status == '-') {
            node.editStatus().withConditions(List.of()).endStatus();
        } else if (status == 'X') {
            node.editMetadata().addToLabels(EXCLUDED, "").endMetadata();
        }
        alive.remove(name);
        if (ready.equals("True") && status != '-') {
            alive.add(name);
        }
        cluster.put(TestNodes.withTaints(node.build()));
    }

    /** Test_isNodeExcludedFromDisruptionChecks. */
    @ParameterizedTest
    @CsvSource({"a, '', false", "master-abc, '', false", "a, node.kubernetes.io/exclude-disruption, true"})
    void node_isExcludedByItsLabelOnly(String name, String label, boolean excluded) {
        Node node = new NodeBuilder(reporting(name, "True"))
                .editMetadata()
                .withLabels(label.isEmpty() ? Map.of() : Map.of(label, ""))
                .endMetadata()
                .build();

        assertThat(ObservedNode.of(node).isExcludedFromDisruption()).isEqualTo(excluded);
    }
}
