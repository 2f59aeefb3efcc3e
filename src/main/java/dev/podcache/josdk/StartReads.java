package dev.podcache.josdk;

import com.google.common.collect.Maps;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.josdk.RegisteredPrimaries.WantedObject;
import dev.podcache.manager.Manager;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.Referrer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the objects that the first reconciliations need, all at once, on one waiting thread. Neither a refused object
 * nor a slow one holds up the others: whoever may create a primary could name one.
 */
final class StartReads<R extends HasMetadata> {

    /** How often all objects are read if the server answers nothing: a minute, with the default first-sync timeout. */
    static final int TRIES = 60;

    private static final Logger log = LoggerFactory.getLogger(PodcacheEventSource.class);
    private static final long LOOK_MILLIS = 20;

    private final String source;
    private final ObjectKind<R> kind;
    private final Manager<R> manager;

    /**
     * Makes an instance.
     *
     * @param source the name of the event source, for the log
     */
    StartReads(String source, ObjectKind<R> kind, Manager<R> manager) {
        this.source = source;
        this.kind = kind;
        this.manager = manager;
    }

    /**
     * Waits until registered objects are read, are known not to exist, or are refused; not for ever. An interrupt ends
     * the wait; the interrupt status is then set.
     */
    void read(Stream<WantedObject> objects) {
        Set<WantedObject> wanted =
                objects.filter(each -> kind.isLegal(each.object())).collect(Collectors.toSet());
        Set<WantedObject> late = wanted;
        boolean mayBringMore = true;
        for (int tries = 0; tries < TRIES && mayBringMore && !late.isEmpty(); tries++) {
            Set<WantedObject> before = late;
            late = readOnce(before);
            boolean noneIsAnswered = late.size() == wanted.size();
            mayBringMore = (noneIsAnswered || late.size() < before.size())
                    && !Thread.currentThread().isInterrupted();
        }
        if (!late.isEmpty()) {
            ObjectKey example = late.iterator().next().object();
            Throwable failure = lastFailure(example);
            log.warn(
                    "{} starts, although not all objects of kind {} are read: {} of {} are not, such as {}: {}",
                    source,
                    kind,
                    late.size(),
                    wanted.size(),
                    example,
                    failure == null ? "no answer yet" : failure.toString());
        }
    }

    /** Reads objects once. Returns those that another read may bring. */
    private Set<WantedObject> readOnce(Set<WantedObject> objects) {
        Map<WantedObject, CompletableFuture<R>> open = new HashMap<>(Maps.toMap(objects, this::readAsync));
        // made once: a read that is open keeps whatever waits for it, so one for each look would add up
        CompletableFuture<Void> all = CompletableFuture.allOf(open.values().toArray(CompletableFuture<?>[]::new));
        Set<WantedObject> late = new HashSet<>();
        do {
            open.entrySet().removeIf(each -> {
                CompletableFuture<R> read = each.getValue();
                boolean done = read.isDone();
                if (done && mayEndSoon(read)) {
                    late.add(each.getKey());
                }
                // the read of a refused object goes on until its timeout: access may be granted
                return done || isRefused(each.getKey().object());
            });
        } while (!open.isEmpty() && waitFor(all));
        late.addAll(open.keySet());
        return late;
    }

    private CompletableFuture<R> readAsync(WantedObject wanted) {
        Referrer owner = wanted.owner();
        String namespace = wanted.object().namespace();
        String name = wanted.object().name();
        return owner == null ? manager.getObjectAsync(namespace, name) : manager.getObjectAsync(owner, namespace, name);
    }

    /** Returns whether a read has failed, and another may succeed: the server was slow, busy or unreachable. */
    private static boolean mayEndSoon(CompletableFuture<?> read) {
        if (!read.isCompletedExceptionally()) {
            return false;
        }
        try {
            read.join();
            return false;
        } catch (CompletionException e) {
            return e.getCause() instanceof NotSynced late
                    && (!(late.getCause() instanceof ApiServerException failure) || Retries.mayPass(failure.reason()));
        }
    }

    /** Returns whether the server refuses an object, and access is not expected to follow soon. */
    private boolean isRefused(ObjectKey object) {
        ObjectState state = manager.state(object.namespace(), object.name());
        Throwable failure = state.lastFailure();
        return failure != null
                && ApiServerException.reasonOf(failure) == FailureReason.FORBIDDEN
                && state.cacheState() != CacheState.WAITING_FOR_ACCESS;
    }

    private @Nullable Throwable lastFailure(ObjectKey object) {
        return manager.state(object.namespace(), object.name()).lastFailure();
    }

    /** Waits for all reads, or a moment if they take longer. Returns false if the thread was interrupted. */
    private static boolean waitFor(CompletableFuture<Void> all) {
        try {
            all.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return true; // the caller looks at each read
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return true;
    }
}
