package dev.podcache.concurrency;

import dev.podcache.store.IndexOperations;
import org.junit.jupiter.api.Test;

/** {@link IndexOperations} on real threads. */
public class EntryIndexLinearizabilityTest extends IndexOperations {

    @Test
    void putsRemovalsAndLookups_areLinearizable() {
        Linearizability.check(EntryIndexLinearizabilityTest.class);
    }
}
