package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** The lookup of a host. */
class AddressesTest {

    private final List<Boolean> underALock = new ArrayList<>();
    private final Addresses addresses = new Addresses("localhost", new OnTheCallersThread());

    /** Runs what is urgent on the caller's thread, as a timekeeper that was closed does. */
    private final class OnTheCallersThread extends ForwardingTimekeeper {

        OnTheCallersThread() {
            super(new ManualTimekeeper());
        }

        @Override
        public Executor urgent() {
            return task -> {
                underALock.add(Thread.holdsLock(addresses));
                task.run();
            };
        }
    }

    @Test
    void find_executorRunsTheLookupAtOnce_noLockIsHeld() {
        assertThat(addresses.find()).isCompletedWithValueMatching(found -> !found.isEmpty());

        assertThat(underALock).containsExactly(false);
    }

    @Test
    void find_whenTheLookupHasEnded_beginsAnother() {
        addresses.find();
        addresses.find();

        assertThat(underALock).hasSize(2);
    }
}
