package dev.podcache.concurrency;

import org.junit.jupiter.api.Test;

/** {@link StoreReferences} under strategy CACHE. */
public class TtlReferencesLinearizabilityTest extends StoreReferences {

    public TtlReferencesLinearizabilityTest() {
        super(SharedSecret.ttlStore(Long.MAX_VALUE, () -> 1));
    }

    @Test
    void addDeleteAndCount_areLinearizable() {
        Linearizability.check(TtlReferencesLinearizabilityTest.class);
    }
}
