package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;

/** Whatever happens, and whenever the listener gets to run, its events tell one story that ends with the truth. */
class ListenProperties {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final Referrer OWNER = PodKey.of("shop", "web", "uid-web");

    /** What may happen to the object, its owner, its watch and its listener. */
    enum ListenStep {
        PUT,
        DELETE,
        REGISTER,
        UNREGISTER,
        /** The listener unregisters the owner, with the event that it gets next. */
        UNREGISTER_IN_LISTENER,
        LOSE_WATCH,
        PASS_TIME,
        RUN_LISTENER
    }

    @Property
    void events_tellOneStoryThatEndsWithTheTruth(@ForAll @Size(max = 40) List<ListenStep> steps) throws Exception {
        ListenWorld world = new ListenWorld();
        steps.forEach(world::take);
        world.take(ListenStep.PASS_TIME);
        world.take(ListenStep.RUN_LISTENER);
        world.requireTheTruth();

        world.subscription.close();
        world.closed = true;
        steps.forEach(world::take);
        world.requireNothingWrong();
    }

    /** A store on a server, a listener that runs when a step says so, and what it has been told so far. */
    private static final class ListenWorld {

        private final ManualTimekeeper timekeeper = new ManualTimekeeper();
        private final FakeApiServer server = new FakeApiServer(timekeeper);
        private final WatchObjectStore<Secret> store = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(timekeeper),
                WatchTimes.DEFAULT);
        private final Manager<Secret> manager = Managers.caching(store, pod -> Set.of());
        private final Queue<Runnable> tasks = new ArrayDeque<>();
        private final AutoCloseable subscription = manager.listen(tasks::add, this::receive);
        private boolean closed;
        private boolean registered;
        private boolean unregisters;
        private @Nullable Secret atServer;
        private @Nullable Secret received;
        private boolean stale;
        private int written;
        /** Wrong events; asserted outside of the listener, because a subscription catches what it throws. */
        private final List<String> wrong = new ArrayList<>();

        private void take(ListenStep step) {
            switch (step) {
                case PUT -> put();
                case DELETE -> delete();
                case REGISTER -> {
                    registered = true;
                    manager.register(OWNER, Set.of(DB));
                }
                case UNREGISTER -> unregister();
                case UNREGISTER_IN_LISTENER -> unregisters = true;
                case LOSE_WATCH -> server.resetWatches();
                case PASS_TIME -> timekeeper.advance(Duration.ofMinutes(1));
                case RUN_LISTENER -> runListener();
            }
        }

        private void unregister() {
            manager.unregister(OWNER);
            registered = false;
            received = null;
            stale = false;
        }

        private void put() {
            Secret next = Secrets.of(DB, "v" + written++);
            atServer = atServer == null
                    ? server.cluster().create(next)
                    : server.cluster().update(next);
        }

        private void delete() {
            if (atServer != null) {
                server.cluster().delete(atServer);
                atServer = null;
            }
        }

        private void runListener() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }

        private void receive(ObjectEvent<Secret> event) {
            require(!closed, "after the close", event);
            require(registered, "without an owner", event);
            require(event.referrers().equals(Set.of(OWNER)), "with other referrers", event);
            Secret previous = event.previous().orElse(null);
            switch (event.type()) {
                case ADDED -> require(received == null && previous == null, "although it was there", event);
                case UPDATED, DELETED ->
                    require(received != null && received.equals(previous), "with another previous object", event);
                case STALE -> require(!stale, "twice", event);
                case RECOVERED -> require(stale, "without a loss", event);
                case DENIED, ALLOWED -> require(false, "without a subject", event);
            }
            switch (event.type()) {
                case STALE -> stale = true;
                case RECOVERED -> stale = false;
                default -> {
                    require(!event.current().equals(event.previous()), "without a change", event);
                    received = event.current().orElse(null);
                }
            }
            if (unregisters) {
                unregisters = false;
                unregister();
            }
        }

        private void require(boolean right, String otherwise, ObjectEvent<Secret> event) {
            if (!right) {
                wrong.add(event + " " + otherwise);
            }
        }

        private void requireNothingWrong() {
            assertThat(wrong).isEmpty();
        }

        private void requireTheTruth() {
            requireNothingWrong();
            assertThat(tasks).isEmpty();
            assertThat(received).isEqualTo(registered ? atServer : null);
            assertThat(stale).isFalse();
        }
    }
}
