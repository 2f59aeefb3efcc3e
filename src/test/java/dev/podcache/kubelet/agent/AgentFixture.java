package dev.podcache.kubelet.agent;

import dev.podcache.Podcache;
import dev.podcache.apiserver.AccessReviews;
import dev.podcache.cli.config.KubeletSettings;
import dev.podcache.cli.config.Setting;
import dev.podcache.cli.config.Settings;
import dev.podcache.kubelet.podconfig.TrustBundleSource;
import dev.podcache.node.NodeLister;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Subject;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FakeTokenRequests;
import dev.podcache.testing.FakeTrustBundles;
import dev.podcache.testing.FixedHost;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.WatchedCaches;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A whole node agent under strategy WATCH, without network and containers, on hand-driven time. */
final class AgentFixture implements AutoCloseable, AfterEachCallback {

    static final String NODE = "worker-1";
    static final ObjectKey NODE_KEY = ObjectKey.of("", NODE);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    final ManualTimekeeper timekeeper = new ManualTimekeeper();
    final FakeApiServer server = new FakeApiServer(timekeeper);
    final FakeTrustBundles trustBundles = new FakeTrustBundles();
    private final List<NodeAgent> agents = new ArrayList<>();

    /** The time of the agent. */
    Timekeeper agentTime = timekeeper;

    /** An agent with these options. */
    NodeAgent agent(UnaryOperator<NodeAgentBuilder> options) {
        return agent(Map.of(), options);
    }

    /** An agent with these fields in its configuration. */
    NodeAgent agent(Map<String, Object> fields) {
        return agent(fields, UnaryOperator.identity());
    }

    private NodeAgent agent(Map<String, Object> fields, UnaryOperator<NodeAgentBuilder> more) {
        Map<String, Setting> settings = new TreeMap<>();
        fields.forEach((name, value) -> settings.put(name, Setting.ofFlag("--" + name, value)));
        NodeAgentBuilder options = new NodeAgentBuilder(ignored -> new FakeAgentServer())
                .node(NODE)
                .facts(new FixedHost())
                .configuration(KubeletSettings.configuration(Settings.NONE, new Settings(settings)))
                .version("v1.0.0")
                .withoutServer()
                .threadsOf((limit, time) -> TaskThreads.on(Runnable::run, limit, time));
        NodeAgent agent = more.apply(options).build();
        agents.add(agent);
        return agent;
    }

    NodeAgent start() {
        NodeAgent agent = agent(Map.of());
        agent.start();
        return agent;
    }

    private record NoReviews() implements AccessReviews {

        @Override
        public CompletableFuture<Optional<Subject>> reviewToken(String token) {
            return CompletableFuture.completedFuture(Optional.empty());
        }

        @Override
        public CompletableFuture<Review> review(Subject user, ResourceAccess access) {
            return CompletableFuture.completedFuture(new Review(false, ""));
        }
    }

    private final class FakeAgentServer implements AgentServer {

        private final WatchedCaches caches = WatchedCaches.of(server);

        @Override
        public NodePorts ports() {
            return new NodePorts(
                    server.api(ObjectKind.NODE, TIMEOUT),
                    server.api(ObjectKind.LEASE, TIMEOUT),
                    () -> {},
                    server.api(ObjectKind.POD, TIMEOUT),
                    server.api(ObjectKind.EVENT, TIMEOUT),
                    server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + NODE),
                    server.listerWatcher(ObjectKind.POD, "", "spec.nodeName=" + NODE),
                    server.listerWatcher(ObjectKind.SERVICE, "", ""),
                    new FakeTokenRequests(),
                    new NoReviews(),
                    agentTime);
        }

        @Override
        public Caches caches(NodeLister node) {
            return new Caches(caches.secrets(), caches.configMaps());
        }

        @Override
        public TrustBundleSource trustBundles() {
            return trustBundles;
        }

        @Override
        public Podcache podcache() {
            throw new UnsupportedOperationException("the caches are no Podcache here");
        }

        @Override
        public void close() {
            caches.close();
        }
    }

    /** Creates pods of our node, with five Secrets each. */
    void createPods(int count) {
        for (int i = 0; i < count; i++) {
            PodBuilder pod = Pods.assigned(NODE, "web-" + i)
                    .editSpec()
                    .withEnableServiceLinks(true)
                    .endSpec();
            for (int j = 0; j < 5; j++) {
                String secret = "s-" + (5 * i + j);
                server.cluster().create(Secrets.of("shop", secret, "v"));
                pod = Pods.withVolume(pod, secret);
            }
            server.cluster().create(pod.build());
        }
    }

    /** Creates a pod of our node that needs nothing. */
    void createLatePod() {
        server.cluster().create(Pods.assigned(NODE, "late").build());
    }

    Node node() {
        return server.cluster().get(Node.class, "", NODE);
    }

    Lease lease() {
        return server.cluster().get(Lease.class, "kube-node-lease", NODE);
    }

    Pod pod(String name) {
        return server.cluster().get(Pod.class, "shop", name);
    }

    String ready() {
        return node().getStatus().getConditions().stream()
                .filter(condition -> "Ready".equals(condition.getType()))
                .map(condition -> condition.getStatus())
                .findFirst()
                .orElse("none");
    }

    boolean exists(Class<? extends HasMetadata> model, ObjectKey key) {
        try {
            server.cluster().get(model, key.namespace(), key.name());
            return true;
        } catch (RuntimeException none) {
            return false;
        }
    }

    /** How many calls of each kind there were since the log was cleared, such as {@code PATCH Node}. */
    Map<String, Long> calls() {
        Map<String, Long> calls = new TreeMap<>();
        server.actions().forEach(action -> calls.merge(action.verb() + " " + action.kind(), 1L, Long::sum));
        return calls;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        agents.forEach(NodeAgent::close);
        trustBundles.close();
        server.close();
        timekeeper.close();
    }
}
