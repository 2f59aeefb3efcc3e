package dev.podcache.josdk;

import dev.podcache.object.ObjectKey;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** What the reconciler of the websites has seen: how often each was reconciled, and with which versions. Thread-safe. */
final class SeenSecrets implements BiConsumer<Website, Set<Secret>> {

    /** When a website was first reconciled with a version of a Secret. */
    private record Seen(long version, long nanos) {}

    /** A website and one of its Secrets. */
    private record Use(ObjectKey website, ObjectKey secret) {}

    private final Map<ObjectKey, Integer> reconciliations = new HashMap<>(); // guarded by this, like the other
    private final Map<Use, Seen> newest = new HashMap<>();

    @Override
    public void accept(Website website, Set<Secret> secrets) {
        long now = System.nanoTime();
        ObjectKey owner = keyOf(website);
        reconciled(owner);
        for (Secret secret : secrets) {
            seen(owner, keyOf(secret), versionOf(secret), now);
        }
    }

    static ObjectKey keyOf(HasMetadata object) {
        return ObjectKey.of(
                object.getMetadata().getNamespace(), object.getMetadata().getName());
    }

    static long versionOf(HasMetadata object) {
        return Long.parseLong(object.getMetadata().getResourceVersion());
    }

    synchronized void reconciled(ObjectKey website) {
        reconciliations.merge(website, 1, Integer::sum);
    }

    synchronized void seen(ObjectKey website, ObjectKey secret, long version, long nanos) {
        Use use = new Use(website, secret);
        Seen before = newest.get(use);
        if (before == null || before.version < version) {
            newest.put(use, new Seen(version, nanos));
            notifyAll();
        }
    }

    /** Returns how often each website was reconciled. */
    synchronized Map<ObjectKey, Integer> reconciliations() {
        return Map.copyOf(reconciliations);
    }

    /** Waits until all {@code owners} have seen that version or a later one; returns when the last of them did. */
    synchronized long await(Set<ObjectKey> owners, ObjectKey secret, long version) throws InterruptedException {
        long latest = Long.MIN_VALUE;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(Patience.SECONDS);
        for (ObjectKey owner : owners) {
            Seen seen = newest.get(new Use(owner, secret));
            while (seen == null || seen.version < version) {
                long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (millis <= 0) {
                    throw new AssertionError(owner + " was not reconciled with version " + version + " of " + secret
                            + ", but with " + seen);
                }
                wait(millis);
                seen = newest.get(new Use(owner, secret));
            }
            latest = Math.max(latest, seen.nanos);
        }
        return latest;
    }
}
