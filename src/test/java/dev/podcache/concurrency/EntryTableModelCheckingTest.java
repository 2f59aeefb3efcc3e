package dev.podcache.concurrency;

import dev.podcache.store.EntryTableOperations;
import org.junit.jupiter.api.Test;

/** {@link EntryTableOperations}, model-checked. */
public class EntryTableModelCheckingTest extends EntryTableOperations {

    public EntryTableModelCheckingTest() {
        super(new StandingTime());
    }

    @Test
    void putsRemovalsAndLookups_areLinearizable() {
        ModelChecking.check(EntryTableModelCheckingTest.class);
    }
}
