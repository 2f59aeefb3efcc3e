package dev.podcache.testing;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.embedded.Verb;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An implementation of the API server ports on an {@link InMemoryCluster}, without HTTP. A call completes on the
 * calling thread before it returns, unless it is held or delayed. Watch events are delivered on the thread that changes
 * the cluster. Calls are recorded for assertions. Thread-safe.
 */
public final class FakeApiServer implements AutoCloseable {

    private final Timekeeper timekeeper;
    private final InMemoryCluster cluster;
    private final Faults faults = new Faults();
    private final List<Action> actions = new CopyOnWriteArrayList<>();
    private final List<Sent> sent = new CopyOnWriteArrayList<>();
    private final List<PlannedFailure> failures = new CopyOnWriteArrayList<>();
    private final List<AssertionError> forbiddenCalls = new CopyOnWriteArrayList<>();
    private final ThreadLocal<Boolean> forbidden = ThreadLocal.withInitial(() -> false);
    private volatile boolean streamsLists;
    private final Set<FakeWatch<?>> openWatches = ConcurrentHashMap.newKeySet();

    /**
     * A call of a port.
     *
     * @param key the key of the object. For a list or watch: the namespace, or "", and the name in its field selector,
     *     or ""
     * @param source where a get, or the list that a watch begins with, reads from; null for other calls
     */
    public record Action(
            Verb verb,
            ObjectKind<?> kind,
            ObjectKey key,
            @Nullable ReadSource source) {}

    /** The object or patch that a create, update or patch sent, as JSON. */
    public record Sent(Verb verb, ObjectKind<?> kind, ObjectKey key, String body) {}

    private record PlannedFailure(RequestPattern pattern, ApiServerException facts, AtomicInteger left) {}

    /** Creates a server with an empty cluster. */
    public FakeApiServer(Timekeeper timekeeper) {
        this(timekeeper, InMemoryCluster.create(timekeeper));
    }

    /** Creates a server for {@code cluster}. Closing the server closes the cluster. */
    public FakeApiServer(Timekeeper timekeeper, InMemoryCluster cluster) {
        this.timekeeper = timekeeper;
        this.cluster = cluster;
    }

    /** Returns the cluster, in which tests create, change and delete objects and hold the watch cache. */
    public InMemoryCluster cluster() {
        return cluster;
    }

    /** Returns the faults of the server. Methods of this class are shorthands for the most common ones. */
    public Faults faults() {
        return faults;
    }

    /** Returns the port to read objects of one kind. */
    public <T extends HasMetadata> ObjectGetter<T> getter(ObjectKind<T> kind) {
        return new FakeGetter<>(this, kind);
    }

    /**
     * Returns the port to list and watch objects of one kind.
     *
     * @param namespace the namespace; empty for all namespaces
     * @param fieldSelector such as {@code metadata.name=db}; empty for no condition
     */
    public <T extends HasMetadata> ListerWatcher<T> listerWatcher(
            ObjectKind<T> kind, String namespace, String fieldSelector) {
        Selection selection = Selection.everything().in(namespace).withFields(Resource.of(kind.model()), fieldSelector);
        return new FakeListerWatcher<>(this, kind, ObjectKey.of(namespace, nameIn(fieldSelector)), selection);
    }

    /** Returns what makes the port to list and watch the objects of a namespace whose names a predicate accepts. */
    public <T extends HasMetadata> BiFunction<String, Predicate<String>, ListerWatcher<T>> inNamespace(
            ObjectKind<T> kind) {
        return (namespace, names) -> new FilteredListerWatcher<>(listerWatcher(kind, namespace, ""), names);
    }

    /** Returns the port to read and write objects of one kind. A call fails after {@code timeout}. */
    public <T extends HasMetadata> ObjectApi<T> api(ObjectKind<T> kind, Duration timeout) {
        return new FakeWrites<>(this, kind, timeout);
    }

    private static String nameIn(String fieldSelector) {
        String prefix = "metadata.name=";
        return fieldSelector.startsWith(prefix) ? fieldSelector.substring(prefix.length()) : "";
    }

    /** Sets whether lists by name may be streamed; not at first. */
    public void setStreamsLists(boolean on) {
        streamsLists = on;
    }

    boolean streamsLists() {
        return streamsLists;
    }

    // The recorded calls

    /** Returns the calls so far, in order. */
    public ImmutableList<Action> actions() {
        return ImmutableList.copyOf(actions);
    }

