package dev.podcache.manager;

import com.google.common.collect.Comparators;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.AccessReviews.Review;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Quoted;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import dev.podcache.store.Store;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches Roles, ClusterRoles and their bindings in all namespaces. A change has the reviews of owners' subjects made again,
 * and has reviewed what our own credentials may watch: a watch of ours goes on although it may not be begun any more, so it
 * is closed. Thread-safe.
 *
 * <p>Until the first lists are answered, at most two seconds, no review is sent: its answer might be older than the first
 * change that is seen. How long these took tells whether the API server is far away. What the identity may not watch is
 * tried again after growing pauses; until then, reviews are as old as they are without this.
 *
 * @hidden
 */
@NotApi
public final class RbacWatch implements AutoCloseable {

    /*
     * The monitor guards everything that is not final. Nothing is called under it but timers.
     *
     * What watches roles and what the API server decides by are updated independently of each other, so after a change our
     * own access is reviewed several times. CachedReviews does the same for subjects.
     */

    /** The kinds that say who may do what, under RBAC. */
    static final List<ObjectKind<GenericKubernetesResource>> KINDS = List.of(
            kind("Role", true),
            kind("RoleBinding", true),
            kind("ClusterRole", false),
            kind("ClusterRoleBinding", false));

    private static final Logger log = LoggerFactory.getLogger(RbacWatch.class);

    /** When our own access is reviewed, after the last change. */
    private static final List<Duration> LOOKS =
            List.of(Duration.ofMillis(100), Duration.ofMillis(1500), Duration.ofSeconds(4), Duration.ofSeconds(11));

    /** Between the first of these after one change, and that after another one: changes may come without end. */
    private static final Duration LOOK_PERIOD = Duration.ofSeconds(1);

    private static final Duration LONGEST_HOLD = Duration.ofSeconds(2);

    private final CachedReviews reviews;
    private final Managers managers;
    private final Timekeeper timekeeper;
    private final List<ChangeSink> sinks = new ArrayList<>();
    private final Map<String, Look> looks = new HashMap<>(); // by namespace; guarded by this, like all that follows
    private final List<Duration> answers = new ArrayList<>(); // how long the first lists took
    private long startedAt;
    private int unanswered = KINDS.size();
    private boolean released;
    private boolean closed;
    private Timekeeper.@Nullable Scheduled holdEnd;

    /**
     * A review of our own access that is to come.
     *
     * @param times how many came before it since the last change
     * @param lastAt when the one before came, if there was one
     */
    private record Look(int times, long lastAt, Timekeeper.Scheduled timer) {}

    private static ObjectKind<GenericKubernetesResource> kind(String name, boolean namespaced) {
        return ObjectKind.of("rbac.authorization.k8s.io/v1", name, name.toLowerCase(Locale.ROOT) + "s", namespaced);
    }

    /**
     * Makes a watch that is not open yet, and holds the reviews.
     *
     * @param server returns what lists and watches a kind in all namespaces
     */
    public RbacWatch(
            Function<ObjectKind<GenericKubernetesResource>, ListerWatcher<GenericKubernetesResource>> server,
            Recovery recovery,
            CachedReviews reviews,
            Managers managers,
            Timekeeper timekeeper) {
        this.reviews = reviews;
        this.managers = managers;
        this.timekeeper = timekeeper;
        reviews.hold();
        for (ObjectKind<GenericKubernetesResource> kind : KINDS) {
            sinks.add(new ChangeSink(kind, server.apply(kind), recovery));
        }
    }

    /** Opens the watches. Returns at once. */
    public void start() {
        synchronized (this) {
            startedAt = timekeeper.nanoTime();
            holdEnd = timekeeper.schedule(LONGEST_HOLD, this::release);
        }
        sinks.forEach(sink -> sink.reflector.start());
    }

    /** Counts a first list that was answered or has failed. */
    private void ended(boolean answered) {
        boolean all;
        synchronized (this) {
            if (answered) {
                answers.add(Duration.ofNanos(timekeeper.nanoTime() - startedAt));
            }
            unanswered--;
            all = unanswered == 0;
        }
        if (all) {
            release();
        }
    }

    private void release() {
        List<Duration> whole;
        synchronized (this) {
            released = true;
            whole = answers.size() == KINDS.size() ? List.copyOf(answers) : List.of();
            if (holdEnd != null) {
                holdEnd.cancel();
                holdEnd = null;
            }
        }
        reviews.release(whole);
    }

    private synchronized boolean isReleased() {
        return released;
    }

    /** Has all reviewed again that a change in a namespace may concern, or of all if it is empty. */
    private void changed(String namespace) {
        reviews.accessChanged(namespace);
        lookSoon(namespace);
    }

    /** Has our own access reviewed soon after a change, unless that is to come already, which is not put off. */
    private synchronized void lookSoon(String namespace) {
        Look earlier = looks.get(namespace);
        if (closed || (earlier != null && earlier.times == 0)) {
            return;
        }
        Duration wait = LOOKS.get(0);
        if (earlier != null) {
            earlier.timer.cancel();
            Duration rest = LOOK_PERIOD.minusNanos(timekeeper.nanoTime() - earlier.lastAt);
            wait = Comparators.max(wait, rest);
        }
        look(namespace, 0, wait);
    }

