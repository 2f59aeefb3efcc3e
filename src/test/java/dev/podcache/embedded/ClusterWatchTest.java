package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class ClusterWatchTest {

    private static final Selection SHOP = Selection.everything().in("shop");

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final InMemoryCluster cluster = InMemoryCluster.create(time, 3, Duration.ofSeconds(10));
    private final List<String> told = new ArrayList<>();
    private final WatchListener listener = new WatchListener() {
        @Override
        public void event(ClusterEvent event) {
            told.add(event.type() + " "
                    + event.object().path("metadata").path("name").asText(""));
        }

        @Override
        public void ended() {
            told.add("END");
        }
    };

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
        assertThat(cluster.openWatches()).isZero();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void watch_fromTheList_tellsWhatComesInOrder() {
        cluster.create(secret("a"));
        watch(cluster.resourceVersion());

        Secret b = cluster.create(secret("b"));
        cluster.update(new SecretBuilder(b).addToData("k", "Yg==").build());
        cluster.delete(b);

        assertThat(told).containsExactly("ADDED b", "MODIFIED b", "DELETED b");
    }

    @Test
    void watch_fromZero_tellsTheStateFirst() {
        cluster.create(secret("b"));
        cluster.create(secret("a"));

        watch("0");
        cluster.create(secret("c"));

        assertThat(told).containsExactly("ADDED a", "ADDED b", "ADDED c");
    }

    @Test
    void watch_fromRememberedHistory_tellsWhatWasMissed() {
        String before = cluster.resourceVersion();
        cluster.create(secret("a"));
        cluster.create(secret("b"));

        watch(before);

        assertThat(told).containsExactly("ADDED a", "ADDED b");
    }

    @Test
    void watch_fromBeforeTheHistory_isToldThatItExpired() {
        String before = cluster.resourceVersion();
        for (String name : List.of("a", "b", "c", "d", "e")) {
            cluster.create(secret(name));
        }

        watch(before);
        cluster.create(secret("f"));

        assertThat(told).containsExactly("ERROR ", "END");
        assertThat(cluster.openWatches()).isZero();
    }

    @Test
    void watch_otherResourcesHistory_doesNotPushOutOurs() {
        String before = cluster.resourceVersion();
        cluster.create(secret("a"));
        for (String name : List.of("a", "b", "c", "d", "e")) {
            cluster.create(pod(name, ""));
        }

        watch(before);

        assertThat(told).containsExactly("ADDED a");
    }

    @Test
    void watch_podGetsTheNode_isAddedThere() {
        watchNode("worker-1");
        Pod pod = cluster.create(pod("web", ""));
        assertThat(told).isEmpty();

        cluster.update(new PodBuilder(pod)
                .editSpec()
                .withNodeName("worker-1")
                .endSpec()
                .build());

        assertThat(told).containsExactly("ADDED web");
    }

    @Test
    void watch_podLeavesTheNode_isDeletedThere() {
        watchNode("worker-1");
        Pod pod = cluster.create(pod("web", "worker-1"));

        cluster.update(new PodBuilder(pod)
                .editSpec()
                .withNodeName("worker-2")
                .endSpec()
                .build());

        assertThat(told).containsExactly("ADDED web", "DELETED web");
    }

    @Test
    void watch_deletion_carriesTheLastStateWithTheVersionOfTheDeletion() {
        List<ClusterEvent> events = new ArrayList<>();
        Secret secret = cluster.create(secret("a"));
        cluster.watch(Resource.SECRETS, SHOP, WatchOptions.from(cluster.resourceVersion()), new WatchListener() {
            @Override
            public void event(ClusterEvent event) {
                events.add(event);
            }

            @Override
            public void ended() {}
        });

        cluster.delete(secret);

        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.object().at("/metadata/resourceVersion").asText()).isEqualTo(cluster.resourceVersion());
            assertThat(event.object().at("/metadata/uid").asText())
                    .isEqualTo(secret.getMetadata().getUid());
        });
    }

    @Test
    void holdWatchCache_changes_areToldAtRelease() {
        watch(cluster.resourceVersion());
        cluster.holdWatchCache();
        cluster.create(secret("a"));
        cluster.create(secret("b"));
        assertThat(told).isEmpty();

        cluster.releaseWatchCache();

        assertThat(told).containsExactly("ADDED a", "ADDED b");
    }

    @Test
    void watch_openedWhileHeldFromANewerVersion_skipsWhatTheListHadAlready() {
        cluster.holdWatchCache();
        cluster.create(secret("a"));
        watch(cluster.resourceVersion());

        cluster.releaseWatchCache();
        cluster.create(secret("b"));

        assertThat(told).containsExactly("ADDED b");
    }

    @Test
    void watch_bookmarks_comeByThePeriodAndBeforeTheTimeout() {
        cluster.watch(
                Resource.SECRETS,
                SHOP,
                new WatchOptions(cluster.resourceVersion(), true, Duration.ofSeconds(25)),
                listener);

        time.advance(Duration.ofSeconds(30));

        assertThat(told).containsExactly("BOOKMARK ", "BOOKMARK ", "BOOKMARK ", "END");
    }

    @Test
    void close_ofTheWatch_silencesIt() {
        ClusterWatch watch = watch(cluster.resourceVersion());

        watch.close();
        cluster.create(secret("a"));

        assertThat(told).isEmpty();
    }

    @Test
    void close_ofTheCluster_endsWatchesAndLaterOnes() {
        watch(cluster.resourceVersion());

        cluster.close();
        watch("0");

        assertThat(told).containsExactly("END", "END");
    }

    @Test
    void watch_listenerThatChangesTheCluster_isToldAfterwards() {
        cluster.watch(Resource.SECRETS, SHOP, WatchOptions.from(cluster.resourceVersion()), new WatchListener() {
            @Override
            public void event(ClusterEvent event) {
                String name = event.object().at("/metadata/name").asText();
                told.add("begin " + name);
                if (name.equals("a")) {
                    cluster.create(secret("b"));
                }
                told.add("end " + name);
            }

            @Override
            public void ended() {}
        });

        cluster.create(secret("a"));

        assertThat(told).containsExactly("begin a", "end a", "begin b", "end b");
    }

    @Test
    @ExpectedWarnings("watch listener failed; its watch was closed")
    void watch_listenerThatThrows_losesItsWatchAndNobodyElses() {
        cluster.watch(Resource.SECRETS, SHOP, WatchOptions.from(cluster.resourceVersion()), new WatchListener() {
            @Override
            public void event(ClusterEvent event) {
                throw new NoClassDefFoundError("of the listener");
            }

            @Override
            public void ended() {}
        });
        watch(cluster.resourceVersion());

        cluster.create(secret("a"));

        assertThat(told).containsExactly("ADDED a");
    }

    private ClusterWatch watch(String from) {
        return cluster.watch(Resource.SECRETS, SHOP, WatchOptions.from(from), listener);
    }

    private void watchNode(String node) {
        Selection selection = Selection.everything().withFields(Resource.PODS, "spec.nodeName=" + node);
        cluster.watch(Resource.PODS, selection, WatchOptions.from(cluster.resourceVersion()), listener);
    }

    private static Secret secret(String name) {
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .endMetadata()
                .build();
    }

    private static Pod pod(String name, String node) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withNodeName(node.isEmpty() ? null : node)
                .endSpec()
                .build();
    }
}
