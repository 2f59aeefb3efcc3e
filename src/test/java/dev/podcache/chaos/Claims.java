package dev.podcache.chaos;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the pods of one cache refer to. One thread registers and writes here; any thread reads.
 *
 * <p>A claim is {@linkplain Claim#changing changing} from before a call that adds or takes back a
 * reference until after it. Between two looks that find the same epoch, references all the way and nothing
 * changing, there was no new reference.
 */
final class Claims {

    private final Map<CachedObject, Claim> claims = new ConcurrentHashMap<>();

    /** What begins with a new reference. Told apart by identity. */
    static final class Epoch {

        /** Before this moment the registration that brought the new reference had not begun. */
        final long began;

        /** The same of the registration that brought the first reference. */
        final long firstBegan;

        /** After this moment the registration that brought the new reference had returned. */
        final long returned;

        private volatile boolean seen;

        /** One whose registration took no time. */
        Epoch(long began, long firstBegan) {
            this(began, firstBegan, began);
        }

        Epoch(long began, long firstBegan, long returned) {
            this.began = began;
            this.firstBegan = firstBegan;
            this.returned = returned;
        }

        /** Whether a get that began in this epoch has brought an answer, be it NotFound. */
        boolean isSeen() {
            return seen;
        }

        void see() {
            seen = true;
        }
    }

    /** How an object is referred to at one moment. */
    record Claim(int references, boolean changing, Epoch epoch) {

        private static final Claim NONE = new Claim(0, false, new Epoch(0, 0));

        /** Whether it was surely referred to. */
        boolean isHeld() {
            return references > 0 && !changing;
        }

        /** Whether it surely was not. */
        boolean isFree() {
            return references == 0 && !changing;
        }
    }

    Claim of(CachedObject subject) {
        return claims.getOrDefault(subject, Claim.NONE);
    }

    /** References are about to change. */
    void changing(Collection<CachedObject> subjects) {
        for (CachedObject subject : subjects) {
            Claim known = of(subject);
            claims.put(subject, new Claim(known.references(), true, known.epoch()));
        }
    }

    /** References were added, by a registration that began at {@code began} and has returned by {@code now}. */
    void added(Collection<CachedObject> subjects, long began, long now) {
        for (CachedObject subject : subjects) {
            Claim known = of(subject);
            long first = known.references() == 0 ? began : known.epoch().firstBegan;
            claims.put(subject, new Claim(known.references() + 1, false, new Epoch(began, first, now)));
        }
    }

    /** There are no references any more, because the cache that had them is closed. They still count as changing. */
    void forgotten(Collection<CachedObject> subjects) {
        for (CachedObject subject : subjects) {
            claims.put(subject, new Claim(0, true, of(subject).epoch()));
        }
    }

    /** References were taken back. */
    void removed(Collection<CachedObject> subjects) {
        for (CachedObject subject : subjects) {
            Claim known = of(subject);
            claims.put(subject, new Claim(known.references() - 1, false, known.epoch()));
        }
    }
}
