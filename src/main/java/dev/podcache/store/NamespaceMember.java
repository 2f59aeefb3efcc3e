package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.ResourceVersions;
import io.fabric8.kubernetes.api.model.HasMetadata;
import org.jspecify.annotations.Nullable;

/**
 * The place of one object in the {@link NamespaceWatch} of its namespace.
 *
 * <p>A member is synced once it has the object's state from a request that began after it joined: a list of the
 * namespace, or a list by name. Until then, it keeps the last event, because that event may be newer than the answer to
 * the request. From then on, it ignores events that are older than the answer: the watch may lag behind the request.
 */
final class NamespaceMember<T extends HasMetadata> implements ObjectWatch<T> {

    final WatchEntry<T> entry;
    private final NamespaceWatches<T> namespaces;
    private volatile @Nullable NamespaceWatch<T> watch; // null until it has joined
    private volatile boolean over;
    private volatile boolean hurried;
    private volatile long joinedAt = Long.MAX_VALUE;

    // used in steps of the watch only
    private boolean synced;
    private String knownUpTo = ""; // the version of the state, or of the list that brought it
    private @Nullable Answer<T> early; // the last event before the member was synced
    private String earlyVersion = "";
    private int readRound;

    NamespaceMember(WatchEntry<T> entry, NamespaceWatches<T> namespaces) {
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
            joined.hurry();
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

    /** Called under the lock of {@link NamespaceWatches}, like {@link #joinedAt(long)}. */
    void end() {
        over = true;
    }

    /** Sets when it joined, after the watch can find it: a list that begins later therefore decodes the object. */
    void joinedAt(long tick) {
        joinedAt = tick;
    }

    boolean joinedBefore(long tick) {
        return joinedAt < tick;
    }

    boolean isHurried() {
        return hurried;
    }

    boolean isSynced() {
        return synced;
    }

    /** Marks the member as not synced, so that it is read again: its entry may have missed a state. */
    void lose() {
        synced = false;
        readRound = 0;
    }

    /** Returns whether the member must be read by name in this round; true at most once in a round. */
    boolean beginsReadIn(int round) {
        boolean begins = !synced && !over && readRound != round;
        readRound = round;
        return begins;
    }

    /** Receives its state from a list of the namespace; null if the object is absent. */
    void listed(@Nullable Fetched<T> item, String version) {
        sync(answer(item), version);
    }

    /** Receives its state from a list by name, while the watch is live; null if the object is absent. */
    void read(@Nullable Fetched<T> item, String version) {
        Answer<T> event = early;
        if (event != null && ResourceVersions.isOlder(version, earlyVersion)) {
            sync(event, earlyVersion);
        } else {
            sync(answer(item), version);
        }
        entry.upToDate(this);
    }

    private void sync(Answer<T> answer, String version) {
        synced = true;
        knownUpTo = version;
        early = null;
        entry.received(this, answer, "");
    }

    void upserted(Fetched<T> fetched) {
        changed(answer(fetched), fetched.resourceVersion());
    }

    void deleted(String version) {
        changed(answer(null), version);
    }

    private void changed(Answer<T> answer, String version) {
        if (!synced) {
            early = answer;
            earlyVersion = version;
        } else if (!covers(version)) {
            knownUpTo = version.isEmpty() ? knownUpTo : version;
            entry.received(this, answer, version);
        }
    }

    private boolean covers(String version) {
        return !version.isEmpty() && (version.equals(knownUpTo) || ResourceVersions.isOlder(version, knownUpTo));
    }

    void unconfirmed() {
        if (synced) {
            entry.unconfirmed(this);
        }
    }

    void failed(ApiServerException cause) {
        entry.failed(this, cause);
    }

    private Answer<T> answer(@Nullable Fetched<T> fetched) {
        // the age is not used: the object is up to date while it is watched
        return fetched == null
                ? new Answer.Absent<>(0)
                : Answer.watched(namespaces.store.kind, entry.key, fetched, namespaces.store.options);
    }
}