    /** Returns the bodies of all creates, updates and patches so far, in order. */
    public ImmutableList<Sent> sent() {
        return ImmutableList.copyOf(sent);
    }

    /** Returns the number of calls with this verb. */
    public int count(Verb verb) {
        return Math.toIntExact(
                actions.stream().filter(action -> action.verb() == verb).count());
    }

    /** Returns the number of gets of this object. */
    public int gets(ObjectKey key) {
        return Math.toIntExact(actions.stream()
                .filter(action -> action.verb() == Verb.GET && action.key().equals(key))
                .count());
    }

    /** Clears the recorded calls. */
    public void clearActions() {
        actions.clear();
        sent.clear();
    }

    /** Returns the number of open watches. */
    public int openWatches() {
        return openWatches.size();
    }

    /** Returns whether a watch that selects this object by name is open. */
    public boolean isWatched(ObjectKey key) {
        return openWatches.stream().anyMatch(watch -> watch.key().equals(key));
    }

    // Fault injection

    /** Fails the next {@code times} calls of any port. */
    public void failNext(int times, ApiServerException facts) {
        failNext(times, facts, RequestPattern.any());
    }

    /** Fails the next {@code times} matching calls. */
    public void failNext(int times, ApiServerException facts, RequestPattern pattern) {
        failures.add(new PlannedFailure(pattern, facts, new AtomicInteger(times)));
    }

    /** Removes the failures added by {@link #failNext}, so that calls succeed. */
    public void clearFailures() {
        failures.clear();
    }

    /** Holds gets of the object until they are released. The answer has the state at the arrival of the get. */
    public HeldRequests hold(ObjectKey key) {
        return faults.hold(RequestPattern.any().verb(Verb.GET).key(key));
    }

    /** Holds the next get of the object until it is released, as {@link #hold} does. */
    public HeldRequests holdNext(ObjectKey key) {
        return faults.holdNext(1, RequestPattern.any().verb(Verb.GET).key(key));
    }

    /** Holds gets of the object until they are released. The answer has the state at the release. */
    public HeldRequests holdBeforeReading(ObjectKey key) {
        return faults.holdBeforeReading(RequestPattern.any().verb(Verb.GET).key(key));
    }

    /** Loses the next event of any watch. */
    public void dropNextEvent() {
        faults.dropEvents(1, RequestPattern.any());
    }

    /** Breaks all open watches. */
    public void resetWatches() {
        faults.resetWatches(RequestPattern.any());
    }

    /** Clears the history, so that a watch from any version but the latest gets 410. */
    public void forgetHistory() {
        cluster.forgetHistory();
    }

    /**
     * Runs {@code action} on this thread and fails every call of a port on this thread meanwhile. For code that must
     * not use the network.
     *
     * @throws AssertionError if {@code action} calls a port and does not catch the error; has the stack of the call
     */
    public void forbidCallsOnThisThread(Runnable action) {
        forbidden.set(true);
        try {
            action.run();
        } finally {
            forbidden.remove();
        }
        requireNoForbiddenCalls();
    }

    /**
     * Checks that no forbidden call was made, including calls whose error was caught.
     *
     * @throws AssertionError if a forbidden call was made
     */
    public void requireNoForbiddenCalls() {
        if (!forbiddenCalls.isEmpty()) {
            throw forbiddenCalls.get(0);
        }
    }

    /** Closes the cluster, which ends all watches, and releases held requests. */
    @Override
    public void close() {
        faults.clear();
        cluster.close();
    }

    Timekeeper timekeeper() {
        return timekeeper;
    }

    void record(Action action) {
        actions.add(action);
        if (forbidden.get()) {
            AssertionError error = new AssertionError("this thread must not call the API server: " + action);
            forbiddenCalls.add(error);
            throw error;
        }
    }

    void recordSent(Sent write) {
        sent.add(write);
    }

    @Nullable
    ApiServerException failureOf(ApiRequest request) {
        for (PlannedFailure failure : failures) {
            if (failure.pattern().matches(request) && failure.left().getAndUpdate(n -> n > 0 ? n - 1 : 0) > 0) {
                return failure.facts();
            }
        }
        return null;
    }

    void watchOpened(FakeWatch<?> watch, ApiRequest request) {
        openWatches.add(watch);
        faults.opened(watch, request);
    }

    /** Removes a watch that has ended. Idempotent. */
    void watchClosed(FakeWatch<?> watch) {
        openWatches.remove(watch);
        faults.closed(watch);
    }
}
