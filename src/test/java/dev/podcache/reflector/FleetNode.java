package dev.podcache.reflector;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.http.ModelConnection;
import dev.podcache.kubelet.nodelease.NodeLeaseController;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.UnsupportedObjectApi;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;

/**
 * One node of a simulated fleet: real reflectors with a real {@link Recovery}, the real gate of dialling and the real
 * renewal of the Lease, over two connections to a {@link FleetServer}. For one thread.
 */
final class FleetNode {

    private static final Duration HEARTBEAT_TIMEOUT = Duration.ofSeconds(10);

    private final FleetServer server;
    private final Timekeeper time;
    private final ModelConnection watches;
    private final ModelConnection heartbeats;
    private final NodeLeaseController lease;
    private final List<Sink> sinks = new ArrayList<>();
    private final List<Reflector<String>> reflectors = new ArrayList<>();
    private final Set<FleetAnswer<?>> awaited = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<FleetWatch> open = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean renewed;
    private boolean reported;

    /**
     * A node that does nothing yet.
     *
     * @param objects that it follows by name, besides its own Node and its pods
     */
    FleetNode(FleetServer server, Timekeeper time, DoubleSupplier random, int objects) {
        this.server = server;
        this.time = time;
        this.watches = ModelConnection.gated(server::connect, time, random);
        this.heartbeats = ModelConnection.ofHeartbeats(server::connect);
        Recovery recovery = new Recovery(time, random);
        for (int i = 0; i < objects; i++) {
            reflectors.add(Reflector.ofOneObject(new FleetListerWatcher("object " + i), sink(), recovery));
        }
        Recovery own = new Recovery(time, random);
        reflectors.add(new Reflector<>(new FleetListerWatcher("the Node"), sink(), own));
        reflectors.add(new Reflector<>(new FleetListerWatcher("pods"), sink(), own));
        NodeLeaseOptions options = new NodeLeaseOptions("worker", NodeLeaseOptions.DEFAULT_DURATION, () -> {});
        this.lease = new NodeLeaseController(new Leases("worker"), new UnsupportedObjectApi<>() {}, options, time);
    }

    void start() {
        reflectors.forEach(Reflector::start);
        lease.startAsync();
    }

    /** The server is gone, and all connections with it. */
    void lost() {
        watches.lost();
        heartbeats.lost();
        renewed = false;
        reported = false;
        sinks.forEach(sink -> sink.upToDate = false);
        List<FleetWatch> watched = List.copyOf(open);
        open.clear();
        watched.forEach(watch -> watch.end(closed()));
        List<FleetAnswer<?>> asked = List.copyOf(awaited);
        awaited.clear();
        asked.forEach(answer -> answer.completeExceptionally(closed()));
    }

    private Sink sink() {
        Sink sink = new Sink();
        sinks.add(sink);
        return sink;
    }

    private void upToDate() {
        if (!reported && renewed && sinks.stream().allMatch(sink -> sink.upToDate)) {
            reported = true;
            server.second().recovered++;
        }
    }

    private static ApiServerException closed() {
        return ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, "fleet", "the connection was closed", null);
    }

    /** What becomes of one request. */
    private static final class FleetAnswer<T> extends CompletableFuture<T> {}

    private <T> CompletableFuture<T> ask(ModelConnection over, Duration timeout, T value) {
        FleetAnswer<T> answer = new FleetAnswer<>();
        awaited.add(answer);
        Timekeeper.Scheduled deadline = time.schedule(
                timeout,
                () -> answer.completeExceptionally(ApiServerException.withoutAnswer(
                        FailureReason.TIMEOUT, "fleet", "no answer in " + timeout, null)));
        over.send(
                () -> server.request(
                        over.equals(heartbeats), () -> answer.complete(value), answer::completeExceptionally),
                thrown -> answer.completeExceptionally(NoAnswer.because("fleet", "server", thrown)));
        return answer.whenComplete((done, thrown) -> {
            awaited.remove(answer);
            deadline.cancel();
        });
    }

    private final class Sink implements ReflectorSink<String> {
        private boolean upToDate;

        @Override
        public void replace(List<Fetched<String>> items, String resourceVersion) {}

        @Override
        public void upsert(Fetched<String> fetched) {}

        @Override
        public void delete(Fetched<String> last) {}

        @Override
        public void connected() {
            upToDate = true;
            upToDate();
        }

        @Override
        public void disconnected(ApiServerException cause) {
            upToDate = false;
        }
    }

    /** What a list and a watch of one selection ask for. */
    private final class FleetListerWatcher implements ListerWatcher<String> {

        private final String name;

        FleetListerWatcher(String name) {
            this.name = name;
        }

        @Override
        public CompletableFuture<Listed<String>> list(Duration timeout) {
            return ask(watches, timeout, "").thenApply(nothing -> new Listed<>(ImmutableList.of(), server.version()));
        }

        @Override
        public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<String>> events) {
            FleetWatch watch = new FleetWatch(events);
            open.add(watch);
            watches.send(
                    () -> server.request(false, () -> watch.answered(resourceVersion), watch::end),
                    thrown -> watch.end(NoAnswer.because("fleet", "server", thrown)));
            return () -> open.remove(watch);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private final class FleetWatch {

        private final Consumer<WatchEvent<String>> events;
        private boolean ended;

        FleetWatch(Consumer<WatchEvent<String>> events) {
            this.events = events;
        }

        void answered(String from) {
            if (!open.contains(this)) {
                return;
            }
            if (server.hasForgotten(from)) {
                end(new ApiServerException(FailureReason.EXPIRED, 410, null, "too old resource version", null));
            } else {
                events.accept(new WatchEvent.Opened<>());
            }
        }

        void end(ApiServerException failure) {
            open.remove(this);
            if (!ended) {
                ended = true;
                events.accept(new WatchEvent.Ended<>(failure));
            }
        }
    }

    private final class Leases extends UnsupportedObjectApi<Lease> {

        private Lease stored;

        Leases(String node) {
            OwnerReference owner = new OwnerReference("v1", null, null, "Node", node, "uid");
            stored = new LeaseBuilder()
                    .withNewMetadata()
                    .withNamespace("kube-node-lease")
                    .withName(node)
                    .withOwnerReferences(owner)
                    .endMetadata()
                    .withNewSpec()
                    .withHolderIdentity(node)
                    .endSpec()
                    .build();
        }

        @Override
        public CompletableFuture<Lease> get(ObjectKey key) {
            return ask(heartbeats, HEARTBEAT_TIMEOUT, stored);
        }

        @Override
        public CompletableFuture<Lease> update(Lease object) {
            return ask(heartbeats, HEARTBEAT_TIMEOUT, object).thenApply(lease -> {
                stored = lease;
                renewed = true;
                upToDate();
                return lease;
            });
        }
    }
}
