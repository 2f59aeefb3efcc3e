package dev.podcache.concurrency;

import dev.podcache.store.IndexOperations;
import org.junit.jupiter.api.Test;

/** {@link IndexOperations}, model-checked. */
public class EntryIndexModelCheckingTest extends IndexOperations {

    @Test
    void putsRemovalsAndLookups_areLinearizable() {
        ModelChecking.check(EntryIndexModelCheckingTest.class);
    }
}
