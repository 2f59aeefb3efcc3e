package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.apiserver.fabric8.ServerOnTime;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.node.NodeLister;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FailingTimekeeper;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A cache that cannot be built leaves nothing behind, whichever step fails. */
@ExtendWith(NoLeaks.class)
class PodcacheBuildFailureTest {

    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder().withMasterUrl("http://127.0.0.1:1").build())
            .build();
    private final ManualTimekeeper time = new ManualTimekeeper();

    @AfterEach
    void close() {
        client.close();
        time.close();
    }

    private Fabric8ApiServer server(Timekeeper timekeeper) {
        return ServerOnTime.of(client, RequestLimit.DEFAULT, timekeeper, (request, status) -> {});
    }

    /** The builder of a cache that opens everything that a cache can open. */
    private static PodcacheBuilder builder(Fabric8ApiServer server, boolean owned) {
        return new PodcacheBuilder(() -> server, owned)
                .strategy(ChangeDetectionStrategy.CACHE)
                .strategy(ObjectKind.CONFIG_MAP, ChangeDetectionStrategy.WATCH)
                .payloadBudget(1 << 20)
                .poll(key -> false)
                .node("worker-1");
    }

    @Test
    void build_anyStepThrows_theSharedServerHasNoWatchAndNoTimer(NoLeaks leaks) {
        leaks.allowWarnings("worker-1");
        FailingTimekeeper failing = new FailingTimekeeper(time);
        int thrown = 0;
        try (Fabric8ApiServer shared = server(failing)) {
            for (int nth = 1; failsAt(nth, failing, builder(shared, false)); nth++) {
                thrown++;
                assertThat(time.scheduledTasks())
                        .as("timers after a throw at call %s", nth)
                        .isZero();
            }
        }
        assertThat(thrown).as("steps that threw").isPositive();
    }

    @Test
    void build_anyStepThrows_theOwnServerIsClosed(NoLeaks leaks) {
        leaks.allowWarnings("worker-1");
        boolean failed = true;
        for (int nth = 1; failed; nth++) {
            AtomicBoolean closed = new AtomicBoolean();
            FailingTimekeeper failing = new FailingTimekeeper(new ForwardingTimekeeper(time) {
                @Override
                public void close() {
                    closed.set(true);
                }
            });
            failed = failsAt(nth, failing, builder(server(failing), true));
            assertThat(closed).as("the server after a throw at call %s", nth).isTrue();
        }
    }

    @Test
    void build_listerOfTheCallerThrows_hasNoListener() {
        List<Runnable> listeners = new ArrayList<>();
        try (Fabric8ApiServer shared = server(time)) {
            PodcacheBuilder builder = builder(shared, false).nodeLister(new BrokenLister(listeners));

            assertThatIllegalStateException().isThrownBy(builder::build).withMessage("broken lister");
        }
        assertThat(listeners).isEmpty();
    }

    @Test
    void build_transformIsForAnotherModelClass_isRefusedBeforeTheServerIsMade() {
        ObjectKind<GenericKubernetesResource> generic = ObjectKind.of("v1", "Secret", "secrets", true);
        PodcacheBuilder builder = new PodcacheBuilder(
                        () -> {
                            throw new AssertionError("a server was made");
                        },
                        true)
                .transform(generic, secret -> secret);

        assertThatIllegalArgumentException()
                .isThrownBy(builder::build)
                .withMessageContaining("use this class for the kind");
    }

    private static boolean failsAt(int nth, FailingTimekeeper failing, PodcacheBuilder builder) {
        failing.throwAt(nth);
        try {
            Podcache built = builder.build();
            failing.throwNoMore();
            built.close();
            return false;
        } catch (IllegalStateException e) {
            assertThat(e).hasMessage(FailingTimekeeper.MESSAGE);
            return true;
        }
    }

    /** A lister of a caller that can only be listened to. */
    private record BrokenLister(List<Runnable> listeners) implements NodeLister {

        @Override
        public String name() {
            return "worker-1";
        }

        @Override
        public Optional<Node> get() {
            throw new IllegalStateException("broken lister");
        }

        @Override
        public Optional<String> problem() {
            return Optional.empty();
        }

        @Override
        public void addListener(Runnable listener) {
            listeners.add(listener);
        }

        @Override
        public void removeListener(Runnable listener) {
            listeners.remove(listener);
        }

        @Override
        public void close() {}
    }
}
