package dev.podcache.controlplane.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClusterCacheTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final ClusterCache cache = new ClusterCache(new ControllerLoop(timekeeper));
    private final List<String> told = new ArrayList<>();

    ClusterCacheTest() {
        cache.addListener(new ClusterListener() {
            @Override
            public void nodeAdded(ObservedNode node) {
                told.add("added " + node);
            }

            @Override
            public void nodeChanged(ObservedNode before, ObservedNode now) {
                told.add("changed " + now + " " + before.readyStatus() + " " + now.readyStatus());
            }

            @Override
            public void nodeDeleted(ObservedNode last) {
                told.add("deleted " + last);
            }

            @Override
            public void podChanged(@Nullable ObservedPod before, ObservedPod now) {
                told.add((before == null ? "added " : "changed ") + now);
            }

            @Override
            public void podDeleted(ObservedPod last) {
                told.add("deleted " + last);
            }
        });
    }

    private static Fetched<Node> node(String name, String ready) {
        return new Fetched<>(TestNodes.reporting(name, ready), "1", 0);
    }

    private static Fetched<Pod> pod(String node, String name) {
        return new Fetched<>(TestPods.on(node, name), "1", 0);
    }

    private List<String> podsOf(String node) {
        return cache.podsOf(node).stream().map(ObservedPod::toString).toList();
    }

    @Test
    void nodes_areAddedChangedAndDeleted() {
        cache.nodeSink().replace(List.of(node("a", "True"), node("b", "True")), "1");
        cache.nodeSink().upsert(node("a", "False"));
        cache.nodeSink().delete(node("b", "True"));
        cache.nodeSink().delete(node("b", "True"));

        assertThat(told).containsExactly("added a", "added b", "changed a TRUE FALSE", "deleted b");
        assertThat(cache.nodes()).extracting(ObservedNode::name).containsExactly("a");
        assertThat(cache.node("b")).isNull();
    }

    @Test
    void anotherList_deletesWhatIsGone() {
        cache.nodeSink().replace(List.of(node("a", "True"), node("b", "True")), "1");
        cache.podSink().replace(List.of(pod("a", "p"), pod("a", "q")), "1");
        told.clear();

        cache.nodeSink().replace(List.of(node("b", "True"), node("c", "True")), "2");
        cache.podSink().replace(List.of(pod("a", "q")), "2");

        assertThat(told)
                .containsExactly("changed b TRUE TRUE", "added c", "deleted a", "changed shop/q", "deleted shop/p");
    }

    @Test
    void podMovesToANode_isFoundThere() {
        cache.podSink().upsert(pod("", "p"));
        assertThat(podsOf("")).isEmpty();

        cache.podSink().upsert(pod("a", "p"));
        assertThat(podsOf("a")).containsExactly("shop/p");

        cache.podSink().upsert(pod("b", "p"));
        assertThat(podsOf("a")).isEmpty();
        assertThat(podsOf("b")).containsExactly("shop/p");

        cache.podSink().delete(pod("b", "p"));
        assertThat(podsOf("b")).isEmpty();
    }

    @Test
    void whenListed_runsAfterAllThreeLists_once() {
        AtomicInteger runs = new AtomicInteger();
        cache.whenListed(runs::incrementAndGet);
        cache.nodeSink().replace(List.of(), "1");
        cache.nodeSink().replace(List.of(), "2");
        cache.podSink().replace(List.of(), "1");
        assertThat(runs).hasValue(0);

        cache.leaseSink().replace(List.of(), "1");
        cache.leaseSink().replace(List.of(), "2");
        assertThat(runs).hasValue(1);

        cache.whenListed(runs::incrementAndGet);
        assertThat(runs).hasValue(2);
    }

    @Test
    void watchedTime_standsStillWhileLeasesOrNodesAreNotWatched() {
        ApiServerException failure = ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, "WATCH", "gone", null);
        long start = cache.watchedNanos();
        timekeeper.advance(Duration.ofSeconds(1));
        cache.leaseSink().disconnected(failure);
        timekeeper.advance(Duration.ofSeconds(10));
        cache.nodeSink().disconnected(failure);
        cache.leaseSink().connected();
        timekeeper.advance(Duration.ofSeconds(100));
        assertThat(cache.watchedNanos() - start).isEqualTo(Duration.ofSeconds(1).toNanos());

        cache.nodeSink().connected();
        cache.nodeSink().connected();
        cache.podSink().disconnected(failure);
        timekeeper.advance(Duration.ofSeconds(1));

        assertThat(cache.watchedNanos() - start).isEqualTo(Duration.ofSeconds(2).toNanos());
    }

    @Test
    @ExpectedWarnings("a listener of the cluster's cache threw")
    void listenerThrows_theCacheGoesOn() {
        cache.addListener(new ClusterListener() {
            @Override
            public void nodeAdded(ObservedNode node) {
                throw new IllegalStateException("expected");
            }
        });

        cache.nodeSink().upsert(node("a", "True"));
        cache.nodeSink().upsert(node("b", "True"));

        assertThat(cache.nodes()).hasSize(2);
    }

    @Test
    @ExpectedWarnings("a listener of the cluster's cache threw")
    void listenerThrows_losesNeitherTheRestOfAList_norTheOtherListeners() {
        List<String> second = new ArrayList<>();
        List<String> listed = new ArrayList<>();
        cache.addListener(new ClusterListener() {
            @Override
            public void nodeAdded(ObservedNode node) {
                throw new IllegalStateException("expected");
            }

            @Override
            public void podChanged(@Nullable ObservedPod before, ObservedPod now) {
                throw new IllegalStateException("expected");
            }
        });
        cache.addListener(new ClusterListener() {
            @Override
            public void nodeAdded(ObservedNode node) {
                second.add(node.name());
            }

            @Override
            public void podChanged(@Nullable ObservedPod before, ObservedPod now) {
                second.add(now.key().name());
            }
        });
        cache.whenListed(() -> listed.add("listed"));

        cache.nodeSink().replace(List.of(node("a", "True"), node("b", "True")), "1");
        cache.leaseSink().replace(List.of(), "1");
        cache.podSink().replace(List.of(pod("a", "p"), pod("a", "q")), "1");

        assertThat(second).containsExactly("a", "b", "p", "q");
        assertThat(listed).hasSize(1);
        assertThat(cache.pod(ObjectKey.of("shop", "q"))).isNotNull();
    }

    /** Upstream's zone keys: the stable labels come first, the old ones count too. */
    @ParameterizedTest
    @CsvSource({
        "'', '', ''",
        "topology.kubernetes.io/zone=1, topology.kubernetes.io/region=eu, eu/1",
        "failure-domain.beta.kubernetes.io/zone=1, failure-domain.beta.kubernetes.io/region=eu, eu/1",
        "failure-domain.beta.kubernetes.io/zone=0, topology.kubernetes.io/zone=1, /1",
        "topology.kubernetes.io/region=eu, '', eu/"
    })
    void zone_isOfItsLabels(String one, String other, String zone) {
        NodeBuilder node = TestNodes.silent("a");
        Stream.of(one, other)
                .filter(label -> !label.isEmpty())
                .forEach(label -> node.editMetadata()
                        .addToLabels(
                                Splitter.on('=').splitToList(label).get(0),
                                Splitter.on('=').splitToList(label).get(1))
                        .endMetadata());

        assertThat(ObservedNode.of(node.build()).zone()).isEqualTo(zone);
    }
}
