package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whoever lists and then watches knows what the cluster knows, whatever happens and wherever the watch breaks. */
class ClusterWatchProperties {

    private static final String LABELLED = "in=yes";

    enum ClusterStepKind {
        PUT,
        LABEL,
        UNLABEL,
        DELETE,
        HOLD,
        RELEASE,
        RESUME,
        FORGET
    }

    record ClusterStep(ClusterStepKind kind, String name, int value) {}

    @Property
    void listThenWatch_anyHistory_knowsWhatAListWouldSay(@ForAll("histories") List<ClusterStep> history) {
        InMemoryCluster cluster = InMemoryCluster.create(new ManualTimekeeper(), 5, Duration.ofMinutes(1));
        Follower follower = new Follower(cluster);
        follower.relist();

        history.forEach(step -> perform(step, cluster, follower));
        cluster.releaseWatchCache();
        follower.relistIfExpired();

        assertThat(follower.known).isEqualTo(stateOf(cluster));
    }

    @Example
    void watch_manyWriters_tellsEachChangeOnceAndInOrder() throws InterruptedException {
        InMemoryCluster cluster = InMemoryCluster.create(new ManualTimekeeper());
        AtomicLong last = new AtomicLong();
        Map<String, Boolean> outOfOrder = new ConcurrentHashMap<>();
        Follower follower = new Follower(cluster) {
            @Override
            public void event(ClusterEvent event) {
                long version = versionOf(event.object());
                if (last.getAndSet(version) >= version) {
                    outOfOrder.put("at " + version, true);
                }
                super.event(event);
            }
        };
        follower.relist();

        ExecutorService writers = Executors.newFixedThreadPool(4);
        for (int writer = 0; writer < 4; writer++) {
            String name = "w" + writer;
            writers.execute(() -> {
                for (int i = 0; i < 500; i++) {
                    put(cluster, name, i, true);
                }
            });
        }
        writers.shutdown();
        assertThat(writers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();

        assertThat(outOfOrder).isEmpty();
        assertThat(follower.told).isEqualTo(2000);
        assertThat(follower.known).isEqualTo(stateOf(cluster));
    }

    private static void perform(ClusterStep step, InMemoryCluster cluster, Follower follower) {
        switch (step.kind()) {
            case PUT, LABEL -> put(cluster, step.name(), step.value(), true);
            case UNLABEL -> put(cluster, step.name(), step.value(), false);
            case DELETE -> {
                try {
                    cluster.delete(Resource.CONFIG_MAPS, ObjectKey.of("shop", step.name()), DeleteOptions.DEFAULT);
                } catch (StatusException e) {
                    assertThat(e.code()).isEqualTo(404);
                }
            }
            case HOLD -> cluster.holdWatchCache();
            case RELEASE -> cluster.releaseWatchCache();
            case RESUME -> follower.resume();
            case FORGET -> cluster.forgetHistory();
        }
    }

    private static void put(InMemoryCluster cluster, String name, int value, boolean labelled) {
        ConfigMap object = new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .withLabels(labelled ? Map.of("in", "yes") : Map.of())
                .endMetadata()
                .addToData("value", Integer.toString(value))
                .build();
        try {
            cluster.update(object);
        } catch (StatusException e) {
            cluster.create(object);
        }
    }

    private static Map<String, String> stateOf(InMemoryCluster cluster) {
        Map<String, String> state = new TreeMap<>();
        for (ObjectNode object :
                cluster.list(Resource.CONFIG_MAPS, selection(), "").items()) {
            state.put(nameOf(object), contentOf(object));
        }
        return state;
    }

    private static Selection selection() {
        return Selection.everything().withLabels(LABELLED);
    }

    private static String nameOf(ObjectNode object) {
        return object.at("/metadata/name").asText();
    }

    private static String contentOf(ObjectNode object) {
        return versionOf(object) + ":" + object.at("/data/value").asText();
    }

    private static long versionOf(ObjectNode object) {
        return object.at("/metadata/resourceVersion").asLong();
    }

    /** A client: what it was told is all it knows. */
    private static class Follower implements WatchListener {

        final Map<String, String> known = new HashMap<>();
        int told;
        private final InMemoryCluster cluster;
        private String version = "";
        private boolean expired;
        private ClusterWatch watch = () -> {};

        Follower(InMemoryCluster cluster) {
            this.cluster = cluster;
        }

        void relist() {
            expired = false;
            known.clear();
            ObjectList list = cluster.list(Resource.CONFIG_MAPS, selection(), "");
            list.items().forEach(object -> known.put(nameOf(object), contentOf(object)));
            version = list.resourceVersion();
            resume();
        }

        void resume() {
            watch.close();
            watch = cluster.watch(Resource.CONFIG_MAPS, selection(), WatchOptions.from(version), this);
            relistIfExpired();
        }

        void relistIfExpired() {
            if (expired) {
                relist();
            }
        }

        @Override
        public void event(ClusterEvent event) {
            told++;
            switch (event.type()) {
                case ADDED, MODIFIED -> known.put(nameOf(event.object()), contentOf(event.object()));
                case DELETED -> known.remove(nameOf(event.object()));
                case ERROR -> expired = true;
                case BOOKMARK -> {}
            }
            if (!expired) {
                version = event.object().at("/metadata/resourceVersion").asText();
            }
        }

        @Override
        public void ended() {}
    }

    @Provide
    Arbitrary<List<ClusterStep>> histories() {
        Arbitrary<ClusterStep> steps = Combinators.combine(
                        Arbitraries.of(ClusterStepKind.class),
                        Arbitraries.of("a", "b", "c"),
                        Arbitraries.integers().between(0, 3))
                .as(ClusterStep::new);
        return steps.list().ofMaxSize(40);
    }
}
