package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.time.Timekeeper;
import org.jetbrains.lincheck.datastructures.Operation;

/**
 * One entry, its server and gets of it: the loop of {@code TtlObjectStore} round the entry and its fetches, with nothing
 * else of the store. Between the start of a fetch, the reading at the server and its ended, other threads may do
 * anything.
 */
public abstract class EntryOperations {

    private static final ObjectKey KEY = ObjectKey.of("shop", "db");
    private static final PodKey POD = PodKey.of("shop", "web", "uid");

    private final long ttlNanos;
    private final TtlEntry<Integer> entry;
    private volatile int atServer = 1; // written under this

    /** Of a referenced object. */
    protected EntryOperations(Timekeeper timekeeper, long ttlNanos) {
        this.ttlNanos = ttlNanos;
        this.entry = new TtlEntry<>(KEY, new Transitions<>(StoreOptions.defaults(timekeeper)), 0, EarlyRefusals.NODE);
        entry.addReference(POD);
    }

    /** Changes the object at the server. */
    protected final synchronized int writeAtServer() {
        atServer++;
        return atServer;
    }

    /** Forgets what is known, and detaches the fetch under way. */
    protected final void addReference() {
        entry.addReference(POD);
    }

    @Operation
    public int get() {
        long begunBefore = entry.fetchesBegun();
        while (true) {
            TtlEntry.TtlLookup<Integer> lookup = entry.lookup(0, ttlNanos, begunBefore);
            Fetches.Fetch<Integer> started = lookup.started();
            if (started != null) {
                int read = atServer;
                entry.end(
                        started, Fetches.FetchOutcome.answered(new Answer.Present<>(0, read, "" + read, 1, false)), 0);
            }
            Fetches.Fetch<Integer> awaited = lookup.awaited();
            if (awaited == null) {
                return lookup.usable() == null ? -1 : lookup.usable();
            }
            Fetches.FetchOutcome<Integer> outcome = awaited.outcome.join();
            if ((awaited.number > begunBefore || ttlNanos > 0)
                    && outcome.answer() instanceof Answer.Present<Integer> present) {
                return present.object;
            }
        }
    }
}