    private synchronized void look(String namespace, int times, Duration wait) {
        if (!closed) {
            looks.put(
                    namespace,
                    new Look(
                            times,
                            timekeeper.nanoTime(),
                            timekeeper.schedule(wait, () -> reviewOwn(namespace, times))));
        }
    }

    private void reviewOwn(String namespace, int times) {
        synchronized (this) {
            looks.remove(namespace);
            if (times + 1 < LOOKS.size()) {
                look(namespace, times + 1, LOOKS.get(times + 1).minus(LOOKS.get(times)));
            }
        }
        managers.stores()
                .forEach(store -> store.watched().stream()
                        .filter(selection -> namespace.isEmpty() || namespace.equals(selection.namespace()))
                        .collect(Collectors.groupingBy(ObjectKey::namespace))
                        .forEach((in, selections) -> reviewOwn(store, in, selections)));
    }

    private void reviewOwn(Store<?> store, String namespace, List<ObjectKey> selections) {
        if (selections.size() == 1) {
            closeIfRefused(store, selections.get(0));
        } else {
            // only changes of RBAC are seen here, and by RBAC whoever may watch a namespace may watch each object in it
            reviewOwn(
                    store,
                    ObjectKey.of(namespace, ""),
                    refused -> selections.forEach(selection -> closeIfRefused(store, selection)));
        }
    }

    private void closeIfRefused(Store<?> store, ObjectKey selection) {
        reviewOwn(store, selection, refused -> close(store, selection, refused));
    }

    private void reviewOwn(Store<?> store, ObjectKey selection, Consumer<Review> refused) {
        ResourceAccess watch = ResourceAccess.of(store.kind(), selection, "watch");
        reviews.reviewOwn(watch).whenComplete((review, failure) -> {
            FailureReason failed = ApiServerException.reasonOf(failure);
            if (review != null && !review.allowed()) {
                refused.accept(review);
            } else if (failed != null && Retries.mayPass(failed)) {
                lookOnceMore(selection.namespace());
            }
        });
    }

    /** Has our own access reviewed again if that failed and would not be repeated. */
    private synchronized void lookOnceMore(String namespace) {
        if (!looks.containsKey(namespace)) {
            int last = LOOKS.size() - 1;
            look(namespace, last, LOOKS.get(last).minus(LOOKS.get(last - 1)));
        }
    }

    private static void close(Store<?> store, ObjectKey selection, Review review) {
        String what = selection.name().isEmpty()
                ? store.kind().plural() + " of namespace " + selection.namespace()
                : store.kind() + " " + selection;
        log.info("our access to watch {} was revoked: the watch is closed, and opened again when it is allowed", what);
        store.revoked(
                selection,
                new ApiServerException(
                        FailureReason.FORBIDDEN,
                        403,
                        null,
                        "WATCH " + what + ": access was revoked"
                                + (review.reason().isEmpty() ? "" : ", ") + Quoted.text(review.reason()),
                        null));
    }

    /** Tells of the changes of one kind. Called by one thread at a time. */
    private final class ChangeSink implements ReflectorSink<GenericKubernetesResource> {

        private final ObjectKind<?> kind;
        private final Reflector<GenericKubernetesResource> reflector;
        private boolean first = true;
        private boolean failing;

        ChangeSink(ObjectKind<?> kind, ListerWatcher<GenericKubernetesResource> server, Recovery recovery) {
            this.kind = kind;
            this.reflector = new Reflector<>(server, this, recovery);
        }

        @Override
        public void replace(List<Fetched<GenericKubernetesResource>> items, String resourceVersion) {
            boolean nothingReviewed = first && !isReleased();
            ended(true);
            if (!nothingReviewed) {
                // it is not known what has changed meanwhile
                changed("");
            }
        }

        private void ended(boolean answered) {
            if (first) {
                first = false;
                RbacWatch.this.ended(answered);
            }
        }

        @Override
        public void upsert(Fetched<GenericKubernetesResource> fetched) {
            changed(namespaceOf(fetched));
        }

        @Override
        public void delete(Fetched<GenericKubernetesResource> last) {
            changed(namespaceOf(last));
        }

        private static String namespaceOf(Fetched<GenericKubernetesResource> fetched) {
            return Objects.requireNonNullElse(fetched.object().getMetadata().getNamespace(), "");
        }

        @Override
        public void connected() {
            if (failing) {
                failing = false;
                log.info("{} are watched again", kind.plural());
            }
        }

        @Override
        public void disconnected(ApiServerException cause) {
            if (!failing && cause.reason() != FailureReason.EXPIRED) {
                failing = true;
                log.warn(
                        "{} are not watched: until they are, a revoked access is noticed after five minutes; retrying: {}",
                        kind.plural(),
                        cause.getMessage());
            }
            ended(false);
        }
    }

    /** Closes the watches. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            looks.values().forEach(look -> look.timer.cancel());
            looks.clear();
            if (holdEnd != null) {
                holdEnd.cancel();
            }
        }
        sinks.forEach(sink -> sink.reflector.close());
    }
}
