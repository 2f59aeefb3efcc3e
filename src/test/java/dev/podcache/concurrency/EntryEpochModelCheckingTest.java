package dev.podcache.concurrency;

import dev.podcache.store.EntryOperations;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/** However long the TTL, a get that begins after a new reference sees every write before that (P1); model-checked. */
public class EntryEpochModelCheckingTest extends EntryOperations {

    public EntryEpochModelCheckingTest() {
        super(new StandingTime(), Long.MAX_VALUE);
    }

    @Operation
    public int writeAndRefer() {
        int written = writeAtServer();
        addReference();
        return written;
    }

    @Test
    void getsAndNewReferences_areLinearizable() {
        ModelChecking.check(EntryEpochModelCheckingTest.class);
    }
}
