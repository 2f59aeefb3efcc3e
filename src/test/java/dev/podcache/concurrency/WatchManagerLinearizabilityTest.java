package dev.podcache.concurrency;

import org.junit.jupiter.api.Test;

/** {@link ManagerRegistrations} under strategy WATCH. */
public class WatchManagerLinearizabilityTest extends ManagerRegistrations {

    public WatchManagerLinearizabilityTest() {
        super(new SharedSecret.WatchedServer().store());
    }

    @Test
    void registrationsAndGets_areLinearizable() {
        Linearizability.check(WatchManagerLinearizabilityTest.class);
    }
}
