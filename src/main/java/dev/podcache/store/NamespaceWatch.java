package dev.podcache.store;

import com.google.common.base.Strings;
import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ResourceVersions;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import dev.podcache.time.Pause;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The watch of one namespace, which keeps the referenced objects in it up to date: its members.
 *
 * <p>The first list begins when a get waits, or once no member has joined for 10 ms, or after 100 ms, so that it covers
 * the members that are registered together. A member that joins while the watch is live is read by name, and so is one
 * whose object was evicted and is wanted again. A member that joins while the watch is broken causes a list of the
 * namespace at once, unless one is in flight.
 *
 * <p>A read by name is a list that selects the name: it is a quorum read, needs no verb that the watch does not need,
 * and has a version even if the object is absent. At most 16 reads are in flight, those of members first for which gets
 * wait. A read that failed is repeated after a pause, which grows for this member alone. All reads pause
 * after two reads in a row, of different members, that failed for a reason that may pass or with a Retry-After.
 */
final class NamespaceWatch<T extends HasMetadata> {

    /*
     * Everything that happens is a step: a member joins, an event of the session, the answer to a read. Steps run one
     * at a time and in order, under no lock, on the thread that adds the first of them. So fields that only steps use
     * need no lock, and an entry hears of each change in the order in which it happened.
     *
     * The members are changed under the lock of NamespaceWatches, and read by steps, and by the decoder, which skips
     * other objects. The numbers of `clock` put joins and the starts of lists in order: a list that began after a
     * member joined decodes the member's object and is not older than its reference.
     *
     * session     a member joins                      ends when
     * ---------------------------------------------------------------------------------------
     * none        waits for the first list            a get waits, or none has joined for 10 ms
     * opening     waits: covered by the list if that  the watch is accepted; members that no list
     *             has not begun                       covers are then read by name
     * live        is read by name                     an attempt fails
     * failed      a new session lists at once,        a watch is accepted again
     *             unless a list is in flight
     *
     * A loss of the watch ends a round of reads: answers to reads that began in it are ignored, and members that are
     * not covered by the next list are read in the next round.
     */

