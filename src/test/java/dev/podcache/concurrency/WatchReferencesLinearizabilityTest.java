package dev.podcache.concurrency;

import org.junit.jupiter.api.Test;

/** {@link StoreReferences} under strategy WATCH, where the first reference opens a watch and the last one closes it. */
public class WatchReferencesLinearizabilityTest extends StoreReferences {

    public WatchReferencesLinearizabilityTest() {
        super(new SharedSecret.WatchedServer().store());
    }

    @Test
    void addDeleteAndCount_areLinearizable() {
        Linearizability.check(WatchReferencesLinearizabilityTest.class);
    }
}
