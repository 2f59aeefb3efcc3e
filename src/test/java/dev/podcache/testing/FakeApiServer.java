package dev.podcache.testing;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.Held;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.embedded.Verb;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ReadConsistency;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The ports to the API server straight over an {@link InMemoryCluster}, with no HTTP between. Calls are answered on the
 * thread that makes them, before they return, unless they are held or delayed; watch events are told on the thread that
 * changes the cluster. Every call is written to a log that tests compare with. Thread-safe.
 */
public final class FakeApiServer implements AutoCloseable {

    private final Timekeeper timekeeper;
    private final InMemoryCluster cluster;
    private final Faults faults = new Faults();
    private final List<Action> actions = new CopyOnWriteArrayList<>();
    private final List<Sent> sent = new CopyOnWriteArrayList<>();
    private final List<Failure> failures = new CopyOnWriteArrayList<>();
    private final List<AssertionError> forbiddenCalls = new CopyOnWriteArrayList<>();
    private final ThreadLocal<Boolean> forbidden = ThreadLocal.withInitial(() -> false);
    private final Set<FakeWatch<?>> openWatches = ConcurrentHashMap.newKeySet();

    /**
     * One call of a port.
     *
     * @param key of a list or watch: the namespace, or "", and the name that its field selector asks for, or ""
     * @param freshness of a get; null of others
     */
    public record Action(
            Verb verb,
            ObjectKind<?> kind,
            ObjectKey key,
            @Nullable ReadConsistency freshness) {}

    /** What a create, an update or a patch sent, as JSON. */
    public record Sent(Verb verb, ObjectKind<?> kind, ObjectKey key, String body) {}

    private record Failure(RequestPattern pattern, ApiServerException facts, AtomicInteger left) {}

    /** A server with an empty cluster. */
    public FakeApiServer(Timekeeper timekeeper) {
        this(timekeeper, InMemoryCluster.create(timekeeper));
    }

    /** A server of {@code cluster}, which closes with it. */
    public FakeApiServer(Timekeeper timekeeper, InMemoryCluster cluster) {
        this.timekeeper = timekeeper;
        this.cluster = cluster;
    }

    /** What is served: the place to create, change and delete objects, and to let the watch cache lag. */
    public InMemoryCluster cluster() {
        return cluster;
    }

    /** All that can go wrong; the methods here are shorthands for what tests need most. */
    public Faults faults() {
        return faults;
    }

    /** The port to read one object. */
    public <T extends HasMetadata> ObjectGetter<T> getter(ObjectKind<T> kind) {
        return new FakeGetter<>(this, kind);
    }

    /**
     * The port to list and watch.
     *
     * @param namespace empty for all
     * @param fieldSelector such as {@code metadata.name=db}; empty for no condition
     */
    public <T extends HasMetadata> ListerWatcher<T> listerWatcher(
            ObjectKind<T> kind, String namespace, String fieldSelector) {
        Selection selection = Selection.everything().in(namespace).withFields(Resource.of(kind.model()), fieldSelector);
        return new FakeListerWatcher<>(this, kind, ObjectKey.of(namespace, nameIn(fieldSelector)), selection);
    }

    /** Reads and writes objects of one kind; each call ends after {@code timeout} at the latest. */
    public <T extends HasMetadata> ObjectApi<T> api(ObjectKind<T> kind, Duration timeout) {
        return new FakeWrites<>(this, kind, timeout);
    }

    private static String nameIn(String fieldSelector) {
        String prefix = "metadata.name=";
        return fieldSelector.startsWith(prefix) ? fieldSelector.substring(prefix.length()) : "";
    }

    // The log

    /** What was called so far, in order. */
    public ImmutableList<Action> actions() {
        return ImmutableList.copyOf(actions);
    }

    /** What creates, updates and patches sent so far, in order. */
    public ImmutableList<Sent> sent() {
        return ImmutableList.copyOf(sent);
    }

    /** How many calls there were with that verb. */
    public int count(Verb verb) {
        return Math.toIntExact(
                actions.stream().filter(action -> action.verb() == verb).count());
    }

    /** How many gets of that object there were. */
    public int gets(ObjectKey key) {
        return Math.toIntExact(actions.stream()
                .filter(action -> action.verb() == Verb.GET && action.key().equals(key))
                .count());
    }

    /** Begins the log anew. */
    public void clearActions() {
        actions.clear();
        sent.clear();
    }

    /** How many watches are open. */
    public int openWatches() {
        return openWatches.size();
    }

    /** Whether a watch of that object, by its name, is open. */
    public boolean isWatched(ObjectKey key) {
        return openWatches.stream().anyMatch(watch -> watch.key().equals(key));
    }

    // What goes wrong

    /** Fails the next {@code times} calls, of whatever port. */
    public void failNext(int times, ApiServerException facts) {
        failNext(times, facts, RequestPattern.any());
    }

    /** Fails the next {@code times} matching calls. */
    public void failNext(int times, ApiServerException facts, RequestPattern pattern) {
        failures.add(new Failure(pattern, facts, new AtomicInteger(times)));
    }

    /** Forgets what {@link #failNext} was told: from now on calls succeed. */
    public void clearFailures() {
        failures.clear();
    }

    /** Reads the object when a get of it comes, and answers when released. */
    public Held hold(ObjectKey key) {
        return faults.hold(RequestPattern.any().verb(Verb.GET).key(key));
    }

    /** The same for the next get of the object only. */
    public Held holdNext(ObjectKey key) {
        return faults.holdNext(1, RequestPattern.any().verb(Verb.GET).key(key));
    }

    /** Holds gets of the object; its state is read when they are released. */
    public Held holdBeforeReading(ObjectKey key) {
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

    /** Answers 410 to watches from any version but the newest. */
    public void forgetHistory() {
        cluster.forgetHistory();
    }

    /**
     * Runs {@code action} on this thread, which must call no port meanwhile: for code that must not go to the network.
     *
     * @throws AssertionError if it did, with the call's stack
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
     * Fails if any call was made that was forbidden, even if the code under test swallowed what it threw.
     *
     * @throws AssertionError if there was one
     */
    public void requireNoForbiddenCalls() {
        if (!forbiddenCalls.isEmpty()) {
            throw forbiddenCalls.get(0);
        }
    }

    /** Ends all watches and releases what is held. */
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
        for (Failure failure : failures) {
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

    /** May be told more than once. */
    void watchClosed(FakeWatch<?> watch) {
        openWatches.remove(watch);
        faults.closed(watch);
    }
}