    private static final Logger log = LoggerFactory.getLogger(NamespaceWatch.class);
    private static final Duration GATHERING = Duration.ofMillis(10);
    private static final int MOST_GATHERINGS = 10;
    private static final int MOST_READS = 16;
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);
    private static final Retries READ_RETRIES = new Retries(Duration.ofMillis(200), Duration.ofSeconds(30));

    final String namespace;
    final Map<String, Member<T>> members = new ConcurrentHashMap<>(2); // written under NamespaceWatches
    private final NamespaceWatches<T> namespaces;
    private final WatchObjectStore<T> store;
    private final Timekeeper timekeeper;
    private final AtomicLong clock = new AtomicLong();
    private final Executor steps = MoreExecutors.newSequentialExecutor(MoreExecutors.directExecutor());

    // used in steps only
    private volatile @Nullable NamespaceSession session; // written in steps only
    private Timekeeper.@Nullable Scheduled gathering;
    private boolean live;
    private boolean failed;
    private boolean closed;
    private final Set<Member<T>> urgentReads = new LinkedHashSet<>(2); // gets wait for them
    private final Set<Member<T>> otherReads = new LinkedHashSet<>(2);
    private int round = 1;
    private int readsInFlight; // of this round
    private final Map<Member<T>, Timekeeper.Scheduled> memberPauses = new HashMap<>(2); // after reads that failed
    private @Nullable ObjectKey unserved; // whose read the server did not serve, unless it has served another since
    private int readPauses; // since it served a read
    private Timekeeper.@Nullable Scheduled readPause; // of all members

    /** Makes a watch that opens once a member has joined. */
    NamespaceWatch(String namespace, NamespaceWatches<T> namespaces) {
        this.namespace = namespace;
        this.namespaces = namespaces;
        this.store = namespaces.store;
        this.timekeeper = store.options.timekeeper();
    }

    /** Returns the next number of the order of joins and lists. */
    long tick() {
        return clock.incrementAndGet();
    }

    /** Names the connection that carries the watch, or returns "". Takes no lock. */
    private String connection() {
        NamespaceSession open = session;
        return open == null ? "" : open.reflector.connection();
    }

    // the session

    /** Reads a member that has just joined, on a worker: the thread that adds a reference must not wait. */
    private void joined(Member<T> member) {
        try {
            timekeeper.workers().execute(() -> steps.execute(() -> join(member)));
        } catch (RuntimeException | Error e) {
            // nothing else would read it
            steps.execute(() -> join(member));
        }
    }

    private void join(Member<T> member) {
        NamespaceSession open = session;
        if (closed || member.over) {
            return;
        }
        if (open == null) {
            if (gathering == null) {
                gather(1);
            }
        } else if (live) {
            enqueue(member);
        } else if (failed && !open.isListing) {
            closeSession();
            ensureOpen();
        }
        if (member.hurried) {
            hasten(member);
        }
    }

    /** Waits for further members, then opens the watch. */
    private void gather(int times) {
        long before = clock.get();
        gathering = Pause.schedule(
                timekeeper,
                GATHERING,
                () -> steps.execute(() -> {
                    if (clock.get() == before || times == MOST_GATHERINGS) {
                        ensureOpen();
                    } else if (!closed && session == null) {
                        gather(times + 1);
                    }
                }));
    }

    /** Puts the next requests for a member before those of others, because a get waits for it. */
    private void hasten(Member<T> member) {
        ensureOpen();
        if (session != null && !live) {
            session.reflector.hurry();
        }
        if (otherReads.remove(member)) {
            urgentReads.add(member);
        }
    }

    private void retry() {
        if (session != null && !live) {
            session.reflector.retry();
        }
    }

    private void ensureOpen() {
        if (closed || session != null) {
            return;
        }
        cancelGathering();
        failed = false;
        NamespaceSession opened = new NamespaceSession();
        session = opened;
        opened.reflector.start();
    }

    private void cancelGathering() {
        if (gathering != null) {
            gathering.cancel();
            gathering = null;
        }
    }

    /** Ends the watch after its last member has left. */
    void close() {
        steps.execute(this::end);
    }

    private void end() {
        closed = true;
        live = false;
        cancelGathering();
        endReads();
        closeSession();
    }

    private void closeSession() {
        NamespaceSession open = session;
        session = null;
        if (open != null) {
            try {
                open.reflector.close();
            } catch (RuntimeException | Error e) {
                // the members need what follows all the same
                log.error("closing the watch of a namespace failed: {} of {}; this is a bug", store.kind, namespace, e);
            }
        }
    }

    /** Ends the watch because the namespace may not be watched any more. */
    void revoked(ApiServerException cause) {
        steps.execute(() -> refused(cause, each -> each.entry.namespaceRevoked(each, cause)));
    }

    /** Ends the watch because the API server refused it. */
    private void refused(ApiServerException cause) {
        refused(cause, each -> each.entry.failed(each, cause));
    }

    /** Ends the watch because the namespace may not be watched; each member's entry then opens a watch of its own. */
    private void refused(ApiServerException cause, Consumer<Member<T>> told) {
        List<Member<T>> ended = namespaces.refuse(this, cause);
        end();
        ended.forEach(member -> tell(member, told));
    }

    /** Tells a member's entry of a change. If the entry throws, the member is read by name. */
    private void tell(@Nullable Member<T> member, Consumer<Member<T>> change) {
        if (member == null) {
            return;
        }
        try {
            change.accept(member);
        } catch (RuntimeException | Error e) {
            log.error("{} {}: handling a change threw; reading it again", store.kind, member.entry.key, e);
            member.synced = false;
            if (live) {
                readAgain(member, null);
            }
        }
    }

    /** Returns the name of an object of this namespace, otherwise "". A proxy may mix up namespaces. */
    private String nameOf(Fetched<T> fetched) {
        ObjectMeta metadata = fetched.object().getMetadata();
        return namespace.equals(metadata.getNamespace()) ? Strings.nullToEmpty(metadata.getName()) : "";
    }

    /** Passes the reports of one reflector of the namespace on as steps. Another one replaces it after a failure. */
    private final class NamespaceSession implements ReflectorSink<T> {

        final Reflector<T> reflector = Reflector.confirming(
                namespaces.inNamespace.apply(namespace, members::containsKey), this, store.options.recovery());
        private long listBegunAt; // used in calls of the reflector only

        /** Whether a list is in flight, so that its answer or its failure follows. */
        private volatile boolean isListing;

        /** Does a step of this session, unless another has replaced it. */
        private void step(Runnable step) {
            steps.execute(() -> {
                if (session == this) {
                    step.run();
                }
            });
        }

        @Override
        public void listing() {
            listBegunAt = tick();
            isListing = true;
        }

        @Override
        public void listWritten() {
            long begunAt = listBegunAt;
            step(() -> members.values().forEach(member -> {
                if (member.joinedAt < begunAt) {
                    member.entry.listWritten(member);
                }
            }));
        }

        /** Does not cover members that joined after the list began. */
        @Override
        public void replace(List<Fetched<T>> items, String resourceVersion) {
            isListing = false;
            long begunAt = listBegunAt;
            step(() -> {
                Map<String, Fetched<T>> byName = new HashMap<>();
                items.forEach(item -> byName.put(nameOf(item), item));
                members.forEach((name, member) -> {
                    if (member.joinedAt < begunAt) {
                        tell(member, listed -> listed.sync(byName.get(name), resourceVersion));
                    }
                });
            });
        }

        @Override
        public void upsert(Fetched<T> fetched) {
            step(() ->
                    tell(members.get(nameOf(fetched)), member -> member.changed(fetched, fetched.resourceVersion())));
        }

        @Override
        public void delete(Fetched<T> last) {
            step(() -> tell(members.get(nameOf(last)), member -> member.changed(null, last.resourceVersion())));
        }

        @Override
        public void connected() {
            isListing = false;
            step(() -> {
                live = true;
                failed = false;
                for (Member<T> member : members.values()) {
                    if (member.synced) {
                        tell(member, synced -> synced.entry.upToDate(synced));
                    } else {
                        enqueue(member);
                    }
                }
            });
        }

        @Override
        public void resumed() {
            step(() -> {
                // a list follows
                failed = false;
                for (Member<T> member : members.values()) {
                    if (member.synced) {
                        tell(member, synced -> synced.entry.unconfirmed(synced));
                    }
                }
            });
        }

        @Override
        public void disconnected(ApiServerException cause) {
            isListing = false;
            step(() -> {
                live = false;
                failed = true;
                endReads();
                if (cause.reason() == FailureReason.FORBIDDEN) {
                    refused(cause);
                } else {
                    members.values().forEach(member -> tell(member, each -> each.entry.failed(each, cause)));
                }
            });
        }
    }

    // reads by name, while the watch is live

    /** Has a member read, unless it waits for its read in this round, or is being read. */
    private void enqueue(Member<T> member) {
        if (!member.over && member.readIn != round) {
            member.readIn = round;
            member.readFailures = 0;
            awaitRead(member);
        }
    }

    private void awaitRead(Member<T> member) {
        (member.hurried ? urgentReads : otherReads).add(member);
        readNext();
    }

    private void readNext() {
        while (readPause == null && readsInFlight < MOST_READS) {
            Set<Member<T>> next = urgentReads.isEmpty() ? otherReads : urgentReads;
            if (next.isEmpty()) {
                return;
            }
            Member<T> member = next.iterator().next();
            next.remove(member);
            if (!member.over) {
                read(member);
            }
        }
    }

    private void read(Member<T> member) {
        int begunIn = round;
        readsInFlight++;
        CompletableFuture<Listed<T>> answer;
        try {
            answer = store.byName.apply(member.entry.key).list(READ_TIMEOUT, () -> member.entry.listWritten(member));
        } catch (RuntimeException | Error e) {
            answer = CompletableFuture.failedFuture(NoAnswer.thrown("LIST " + store.kind + " " + member.entry.key, e));
        }
        answer.whenComplete((listed, thrown) -> steps.execute(() -> {
            if (round == begunIn) {
                readsInFlight--;
                readEnded(member, listed, thrown);
            }
        }));
    }

    private void readEnded(Member<T> member, @Nullable Listed<T> listed, @Nullable Throwable thrown) {
        try {
            if (listed != null) {
                served();
                member.readIn = 0;
                tell(member, each -> each.read(itemOf(each, listed), listed.resourceVersion()));
            } else if (thrown != null) {
                readFailed(
                        member, NoAnswer.because("LIST " + store.kind + " " + member.entry.key, "the server", thrown));
            }
        } finally {
            readNext();
        }
    }

    private @Nullable Fetched<T> itemOf(Member<T> member, Listed<T> listed) {
        for (Fetched<T> item : listed.items()) {
            if (member.entry.key.name().equals(nameOf(item))) {
                return item;
            }
        }
        return null;
    }

    private void readFailed(Member<T> member, ApiServerException failure) {
        if (failure.reason() == FailureReason.FORBIDDEN) {
            refused(failure);
            return;
        }
        if (member.synced) {
            // of an evicted object: the next get asks again
            member.readIn = 0;
            tell(member, each -> each.entry.rereadFailed(each, failure));
        } else {
            readAgain(member, failure);
            tell(member, each -> each.entry.failed(each, failure));
        }
        countFailure(member.entry.key, failure);
    }

    private void served() {
        unserved = null;
        readPauses = 0;
    }

    /** Has all reads wait if the server, and not this object, seems to be the reason. */
    private void countFailure(ObjectKey key, ApiServerException failure) {
        if (!Retries.mayPass(failure.reason()) && !Retries.asksForPause(failure)) {
            served();
            return;
        }
        // reads that fail together are one failure
        if (unserved != null && !unserved.equals(key) && readPause == null) {
            readPauses++;
            readPause = after(readPauses, failure, () -> {
                readPause = null;
                readNext();
            });
        }
        unserved = key;
    }

    /** Reads a member again after a pause of its own. */
    private void readAgain(Member<T> member, @Nullable ApiServerException failure) {
        member.readIn = round;
        member.readFailures++;
        try {
            Timekeeper.Scheduled pause = after(member.readFailures, failure, () -> {
                memberPauses.remove(member);
                awaitRead(member);
            });
            Timekeeper.Scheduled replaced = memberPauses.put(member, pause);
            if (replaced != null) {
                replaced.cancel();
            }
        } catch (RuntimeException | Error e) {
            log.error("{} of {}: no pause before the next read of {}", store.kind, namespace, member.entry.key, e);
            otherReads.add(member);
        }
    }

    /** Runs a step after so many failures, unless the round has ended. */
    private Timekeeper.Scheduled after(int failures, @Nullable ApiServerException failure, Runnable step) {
        int begunIn = round;
        Duration length =
                READ_RETRIES.pause(failures, ThreadLocalRandom.current().nextDouble(), failure);
        return Pause.schedule(
                timekeeper,
                length,
                () -> steps.execute(() -> {
                    if (round == begunIn) {
                        step.run();
                    }
                }));
    }

    /** Ends the round: answers to reads in flight are ignored. */
    private void endReads() {
        round++;
        readsInFlight = 0;
        served();
        urgentReads.clear();
        otherReads.clear();
        memberPauses.values().forEach(Timekeeper.Scheduled::cancel);
        memberPauses.clear();
        if (readPause != null) {
            readPause.cancel();
            readPause = null;
        }
    }

    /**
     * The place of one object in the watch.
     *
     * <p>A member is synced once it has the object's state from a request that began after it joined: a list of the
     * namespace, or a list by name. Until then, it keeps the last event, because that event may be newer than the answer
     * to the request. From then on, it ignores events that are older than the answer: the watch may lag behind the
     * request.
     */
    static final class Member<T extends HasMetadata> implements ObjectWatch {

        final WatchEntry<T> entry;
        private final NamespaceWatches<T> namespaces;
        private volatile @Nullable NamespaceWatch<T> watch; // null until it has joined
        private volatile boolean over;
        private volatile boolean hurried; // whether a get waits, or has waited since the last answer
        private volatile long joinedAt = Long.MAX_VALUE;

        // used in steps of the watch only
        private boolean synced;
        private String knownUpTo = ""; // the version of the state, or of the list that brought it
        private @Nullable Answer<T> early; // the last event before the member was synced
        private String earlyVersion = "";
        private int readIn; // the round in which it waits for its read, or is being read
        private int readFailures; // in a row, in that round

        /** Makes a member that has not joined. */
        Member(WatchEntry<T> entry, NamespaceWatches<T> namespaces) {
            this.entry = entry;
            this.namespaces = namespaces;
        }

        @Override
        public void open() {
            NamespaceWatch<T> joined = namespaces.join(this);
            if (joined == null) {
                over = true;
                // lets the entry open a watch of its own, if it still needs one
                entry.runDeferred();
            } else {
                watch = joined;
                joined.joined(this);
            }
        }

        @Override
        public void hurry() {
            hurried = true;
            NamespaceWatch<T> joined = watch;
            if (joined != null) {
                joined.steps.execute(() -> joined.hasten(this));
            }
        }

        @Override
        public void retry() {
            NamespaceWatch<T> joined = watch;
            if (joined != null) {
                joined.steps.execute(joined::retry);
            }
        }

        @Override
        public void read() {
            hurried = true;
            NamespaceWatch<T> joined = watch;
            if (joined != null) {
                joined.steps.execute(() -> {
                    if (joined.live) {
                        joined.enqueue(this);
                    }
                });
            }
        }

        @Override
        public void close() {
            namespaces.leave(this);
        }

        @Override
        public String connection() {
            NamespaceWatch<T> joined = watch;
            return joined == null ? "" : joined.connection();
        }

        @Override
        public boolean isOver() {
            return over;
        }

        /** Called under the lock of {@link NamespaceWatches}, like {@link #joinLocked}. */
        void endLocked() {
            over = true;
        }

        /** Sets when it joined, after the watch can find it: a list that begins later therefore decodes the object. */
        void joinLocked(long tick) {
            joinedAt = tick;
        }

        /** Receives its state from a list by name, while the watch is live; null if the object is absent. */
        private void read(@Nullable Fetched<T> item, String version) {
            Answer<T> event = early;
            if (synced) {
                hurried = false;
                // the entry may not take it: then no event is covered by it
                entry.reread(this, answer(item), version);
                return;
            }
            if (event != null && ResourceVersions.isOlder(version, earlyVersion)) {
                sync(event, earlyVersion);
            } else {
                sync(item, version);
            }
            entry.upToDate(this);
        }

        /** Takes the object's state from a list. The item is null if the object is absent. */
        private void sync(@Nullable Fetched<T> item, String version) {
            sync(answer(item), version);
        }

        private void sync(Answer<T> answer, String version) {
            synced = true;
            hurried = false;
            knownUpTo = version;
            early = null;
            entry.received(this, answer, "");
        }

        /** Receives an event; null if the object was deleted. */
        private void changed(@Nullable Fetched<T> item, String version) {
            if (!synced) {
                early = answer(item);
                earlyVersion = version;
            } else if (!covers(version)) {
                knownUpTo = version.isEmpty() ? knownUpTo : version;
                entry.received(this, answer(item), version);
            }
        }

        private boolean covers(String version) {
            return !version.isEmpty() && (version.equals(knownUpTo) || ResourceVersions.isOlder(version, knownUpTo));
        }

        private Answer<T> answer(@Nullable Fetched<T> item) {
            // the age is not used: the object is up to date while it is watched
            return item == null ? new Answer.Absent<>(0) : entry.answerOf(item);
        }
    }
}
