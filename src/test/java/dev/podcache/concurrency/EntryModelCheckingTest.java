package dev.podcache.concurrency;

import dev.podcache.store.EntryOperations;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/** At a TTL of 0, gets that share a flight see every write that was over before they began; model-checked. */
public class EntryModelCheckingTest extends EntryOperations {

    public EntryModelCheckingTest() {
        super(new StandingTime(), 0);
    }

    @Operation
    public int write() {
        return writeAtServer();
    }

    @Operation
    public void refer() {
        addReference();
    }

    @Test
    void getsWritesAndReferences_areLinearizable() {
        ModelChecking.check(EntryModelCheckingTest.class);
    }
}
