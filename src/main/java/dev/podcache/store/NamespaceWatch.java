package dev.podcache.store;

import com.google.common.base.Strings;
import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The watch of one namespace, which keeps the referenced objects in it up to date: its members.
 *
 * <p>The first list begins when a get waits, or once no member has joined for 10 ms, or after 100 ms, so that it covers
 * the members that are registered together. A member that joins while the watch is live is read by name. A member that
 * joins while the watch is broken causes a list of the namespace at once, unless one is in flight.
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
     */

    private static final Logger log = LoggerFactory.getLogger(NamespaceWatch.class);
    private static final Duration GATHERING = Duration.ofMillis(10);
    private static final int MOST_GATHERINGS = 10;

    final String namespace;
    final Map<String, NamespaceMember<T>> members = new ConcurrentHashMap<>(2); // written under NamespaceWatches
    private final NamespaceWatches<T> namespaces;
    private final Timekeeper timekeeper;
    private final AtomicLong clock = new AtomicLong();
    private final Executor steps = MoreExecutors.newSequentialExecutor(MoreExecutors.directExecutor());

    // used in steps only
    private final MemberReads<T> reads;
    private volatile @Nullable NamespaceSession<T> session; // written in steps only
    private Timekeeper.@Nullable Scheduled gathering;
    private boolean live;
    private boolean failed;
    private boolean closed;

    /** Makes a watch that opens once a member has joined. */
    NamespaceWatch(String namespace, NamespaceWatches<T> namespaces) {
        this.namespace = namespace;
        this.namespaces = namespaces;
        this.timekeeper = namespaces.store.options.timekeeper();
        this.reads = new MemberReads<>(this, namespaces.store, steps);
    }

    /** Returns the next number of the order of joins and lists. */
    long tick() {
        return clock.incrementAndGet();
    }

    /** Names the connection that carries the watch, or returns "". Takes no lock. */
    String connection() {
        NamespaceSession<T> open = session;
        return open == null ? "" : open.connection();
    }

    /** Reads a member that has just joined, on a worker: the thread that adds a reference must not wait. */
    void joined(NamespaceMember<T> member) {
        timekeeper.workers().execute(() -> steps.execute(() -> join(member)));
    }

    private void join(NamespaceMember<T> member) {
        NamespaceSession<T> open = session;
        if (closed || member.isOver()) {
            return;
        }
        if (open == null) {
            if (gathering == null) {
                gather(1);
            }
        } else if (live) {
            reads.add(member);
        } else if (failed && !open.isListing()) {
            open.reflector.close();
            session = null;
            ensureOpen();
        }
        if (member.isHurried()) {
            hasten();
        }
    }

    /** Waits for further members, then opens the watch. */
    private void gather(int times) {
        long before = clock.get();
        gathering = timekeeper.schedule(
                GATHERING,
                () -> steps.execute(() -> {
                    if (clock.get() == before || times == MOST_GATHERINGS) {
                        ensureOpen();
                    } else if (!closed && session == null) {
                        gather(times + 1);
                    }
                }));
    }

    /** Puts the next requests of this watch before those of others, because a get waits for a member. */
    void hurry() {
        steps.execute(this::hasten);
    }

    private void hasten() {
        ensureOpen();
        if (session != null && !live) {
            session.reflector.hurry();
        }
    }

    private void ensureOpen() {
        if (closed || session != null) {
            return;
        }
        cancelGathering();
        failed = false;
        NamespaceSession<T> opened = new NamespaceSession<>(
                this,
                namespaces.inNamespace.apply(namespace, members::containsKey),
                namespaces.store.options.recovery());
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
        reads.stop();
        if (session != null) {
            session.reflector.close();
            session = null;
        }
    }

    /** Does a step of a session, unless another session has replaced it. */
    private void step(NamespaceSession<T> from, Runnable step) {
        steps.execute(() -> {
            if (session == from) {
                step.run();
            }
        });
    }

    /**
     * Receives a list of the namespace.
     *
     * @param begunAt the number of the list's start: the list does not cover members that joined later
     */
    void replaced(NamespaceSession<T> from, List<Fetched<T>> items, String version, long begunAt) {
        step(from, () -> {
            Map<String, Fetched<T>> byName = new HashMap<>();
            items.forEach(item -> byName.put(nameOf(item), item));
            members.forEach((name, member) -> {
                if (member.joinedBefore(begunAt)) {
                    tell(member, listed -> listed.listed(byName.get(name), version));
                }
            });
        });
    }

    void upserted(NamespaceSession<T> from, Fetched<T> fetched) {
        step(from, () -> tell(members.get(nameOf(fetched)), member -> member.upserted(fetched)));
    }

    void deleted(NamespaceSession<T> from, Fetched<T> last) {
        step(from, () -> tell(members.get(nameOf(last)), member -> member.deleted(last.resourceVersion())));
    }

    void connected(NamespaceSession<T> from) {
        step(from, () -> {
            live = true;
            failed = false;
            for (NamespaceMember<T> member : members.values()) {
                if (member.isSynced()) {
                    tell(member, synced -> synced.entry.upToDate(synced));
                } else {
                    reads.add(member);
                }
            }
        });
    }

    void resumed(NamespaceSession<T> from) {
        step(from, () -> {
            // a list follows
            failed = false;
            members.values().forEach(member -> tell(member, NamespaceMember::unconfirmed));
        });
    }

    void disconnected(NamespaceSession<T> from, ApiServerException cause) {
        step(from, () -> {
            live = false;
            failed = true;
            reads.stop();
            if (cause.reason() == FailureReason.FORBIDDEN) {
                refused(cause);
            } else {
                members.values().forEach(member -> tell(member, each -> each.failed(cause)));
            }
        });
    }

    /** Ends the watch because the namespace may not be watched; each member's entry then opens a watch of its own. */
    void refused(ApiServerException cause) {
        List<NamespaceMember<T>> ended = namespaces.refuse(this, cause);
        end();
        ended.forEach(member -> tell(member, each -> each.failed(cause)));
    }

    /** Tells a member's entry of a change. If the entry throws, the member is read by name. */
    void tell(@Nullable NamespaceMember<T> member, Consumer<NamespaceMember<T>> change) {
        if (member == null) {
            return;
        }
        try {
            change.accept(member);
        } catch (RuntimeException | Error e) {
            log.error("{} {}: handling a change threw; reading it again", namespaces.store.kind, member.entry.key, e);
            member.lose();
            if (live) {
                reads.again(member, null);
            }
        }
    }

    /** Returns the name of an object of this namespace, otherwise "". A proxy may mix up namespaces. */
    String nameOf(Fetched<T> fetched) {
        ObjectMeta metadata = fetched.object().getMetadata();
        return namespace.equals(metadata.getNamespace()) ? Strings.nullToEmpty(metadata.getName()) : "";
    }
}
