package dev.podcache.apiserver;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.google.common.collect.ComparisonChain;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.AccessReviews.Review;
import dev.podcache.object.FailureReason;
import dev.podcache.object.Quoted;
import dev.podcache.object.Subject;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reviews what subjects may do, and remembers the answers as the kubelet does: an allowed access for 5 min, a denied one
 * for 30 s, each up to a fifth less at random. One review is asked for a pair of subject and access, however many wait for
 * it. At most {@value #FIRST_IN_FLIGHT} are in flight at first. If the server is far away, so that more of them do not make its
 * answers slower, up to {@value #MOST_IN_FLIGHT} are. A pair is reviewed at most twice a second, and {@value #BURST} times before that
 * counts. Thread-safe; no method blocks.
 *
 * <p>{@link #review} asks once. {@link #follow} asks again whenever an answer is too old, and reports each change. While
 * the API server does not answer, an allowed access that is followed stays allowed for twice its time.
 *
 * <p><b>Changes of access.</b> {@link #accessChanged} says that roles or bindings have changed. What watches them and what
 * the API server decides by are updated independently of each other: the server may answer by the old ones for ten seconds.
 * So an answer is unsettled if a change came in the ten seconds before its review began, or later. Whatever changes and
 * answers come in whatever order:
 *
 * <ul>
 *   <li>A pair has one review in flight, so its answers come in the order of their reviews. Nobody is allowed or denied by
 *       an answer that is older than the last change which was seen before its review began.
 *   <li>An unsettled answer that allows counts until eleven seconds after the first of these changes, or after ten seconds
 *       before its review began if that is later: so for at least a second from its request. An access that was revoked ends
 *       at most eleven seconds after the change was seen, whether or not anything is answered, unless a review that began ten
 *       seconds after the change, or later, allows it.
 *   <li>An answer that a change has overtaken, which came after its review began, does not count: it only keeps what is
 *       allowed as long as it would count, and the review is repeated. The third in a row counts, and so does each after it
 *       until one is not overtaken. So changes without end deny nobody who is allowed, if the server answers within half a
 *       second, and leave nobody undecided, if it answers at all.
 * </ul>
 */
public final class CachedReviews implements AutoCloseable {

    /*
     * The monitor guards everything but `Pair.allowed`, which is written under it. Under the monitor, timers are set;
     * reviews are sent and listeners are called without it.
     *
     * A pair is in `pairs` while it is followed, while somebody waits for one answer, and while a review of it is in flight.
     * What is known of one that nobody needs goes to `kept`, which is bounded: it has no timer, so it is never allowed.
     *
     * state of a pair    queued   asked    moves to
     * ----------------------------------------------------------------------------------------------------
     * resting            no       null     queued: at `askAt`, or when access has changed, but not before its pace allows
     * queued             yes      null     asked, when fewer than `window` are and no pause lasts
     * asked              no       set      resting, with an answer or a failure, or because a change has overtaken its answer
     *
     * A pair is allowed from an answer that says so until one that does not, or until `countsUntil`.
     *
     * Pace. `paceAt` moves on by PERIOD with each review, and is never behind the present then. A review may begin from
     * (BURST - 1) * PERIOD before it on. So the first reviews after a rest follow at once, and in any time T at most
     * T / PERIOD + BURST begin. It is kept with the answer of a pair that nobody needs.
     *
     * Window. A server that is busy answers more slowly with each review, and one that is far away does not. So the window is
     * opened by ENOUGH answers in a row that took long, but hardly longer than the fastest, while more were queued; or by what
     * was answered so while reviews were held. One that took twice as long as the fastest closes it again, and so does a
     * failure, such as 429. Where answers are faster than FAR, FIRST_IN_FLIGHT of them are a thousand a second, and that is
     * enough.
     *
     * Whatever throws: a review that began is ended by `endLocked`, which allocates nothing; what else was left undone is
     * `unsound`, and is looked for before the next review is sent.
     */

    /** The longest time for which an allowed access counts. */
    public static final Duration ALLOWED_FOR = Duration.ofMinutes(5);

    /** The longest time for which a denied access counts. */
    public static final Duration DENIED_FOR = Duration.ofSeconds(30);

    static final int FIRST_IN_FLIGHT = 256;
    static final int MOST_IN_FLIGHT = 2048;
    static final Duration UNSETTLED = Duration.ofSeconds(10);
    static final Duration UNSETTLED_ALLOWED_FOR = Duration.ofSeconds(1);
    static final Duration GATHER = Duration.ofMillis(100);

    /** The time between two reviews of a pair, once {@value #BURST} have followed each other more quickly. */
    static final Duration PERIOD = Duration.ofMillis(500);

    static final int BURST = 3;

    /** How many answers in a row may be overtaken by changes: the last of them counts. */
    static final int MOST_OVERTAKEN = 3;

    private static final Logger log = LoggerFactory.getLogger(CachedReviews.class);
    private static final int MOST_ANSWERS = 10_000;
    private static final double SPREAD = 0.2;

    /** A server that takes longer for an answer is far away: {@link #FIRST_IN_FLIGHT} are less than a thousand a second. */
    private static final Duration FAR = Duration.ofMillis(FIRST_IN_FLIGHT);

    /** How many answers in a row open the window. */
    private static final int ENOUGH = FIRST_IN_FLIGHT / 2;

    private static final long FIRST_PAUSE = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofSeconds(30).toNanos();
    private static final long SHORTEST_UNSETTLED = Duration.ofMillis(200).toNanos();

    /** How long one that is not allowed may be queued behind those that are; then they take turns. */
    private static final long LONG_QUEUED = Duration.ofSeconds(1).toNanos();

    /** Longer than a change unsettles answers, and than a review that began before it takes. */
    private static final long CHANGE_REMEMBERED = Duration.ofMinutes(2).toNanos();

    private static final String CLOSED = "the cache is closed";
    private static final String UNKNOWN = "no review was answered yet";
    private static final String ANSWERED_LATE =
            "a review allowed it, but roles and bindings change, and it was answered more than"
                    + " a second after its request: until they rest, such an answer does not count";

    private final AccessReviews reviews;
    private final boolean asksForServiceAccounts;
    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final Cache<Question, LeftOver> kept; // of pairs that nobody needs
    private final Map<Question, Pair> pairs = new HashMap<>(); // guarded by this, like all that follows
    private final Queue<Pair> allowedFirst = new ArrayDeque<>();
    private final Queue<Pair> others = new ArrayDeque<>();
    private final Queue<Pair> ownLast = new ArrayDeque<>();
    private final Map<String, AccessChanges> changes = new HashMap<>(); // by namespace; "" for all
    private final Map<String, Timekeeper.Scheduled> gathering = new HashMap<>();
    private long changeNumber;
    private long forgotten; // the number of the last change that is not remembered any more
    private int inFlight;
    private int window = FIRST_IN_FLIGHT; // how many may be in flight
    private int steady; // answers in a row that tell of a server that is far away and not busy
    private long fastest = Long.MAX_VALUE; // the shortest time until an answer since the last failure, in nanoseconds
    private boolean sending; // a thread is sending what is queued
    private boolean othersTurn;
    private boolean unsound; // something was left undone, because memory was missing, for example
    private Timekeeper.@Nullable Scheduled repair;
    private boolean held;
    private String refusal = ""; // what was reported last of reviews that are refused; "" once one is answered
    private long pausedUntil;
    private int pauses; // in a row
    private @Nullable Throwable pauseCause; // null while no pause lasts
    private Timekeeper.@Nullable Scheduled pauseEnd;
    private boolean closed;

    /**
     * What is reviewed.
     *
     * @param subject null for our own credentials
     */
    private record Question(@Nullable Subject subject, ResourceAccess access) implements Comparable<Question> {

        /** See {@code ObjectKey.compareTo}. */
        @Override
        public int compareTo(Question other) {
            return ComparisonChain.start()
                    .compare(userName(), other.userName())
                    .compare(access.namespace(), other.access.namespace())
                    .compare(access.name(), other.access.name())
                    .compare(access.resource(), other.access.resource())
                    .compare(access.verb(), other.access.verb())
                    .result();
        }

        private String userName() {
            return subject == null ? "" : subject.name();
        }
    }

    /** The changes of access of a namespace: the last of all, and those that the API server may not know yet. */
    private static final class AccessChanges {

        private final ArrayDeque<Long> unsettled = new ArrayDeque<>(); // when the first of each tenth of a second came
        private long number; // of the last one, among the changes of all namespaces
        private long at;

        void add(long newNumber, long now) {
            if (unsettled.isEmpty() || now - unsettled.getLast() >= GATHER.toNanos()) {
                unsettled.add(now);
            }
            number = newNumber;
            at = now;
            forget(now);
        }

        /** Returns when the first change came that a review which begins now may be answered without; null if there is none. */
        @Nullable
        Long firstUnsettled(long now) {
            forget(now);
            Long first = unsettled.peek();
            if (first == null) {
                return null;
            }
            // it may stand for a later one of its tenth of a second
            return now + Math.max(first - now, -UNSETTLED.toNanos());
        }

        private void forget(long now) {
            long longest = UNSETTLED.plus(GATHER).toNanos();
            while (!unsettled.isEmpty() && now - unsettled.getFirst() >= longest) {
                unsettled.remove();
            }
            if (now - at >= UNSETTLED.toNanos()) {
                unsettled.clear();
            }
        }
    }

    /**
     * An answer, and for how long it counts.
     *
     * @param number the last change of access before the review began
     * @param askAt when it is to be asked again
     * @param countsUntil for an allowed access
     */
    private record Reviewed(Review review, long number, long at, long askAt, long countsUntil) {}

    /**
     * What is kept of a pair that nobody needs.
     *
     * @param answer null if none counts
     */
    private record LeftOver(@Nullable Reviewed answer, long paceAt, int overtaken) {}

    /** A review that was sent. */
    private static final class Asked {

        private final Pair pair;
        private final long number; // the last change before it
        private final long at; // when it began
        private boolean ended;
        private boolean unsettled; // a change came that the API server may not know when it answers
        private long until; // if unsettled: how long the access is allowed if the answer says so

        Asked(Pair pair, long number, long at) {
            this.pair = pair;
            this.number = number;
            this.at = at;
        }

        /** Takes account of a change that the API server may not know when it answers. */
        private void changed(long at) {
            long end = at + UNSETTLED.plus(UNSETTLED_ALLOWED_FOR).toNanos();
            if (!unsettled || until - end > 0) {
                unsettled = true;
                until = end;
            }
        }
    }

    /** A subject and an access. */
    private static final class Pair {

        private final Question question;
        private final Set<Followed> followers = new LinkedHashSet<>();
        private volatile boolean allowed; // written under the monitor
        private @Nullable Reviewed answer;
        private long countsUntil; // while it is allowed
        private boolean isDecided;
        private String reason = UNKNOWN;
        private @Nullable Throwable failure; // of the last review; null if it was answered
        private @Nullable CompletableFuture<Review> awaited; // null if nobody waits for one answer
        private boolean queued;
        private long queuedAt;
        private @Nullable Asked asked; // null if no review is in flight
        private long askAt;
        private long paceAt;
        private int overtaken; // answers in a row, at most MOST_OVERTAKEN
        private int failures; // in a row
        private Timekeeper.@Nullable Scheduled timer;
        private long timerAt;

        Pair(Question question, long paceAt, int overtaken) {
            this.question = question;
            this.paceAt = paceAt;
            this.overtaken = overtaken;
        }

        private String namespace() {
            return question.access.namespace();
        }
    }

    /** An access that is followed until this is closed. */
    public final class Followed implements AutoCloseable {

        private final Pair pair;
        private final Runnable changed;
        private final CompletableFuture<?> decided = new CompletableFuture<>();

        private Followed(Pair pair, Runnable changed) {
            this.pair = pair;
            this.changed = changed;
        }

        /** Returns whether the access is allowed now. Takes no lock, allocates nothing and reads no clock. */
        public boolean isAllowed() {
            return pair.allowed;
        }

        /**
         * Completes when it is known whether the access is allowed; stays complete. Not if this is closed before. Each call
         * returns the same future, which no other follower has. Do not complete it.
         */
        public CompletableFuture<?> decided() {
            return decided;
        }

        /** Returns why the access is allowed or denied, as the API server says it, or why that is not known. */
        public String reason() {
            synchronized (CachedReviews.this) {
                return pair.reason;
            }
        }

        /** Returns the failure of the last review; null if that was answered, or none has ended. */
        public @Nullable Throwable failure() {
            synchronized (CachedReviews.this) {
                return pair.failure;
            }
        }

        /** Ends it. No call of the listener begins after this has returned, but one may still run. Idempotent. */
        @Override
        public void close() {
            unfollow(this);
        }
    }

    /**
     * Makes an instance without answers.
     *
     * @param reviews is asked
     * @param asksForServiceAccounts whether an access is denied to a ServiceAccount that does not exist: RBAC goes by its
     *     name, so a deleted one is still allowed what it was
     */
    public CachedReviews(AccessReviews reviews, boolean asksForServiceAccounts, Timekeeper timekeeper) {
        this(
                reviews,
                asksForServiceAccounts,
                timekeeper,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    CachedReviews(AccessReviews reviews, boolean asksForServiceAccounts, Timekeeper timekeeper, DoubleSupplier random) {
        this.reviews = Objects.requireNonNull(reviews, "reviews");
        this.asksForServiceAccounts = asksForServiceAccounts;
        this.timekeeper = timekeeper;
        this.random = random;
        this.kept = Caffeine.newBuilder()
                .maximumSize(MOST_ANSWERS)
                .expireAfter(Expiry.<Question, LeftOver>creating((question, left) -> {
                    long now = timekeeper.nanoTime();
                    long counts = left.answer == null ? 0 : left.answer.askAt - now;
                    return Duration.ofNanos(Math.max(counts, left.paceAt - now));
                }))
                .ticker(timekeeper::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    /**
     * Returns whether a subject has an access, by an answer that is not too old. A failure is not remembered.
     *
     * @return completes exceptionally if the API server did not answer
     */
    public CompletableFuture<Review> review(Subject subject, ResourceAccess access) {
        return ask(new Question(Objects.requireNonNull(subject, "subject"), access));
    }

    /** Returns whether our own credentials have an access; otherwise as {@link #review}. */
    public CompletableFuture<Review> reviewOwn(ResourceAccess access) {
        return ask(new Question(null, access));
    }

    private CompletableFuture<Review> ask(Question question) {
        CompletableFuture<Review> awaited;
        synchronized (this) {
            if (closed) {
                return CompletableFuture.failedFuture(closedFailure());
            }
            Pair pair = pairs.get(question);
            Reviewed known = pair == null ? keptAnswer(question) : pair.answer;
            if (known != null && countsLocked(question, known)) {
                return CompletableFuture.completedFuture(known.review);
            }
            if (pauseCause != null) {
                return CompletableFuture.failedFuture(pauseCause);
            }
            pair = pairLocked(question);
            if (pair.awaited == null) {
                pair.awaited = new CompletableFuture<>();
            }
            awaited = pair.awaited;
            enqueueLocked(pair);
        }
        send();
        return awaited;
    }

    private @Nullable Reviewed keptAnswer(Question question) {
        LeftOver left = kept.getIfPresent(question);
        return left == null ? null : left.answer;
    }

    private Pair pairLocked(Question question) {
        return pairs.computeIfAbsent(question, asked -> {
            LeftOver left = kept.getIfPresent(asked);
            return left == null
                    ? new Pair(asked, timekeeper.nanoTime(), 0)
                    : new Pair(asked, left.paceAt, left.overtaken);
        });
    }

    private boolean countsLocked(Question question, Reviewed known) {
        return known.number >= numberLocked(question.access.namespace()) && timekeeper.nanoTime() - known.askAt < 0;
    }

    /**
     * Follows whether a subject has an access, which counts as denied until a review is answered: by an answer that is
     * remembered, at once.
     *
     * @param changed called after each change, and when it is first known; on any thread, several at a time, under no lock.
     *     Must be brief. Not called for what is known when this returns
     */
    public Followed follow(Subject subject, ResourceAccess access, Runnable changed) {
        return follow(subject, access, changed, Runnable::run);
    }

    /**
     * Follows an access like {@link #follow(Subject, ResourceAccess, Runnable)}, for a caller that holds a lock.
     *
     * @param effects takes what follows: to send a review. The caller runs it soon and under no lock
     */
    public Followed follow(Subject subject, ResourceAccess access, Runnable changed, Consumer<Runnable> effects) {
        Question question = new Question(Objects.requireNonNull(subject, "subject"), access);
        List<Runnable> told = new ArrayList<>();
        Followed followed;
        synchronized (this) {
            if (closed) {
                Pair none = new Pair(question, 0, 0);
                none.reason = CLOSED;
                Followed denied = new Followed(none, changed);
                denied.decided.complete(null);
                return denied;
            }
            Pair pair = pairLocked(question);
            Reviewed known = pair.answer == null ? keptAnswer(question) : null;
            if (known != null && countsLocked(question, known)) {
                takeLocked(pair, known, told);
            } else if (pair.answer == null) {
                enqueueLocked(pair);
            }
            followed = new Followed(pair, changed);
            if (pair.isDecided) {
                followed.decided.complete(null);
            }
            pair.followers.add(followed);
            try {
                scheduleLocked(pair);
            } catch (Throwable e) {
                // nobody could close it
                pair.followers.remove(followed);
                throw e;
            }
        }
        effects.accept(() -> {
            run(told);
            send();
        });
        return followed;
    }

    private void unfollow(Followed followed) {
        synchronized (this) {
            Pair pair = followed.pair;
            pair.followers.remove(followed);
            removeUnusedLocked(pair);
        }
    }

    private static boolean isUnusedLocked(Pair pair) {
        return pair.followers.isEmpty() && pair.awaited == null;
    }

    /** Drops a pair that nobody needs. What is known is kept for whoever asks next, and so is the answer to a review in flight. */
    private void removeUnusedLocked(Pair pair) {
        if (!isUnusedLocked(pair) || pairs.get(pair.question) != pair) {
            return;
        }
        Reviewed known = pair.answer;
        Reviewed counting = known != null && countsLocked(pair.question, known) ? known : null;
        if (counting != null || timekeeper.nanoTime() - pair.paceAt < 0) {
            kept.put(pair.question, new LeftOver(counting, pair.paceAt, pair.overtaken));
        }
        cancelLocked(pair);
        pair.allowed = false;
        pair.answer = null;
        pair.reason = UNKNOWN;
        pair.failure = null;
        pair.isDecided = false;
        if (pair.asked == null) {
            // one that is queued stays in its queue until its turn
            pairs.remove(pair.question);
        }
    }

    /** Sends no review until {@link #release}. */
    public synchronized void hold() {
        held = true;
    }

    /**
     * Ends {@link #hold}. Idempotent.
     *
     * @param answers how long each of some requests took that were sent together meanwhile; empty if that is not known. If all
     *     took long, and about as long, the API server is far away, and more reviews are in flight from the start
     */
    public void release(Collection<Duration> answers) {
        synchronized (this) {
            if (held && !answers.isEmpty() && isFar(Collections.min(answers), Collections.max(answers))) {
                window = MOST_IN_FLIGHT;
            }
            held = false;
        }
        send();
    }

    /** Returns whether an answer took long, but hardly longer than the fastest. */
    private static boolean isFar(Duration fastest, Duration took) {
        return fastest.compareTo(FAR) > 0 && took.minus(fastest).compareTo(fastest.dividedBy(4)) <= 0;
    }

    /**
     * Has what is known of a namespace reviewed again, because roles or bindings have changed. Changes within a tenth of a
     * second are taken together.
     *
     * @param namespace empty for all, and for cluster-scoped objects
     */
    public void accessChanged(String namespace) {
        synchronized (this) {
            if (closed) {
                return;
            }
            long now = timekeeper.nanoTime();
            changes.values().removeIf(change -> {
                boolean old = now - change.at > CHANGE_REMEMBERED;
                // answers may be kept for longer: none that is older than this change may count again
                forgotten = old ? Math.max(forgotten, change.number) : forgotten;
                return old;
            });
            changes.computeIfAbsent(namespace, first -> new AccessChanges()).add(++changeNumber, now);
            long end = now + UNSETTLED.plus(UNSETTLED_ALLOWED_FOR).toNanos();
            for (Pair pair : pairs.values()) {
                if (concerns(namespace, pair)) {
                    // the earlier of the two, also when the clock overflows
                    pair.countsUntil = end + Math.min(pair.countsUntil - end, 0);
                    if (pair.asked != null) {
                        pair.asked.changed(now);
                    }
                }
            }
            for (Pair pair : pairs.values()) {
                if (pair.allowed && concerns(namespace, pair)) {
                    scheduleLocked(pair);
                }
            }
            if (!gathering.containsKey(namespace)) {
                gathering.put(namespace, timekeeper.schedule(GATHER, () -> reviewAgain(namespace)));
            }
        }
    }

    private static boolean concerns(String namespace, Pair pair) {
        return namespace.isEmpty() || namespace.equals(pair.namespace());
    }

    private void reviewAgain(String namespace) {
        try {
            synchronized (this) {
                gathering.remove(namespace);
                pairs.values().stream()
                        .filter(pair -> concerns(namespace, pair) && !pair.followers.isEmpty())
                        .forEach(this::enqueueLocked);
            }
        } catch (Throwable e) {
            leftUndone(e);
        }
        send();
    }

    private long numberLocked(String namespace) {
        return Math.max(forgotten, Math.max(number(changes.get("")), number(changes.get(namespace))));
    }

    private static long number(@Nullable AccessChanges ofNamespace) {
        return ofNamespace == null ? 0 : ofNamespace.number;
    }

    /** Returns the time since access to a namespace changed last; as long as there is if it did not. */
    private long sinceChangeLocked(String namespace, long now) {
        long since = Long.MAX_VALUE;
        for (AccessChanges change : new AccessChanges[] {changes.get(""), changes.get(namespace)}) {
            since = change == null ? since : Math.min(since, now - change.at);
        }
        return since;
    }

    /** Queues a pair that rests, or has it queued as soon as its pace allows. */
    private void enqueueLocked(Pair pair) {
        if (pair.queued || pair.asked != null) {
            return;
        }
        long now = timekeeper.nanoTime();
        long earliest = pair.paceAt - (BURST - 1) * PERIOD.toNanos();
        if (earliest - now > 0) {
            pair.askAt = earliest;
            scheduleLocked(pair);
        } else {
            queueLocked(pair).add(pair);
            pair.queued = true;
            pair.queuedAt = now;
        }
    }

    private Queue<Pair> queueLocked(Pair pair) {
        if (pair.allowed) {
            return allowedFirst;
        }
        return pair.question.subject == null ? ownLast : others;
    }

    /** Sends what is queued, as far as it may be sent. Never throws. */
    private void send() {
        synchronized (this) {
            if (sending) {
                // the thread that is sending sees what this one has changed: an answer that comes at once is no
                // recursion
                return;
            }
            sending = true;
        }
        try {
            for (Asked next = next(); next != null; next = next()) {
                ask(next);
            }
        } catch (Throwable e) {
            synchronized (this) {
                sending = false;
            }
            leftUndone(e);
        }
    }

    /** Begins the next review. Returns null, and ends the sending, if there is none that may be sent. */
    private synchronized @Nullable Asked next() {
        repairLocked();
        Pair pair = nextLocked();
        if (pair == null) {
            sending = false;
            return null;
        }
        long now = timekeeper.nanoTime();
        // of all changes: those that are forgotten meanwhile came before it
        Asked next = new Asked(pair, changeNumber, now);
        for (AccessChanges change : new AccessChanges[] {changes.get(""), changes.get(pair.namespace())}) {
            Long first = change == null ? null : change.firstUnsettled(now);
            if (first != null) {
                next.changed(first);
            }
        }
        pair.paceAt = now + Math.max(pair.paceAt - now, 0) + PERIOD.toNanos();
        pair.asked = next;
        inFlight++;
        return next;
    }

    private @Nullable Pair nextLocked() {
        if (closed || held || inFlight >= window || pauseCause != null) {
            return null;
        }
        Pair next;
        do {
            next = pollLocked();
            if (next != null) {
                next.queued = false;
            }
        } while (next != null && isUnusedLocked(next));
        return next;
    }

    /**
     * Takes a pair that is allowed if there is one: it may lose what it has. One of two goes to who is queued for long. Subjects
     * come before our own access, of which there may be a review for each object.
     */
    private @Nullable Pair pollLocked() {
        Queue<Pair> rest = others.isEmpty() ? ownLast : others;
        Pair other = rest.peek();
        othersTurn = !othersTurn && other != null && timekeeper.nanoTime() - other.queuedAt > LONG_QUEUED;
        Pair next = othersTurn ? null : allowedFirst.poll();
        return next == null ? rest.poll() : next;
    }

    private void ask(Asked asked) {
        try {
            asked(asked.pair).whenComplete((review, thrown) -> completed(asked, review, thrown));
        } catch (Throwable e) {
            completed(asked, null, e);
        }
    }

    /** Has looked for soon what something that was thrown has left undone. Never throws. */
    private void leftUndone(Throwable thrown) {
        synchronized (this) {
            unsound = true;
            try {
                if (repair == null && !closed) {
                    repair = timekeeper.schedule(Duration.ofNanos(FIRST_PAUSE), this::send);
                }
            } catch (Throwable e) {
                // memory is still missing: whatever is sent next looks for it
            }
        }
        report("reviews were interrupted; they go on within a second; this is a bug unless memory was missing", thrown);
    }

    /** Queues what waits for nothing any more. */
    private void repairLocked() {
        if (!unsound || closed) {
            return;
        }
        long now = timekeeper.nanoTime();
        for (Pair pair : List.copyOf(pairs.values())) {
            removeUnusedLocked(pair);
            Reviewed known = pair.answer;
            boolean outdated = known == null || known.number < numberLocked(pair.namespace());
            boolean waits = pair.timer == null || pair.awaited != null || now - pair.askAt >= 0;
            if (!isUnusedLocked(pair) && (outdated || waits)) {
                enqueueLocked(pair);
            }
        }
        unsound = false;
        if (repair != null) {
            repair.cancel();
            repair = null;
        }
    }

    private CompletableFuture<Review> asked(Pair pair) {
        Subject subject = pair.question.subject;
        ResourceAccess access = pair.question.access;
        try {
            if (subject == null) {
                return reviews.reviewOwn(access);
            }
            CompletableFuture<Review> review = reviews.review(subject, access);
            return asksForServiceAccounts
                    ? review.thenCompose(answer ->
                            answer.allowed() ? existing(subject, answer) : CompletableFuture.completedFuture(answer))
                    : review;
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<Review> existing(Subject subject, Review allowed) {
        return subject.serviceAccount()
                .map(account -> reviews.serviceAccountExists(account.namespace(), account.name())
                        .thenApply(exists -> exists
                                ? allowed
                                : new Review(false, "ServiceAccount " + account + " does not exist any more")))
                .orElse(CompletableFuture.completedFuture(allowed));
    }

    /** Takes the answer or the failure of a review. Without effect if it has either already. Never throws. */
    private void completed(Asked asked, @Nullable Review review, @Nullable Throwable thrown) {
        List<Runnable> effects = List.of();
        try {
            List<Runnable> told = new ArrayList<>();
            effects = told;
            completed(asked, review, thrown, told);
        } catch (Throwable e) {
            synchronized (this) {
                endLocked(asked);
            }
            leftUndone(e);
        }
        run(effects);
        send();
    }

    private synchronized void completed(
            Asked asked, @Nullable Review review, @Nullable Throwable thrown, List<Runnable> effects) {
        if (!endLocked(asked) || closed) {
            return;
        }
        Pair pair = asked.pair;
        if (review == null) {
            window = FIRST_IN_FLIGHT;
            steady = 0;
            fastest = Long.MAX_VALUE;
            failedLocked(pair, ApiServerException.causeOf(thrown), effects);
        } else {
            pauses = 0;
            refusal = "";
            pair.failures = 0;
            answeredLocked(asked);
            boolean overtaken = asked.number < numberLocked(pair.namespace());
            pair.overtaken = overtaken ? Math.min(pair.overtaken + 1, MOST_OVERTAKEN) : 0;
            if (overtaken && pair.overtaken < MOST_OVERTAKEN) {
                if (review.allowed()) {
                    keepLocked(asked);
                }
                enqueueLocked(pair);
            } else {
                takeLocked(pair, answerLocked(asked, review), effects);
                CompletableFuture<Review> awaited = pair.awaited;
                if (awaited != null) {
                    effects.add(() -> awaited.complete(review));
                    pair.awaited = null;
                }
            }
        }
        removeUnusedLocked(pair);
    }

    /** Ends a review; returns false if it has ended already. Allocates nothing. */
    private boolean endLocked(Asked asked) {
        boolean first = !asked.ended;
        if (first) {
            asked.ended = true;
            asked.pair.asked = null;
            inFlight--;
        }
        return first;
    }

    /** Opens or closes the window by how long an answer took. */
    private void answeredLocked(Asked asked) {
        long took = timekeeper.nanoTime() - asked.at;
        fastest = Math.min(fastest, took);
        boolean more = !allowedFirst.isEmpty() || !others.isEmpty() || !ownLast.isEmpty();
        steady = more && isFar(Duration.ofNanos(fastest), Duration.ofNanos(took)) ? steady + 1 : 0;
        if (took / 2 > fastest) {
            window = FIRST_IN_FLIGHT;
        } else if (steady >= ENOUGH) {
            window = MOST_IN_FLIGHT;
        }
    }

    /** Has an access that is allowed count longer, by an answer that a change has overtaken. */
    private void keepLocked(Asked asked) {
        Pair pair = asked.pair;
        Reviewed known = pair.answer;
        if (known != null && pair.allowed && asked.unsettled && asked.until - pair.countsUntil > 0) {
            pair.answer = new Reviewed(known.review, known.number, timekeeper.nanoTime(), known.askAt, asked.until);
            pair.countsUntil = asked.until;
            scheduleLocked(pair);
        }
    }

    private Reviewed answerLocked(Asked asked, Review review) {
        long now = timekeeper.nanoTime();
        if (!asked.unsettled) {
            long counts = spread((review.allowed() ? ALLOWED_FOR : DENIED_FOR).toNanos());
            return new Reviewed(review, asked.number, now, now + counts, now + 2 * counts);
        }
        if (review.allowed()) {
            // a review that begins a second before this one ends counts for longer
            long longer = asked.until - UNSETTLED_ALLOWED_FOR.toNanos() - now;
            long again = Math.max(0, Math.min(UNSETTLED_ALLOWED_FOR.toNanos(), longer));
            return new Reviewed(review, asked.number, now, now + again, asked.until);
        }
        // it may be allowed as soon as the API server knows of the change
        long again = Math.max(SHORTEST_UNSETTLED, sinceChangeLocked(asked.pair.namespace(), now));
        return new Reviewed(review, asked.number, now, now + Math.min(again, DENIED_FOR.toNanos()), now);
    }

    private long spread(long nanos) {
        return (long) (nanos * (1 - SPREAD * random.getAsDouble()));
    }

    private void takeLocked(Pair pair, Reviewed answer, List<Runnable> effects) {
        boolean late = answer.review.allowed() && answer.countsUntil - timekeeper.nanoTime() <= 0;
        String reason = late ? ANSWERED_LATE : answer.review.reason();
        pair.answer = answer;
        pair.failure = null;
        pair.askAt = answer.askAt;
        pair.countsUntil = answer.countsUntil;
        decideLocked(pair, answer.review.allowed() && !late, reason, effects);
    }

    /** Sets whether the access is allowed, and has the followers told if that is new. */
    private void decideLocked(Pair pair, boolean allowed, String reason, List<Runnable> effects) {
        boolean first = !pair.isDecided;
        List<Runnable> told = new ArrayList<>();
        if (first) {
            // before the followers are told: they ask whether it is decided
            pair.followers.forEach(follower -> told.add(() -> follower.decided.complete(null)));
        }
        if (first || pair.allowed != allowed) {
            pair.followers.forEach(follower -> told.add(follower.changed));
        }
        effects.addAll(told);
        // what throws has thrown before this, so that who is told and what is set are one
        pair.isDecided = true;
        pair.allowed = allowed;
        pair.reason = reason;
        scheduleLocked(pair);
    }

    private void failedLocked(Pair pair, Throwable cause, List<Runnable> effects) {
        long now = timekeeper.nanoTime();
        FailureReason reason = ApiServerException.reasonOf(cause);
        String failure = Quoted.text(ApiServerException.describe(cause));
        CompletableFuture<Review> awaited = pair.awaited;
        if (awaited != null) {
            effects.add(() -> awaited.completeExceptionally(cause));
            pair.awaited = null;
        }
        if (pair.followers.isEmpty()) {
            pauseIfAskedLocked(reason, cause, now);
            return;
        }
        boolean passes = reason == null || Retries.mayPass(reason);
        pair.failure = cause;
        if (reason == FailureReason.FORBIDDEN && pair.question.subject != null && !failure.equals(refusal)) {
            refusal = failure;
            effects.add(() -> log.warn(
                    "reviews are refused: {}; what is done on behalf of a subject counts as denied, and is reviewed again"
                            + " within {}; allow `create` on subjectaccessreviews.authorization.k8s.io",
                    failure,
                    Durations.text(DENIED_FOR)));
        }
        if (pauseIfAskedLocked(reason, cause, now)) {
            enqueueLocked(pair);
        } else {
            pair.failures = Math.min(pair.failures + 1, 6);
            long pause = passes ? Math.min(FIRST_PAUSE << (pair.failures - 1), LONGEST_PAUSE) : DENIED_FOR.toNanos();
            pair.askAt = now + spread(pause);
        }
        if (pair.answer == null && !passes) {
            decideLocked(pair, false, failure, effects);
        } else {
            if (!pair.allowed) {
                pair.reason = pair.answer == null ? UNKNOWN + "; the last one failed: " + failure : pair.reason;
            }
            scheduleLocked(pair);
        }
    }

    /** After 429, nothing is sent for a while. */
    private boolean pauseIfAskedLocked(@Nullable FailureReason reason, Throwable cause, long now) {
        if (reason != FailureReason.THROTTLED) {
            return false;
        }
        long own = Math.min(FIRST_PAUSE << Math.min(pauses, 5), LONGEST_PAUSE);
        Duration asked = cause instanceof ApiServerException failure ? failure.retryAfter() : null;
        long until = now + Math.max(own, asked == null ? 0 : Math.min(asked.toNanos(), CHANGE_REMEMBERED));
        if (pauseCause == null || until - pausedUntil > 0) {
            pauses += pauseCause == null ? 1 : 0;
            pauseCause = cause;
            pausedUntil = until;
            if (pauseEnd != null) {
                pauseEnd.cancel();
            }
            pauseEnd = timekeeper.schedule(Duration.ofNanos(until - now), this::endPause);
        }
        return true;
    }

    private void endPause() {
        synchronized (this) {
            if (pauseCause != null && timekeeper.nanoTime() - pausedUntil >= 0) {
                pauseCause = null;
                pauseEnd = null;
            }
        }
        send();
    }

    /** Sets the timer of a pair for what is next: to ask again, or to deny what was allowed for too long. */
    private void scheduleLocked(Pair pair) {
        boolean asks = !pair.queued && pair.asked == null;
        if (isUnusedLocked(pair) || (!asks && !pair.allowed)) {
            cancelLocked(pair);
            return;
        }
        long now = timekeeper.nanoTime();
        long wait = asks ? pair.askAt - now : Long.MAX_VALUE;
        if (pair.allowed) {
            wait = Math.min(wait, pair.countsUntil - now);
        }
        if (pair.timer != null && pair.timerAt == now + wait) {
            return;
        }
        cancelLocked(pair);
        pair.timerAt = now + wait;
        pair.timer = timekeeper.schedule(Duration.ofNanos(Math.max(0, wait)), () -> due(pair));
    }

    private static void cancelLocked(Pair pair) {
        if (pair.timer != null) {
            pair.timer.cancel();
            pair.timer = null;
        }
    }

    private void due(Pair pair) {
        List<Runnable> effects = List.of();
        try {
            List<Runnable> told = new ArrayList<>();
            effects = told;
            due(pair, told);
        } catch (Throwable e) {
            leftUndone(e);
        }
        run(effects);
        send();
    }

    private synchronized void due(Pair pair, List<Runnable> effects) {
        if (closed || pairs.get(pair.question) != pair) {
            return;
        }
        pair.timer = null;
        long now = timekeeper.nanoTime();
        Reviewed known = pair.answer;
        if (now - pair.askAt >= 0) {
            enqueueLocked(pair);
        }
        if (known != null && pair.allowed && now - pair.countsUntil >= 0) {
            Duration since = Duration.ofNanos(now - known.at);
            decideLocked(
                    pair,
                    false,
                    "the last review that allowed it was answered "
                            + Durations.text(Duration.ofSeconds(since.toSeconds()))
                            + " ago, and no later one was",
                    effects);
        } else {
            scheduleLocked(pair);
        }
    }

    private static void run(List<Runnable> effects) {
        for (Runnable effect : effects) {
            try {
                effect.run();
            } catch (Throwable e) {
                report("a listener of an access failed; it is told of the next change; this is a bug", e);
            }
        }
    }

    private static void report(String what, Throwable thrown) {
        try {
            log.error(what, thrown);
        } catch (Throwable e) {
            // memory is missing for the message too
        }
    }

    private static ApiServerException closedFailure() {
        return ApiServerException.withoutAnswer(
                FailureReason.REJECTED, "POST SubjectAccessReview", "the reviews are closed", null);
    }

    /** Returns whether this is closed, which denies everything that is followed. */
    public synchronized boolean isClosed() {
        return closed;
    }

    /** Ends all reviews. Everything that is followed is denied. Idempotent. */
    @Override
    public void close() {
        List<Runnable> effects = new ArrayList<>();
        synchronized (this) {
            closed = true;
            for (Pair pair : pairs.values()) {
                cancelLocked(pair);
                pair.allowed = false;
                pair.reason = CLOSED;
                CompletableFuture<Review> awaited = pair.awaited;
                if (awaited != null) {
                    effects.add(() -> awaited.completeExceptionally(closedFailure()));
                }
                pair.followers.forEach(follower -> effects.add(() -> follower.decided.complete(null)));
            }
            pairs.clear();
            allowedFirst.clear();
            others.clear();
            ownLast.clear();
            gathering.values().forEach(Timekeeper.Scheduled::cancel);
            gathering.clear();
            if (pauseEnd != null) {
                pauseEnd.cancel();
            }
            if (repair != null) {
                repair.cancel();
            }
        }
        run(effects);
    }
}
