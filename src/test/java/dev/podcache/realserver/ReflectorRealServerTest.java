package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.node.NodeLister;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The loop and the Node's TTL against kube-apiserver itself, also when that dies and returns. */
@ExtendWith(NoLeaks.class)
@RealServerTest
class ReflectorRealServerTest {

    private static final Duration DEFAULT_TTL = Duration.ofSeconds(60);

    private final RealApiServer real = RealApiServer.shared();
    private final KubernetesClient admin = real.client();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(admin);

    /** Holds what the reflector says is there. */
    private static final class TextMirror implements ReflectorSink<ConfigMap> {

        final Map<String, String> texts = new ConcurrentHashMap<>();
        final List<FailureReason> failures = new CopyOnWriteArrayList<>();
        volatile boolean connected;

        @Override
        public void replace(List<Fetched<ConfigMap>> items, String resourceVersion) {
            texts.clear();
            items.forEach(this::upsert);
        }

        @Override
        public void upsert(Fetched<ConfigMap> fetched) {
            texts.put(
                    fetched.object().getMetadata().getName(),
                    fetched.object().getData().getOrDefault("text", ""));
        }

        @Override
        public void delete(Fetched<ConfigMap> last) {
            texts.remove(last.object().getMetadata().getName());
        }

        @Override
        public void connected() {
            connected = true;
        }

        @Override
        public void disconnected(ApiServerException cause) {
            connected = false;
            failures.add(cause.reason());
        }
    }

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        leaks.allowWarnings("not a number of seconds");
    }

    @AfterEach
    void tearDown() {
        server.close();
        admin.close();
    }

    @Test
    void reflector_createUpdateDelete_followsEachInTime() {
        TextMirror mirror = new TextMirror();
        try (Reflector<ConfigMap> reflector = reflector(server, "metadata.name=followed", mirror)) {
            reflector.start();
            await().until(() -> mirror.connected);
            write(admin, "followed", "héllo 日本語 🎉");
            write(admin, "ignored", "x");
            await().until(() -> Map.of("followed", "héllo 日本語 🎉").equals(mirror.texts));
            write(admin, "followed", "2");
            await().until(() -> Map.of("followed", "2").equals(mirror.texts));
            admin.configMaps().inNamespace("default").withName("followed").delete();
            await().until(mirror.texts::isEmpty);
        }
        assertThat(mirror.failures).isEmpty();
    }

    @Test
    @Needs(ServerFeature.RBAC)
    void reflector_withoutPermission_isToldAndRecoversOnceGranted() {
        TextMirror mirror = new TextMirror();
        try (KubernetesClient client = real.clientFor("reader");
                Fabric8ApiServer theirs = Fabric8ApiServer.of(client);
                Reflector<ConfigMap> reflector = reflector(theirs, "", mirror)) {
            reflector.start();
            await().until(() -> mirror.failures.contains(FailureReason.FORBIDDEN));

            real.kubectl("create", "clusterrole", "config-reader", "--verb=list,watch", "--resource=configmaps");
            real.kubectl(
                    "create", "clusterrolebinding", "config-reader", "--clusterrole=config-reader", "--user=reader");

            await().until(() -> mirror.connected);
        }
    }

    @Test
    void reflector_serverKilledAndStartedAgain_convergesOnWhatHappenedSince() {
        TextMirror mirror = new TextMirror();
        RealApiServer own = RealApiServer.restartable();
        try (KubernetesClient client = own.client();
                Fabric8ApiServer theirs = Fabric8ApiServer.of(client);
                Reflector<ConfigMap> reflector = reflector(theirs, "metadata.name=followed", mirror)) {
            write(client, "followed", "before");
            reflector.start();
            await().until(() -> mirror.connected);

            own.apiServer().kill();
            await().until(() -> !mirror.connected);
            assertThat(mirror.texts).containsEntry("followed", "before");
            own.apiServer().start();
            write(client, "followed", "after");

            await().until(() -> "after".equals(mirror.texts.get("followed")));
        }
    }

    @Test
    void nodeTtlSource_annotatedByKubectl_changesAtOnce() {
        admin.nodes().resource(node("ttl-node")).create();
        try (NodeLister lister = follow(server, "ttl-node");
                NodeTtlSource source = NodeTtlSource.of(lister, DEFAULT_TTL)) {
            await().until(() -> source.origin().contains("has no annotation"));
            assertThat(source.ttlNanos()).isEqualTo(DEFAULT_TTL.toNanos());

            real.kubectl("annotate", "node", "ttl-node", "node.alpha.kubernetes.io/ttl=5");
            await().until(() -> source.ttlNanos() == TimeUnit.SECONDS.toNanos(5));
            real.kubectl("annotate", "node", "ttl-node", "--overwrite", "node.alpha.kubernetes.io/ttl=bad");
            await().until(() -> source.ttlNanos() == DEFAULT_TTL.toNanos());
            real.kubectl("annotate", "node", "ttl-node", "--overwrite", "node.alpha.kubernetes.io/ttl=0");
            await().until(() -> source.ttlNanos() == 0);
            real.kubectl("delete", "node", "ttl-node");
            await().until(() -> source.origin().equals("default, Node ttl-node does not exist"));
        }
    }

    @Test
    void nodeTtlSource_watchRefused_saysSo() {
        try (KubernetesClient stranger = real.clientFor("stranger");
                Fabric8ApiServer theirs = Fabric8ApiServer.of(stranger);
                NodeLister lister = follow(theirs, "ttl-node");
                NodeTtlSource source = NodeTtlSource.of(lister, DEFAULT_TTL)) {
            await().until(() -> source.origin().contains("403"));

            assertThat(source.origin())
                    .startsWith("default, watch of Node ttl-node failed: LIST nodes with metadata.name=ttl-node was"
                            + " answered 403")
                    .contains("stranger");
            assertThat(source.ttlNanos()).isEqualTo(DEFAULT_TTL.toNanos());
        }
    }

    @Test
    void nodeLister_asANode_mayFollowItself() {
        admin.nodes().resource(node("self")).create();
        try (KubernetesClient kubelet = TestNamespace.clientOf(real.nodeConfig("self"));
                Fabric8ApiServer theirs = Fabric8ApiServer.of(kubelet);
                NodeLister lister = follow(theirs, "self")) {
            await().until(() -> lister.get().isPresent());
            real.kubectl("annotate", "node", "self", "node.alpha.kubernetes.io/ttl=7");

            await().until(() -> "7"
                    .equals(lister.get()
                            .orElseThrow()
                            .getMetadata()
                            .getAnnotations()
                            .get(NodeTtlSource.ANNOTATION)));
        }
    }

    private static NodeLister follow(Fabric8ApiServer server, String name) {
        ListerWatcher<Node> own = server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + name);
        return NodeLister.following(name, own, new Recovery(server.timekeeper(), () -> 0.5));
    }

    private static Reflector<ConfigMap> reflector(Fabric8ApiServer server, String fieldSelector, TextMirror mirror) {
        return new Reflector<>(
                server.listerWatcher(ObjectKind.CONFIG_MAP, "default", fieldSelector),
                mirror,
                new Recovery(server.timekeeper(), () -> 0.5));
    }

    private static Node node(String name) {
        return new NodeBuilder().withNewMetadata().withName(name).endMetadata().build();
    }

    private static void write(KubernetesClient client, String name, String text) {
        client.configMaps()
                .inNamespace("default")
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .withData(Map.of("text", text))
                        .build())
                .createOr(io.fabric8.kubernetes.client.dsl.NonDeletingOperation::update);
    }
}
