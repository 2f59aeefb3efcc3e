package dev.podcache.concurrency;

import dev.podcache.store.EntryTableOperations;
import org.junit.jupiter.api.Test;

/** {@link EntryTableOperations} on real threads. */
public class EntryTableLinearizabilityTest extends EntryTableOperations {

    public EntryTableLinearizabilityTest() {
        super(new StandingTime());
    }

    @Test
    void putsRemovalsAndLookups_areLinearizable() {
        Linearizability.check(EntryTableLinearizabilityTest.class);
    }
}
