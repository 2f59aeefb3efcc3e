package dev.podcache.concurrency;

import org.junit.jupiter.api.Test;

/** {@link ManagerRegistrations} under strategy CACHE. */
public class TtlManagerLinearizabilityTest extends ManagerRegistrations {

    public TtlManagerLinearizabilityTest() {
        super(SharedSecret.ttlStore(Long.MAX_VALUE, () -> 1));
    }

    @Test
    void registrationsAndGets_areLinearizable() {
        Linearizability.check(TtlManagerLinearizabilityTest.class);
    }
}
