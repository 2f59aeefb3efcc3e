package dev.podcache.manager;

import static dev.podcache.manager.OnBehalfFixture.WEB;
import static dev.podcache.manager.OnBehalfFixture.owner;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import java.lang.management.ManagementFactory;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a hit for an owner costs in memory: nothing. How long it takes is a matter for benchmarks. */
@Slow
@ExtendWith(NoLeaks.class)
class OnBehalfAllocationTest {

    private static final int ROUNDS = 200;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final String[] names =
            IntStream.range(0, 512).mapToObj(i -> "object-" + i).toArray(String[]::new);

    @ParameterizedTest
    @EnumSource(
            value = ChangeDetectionStrategy.class,
            names = {"CACHE", "WATCH"})
    void getObject_hitForAnOwner_allocatesNothing(ChangeDetectionStrategy strategy) {
        OnBehalfFixture cache = new OnBehalfFixture(new ManualTimekeeper(), strategy);
        cache.reviews.answerBy((subject, access) -> true);
        ObjectKey[] keys = new ObjectKey[names.length];
        for (int i = 0; i < names.length; i++) {
            keys[i] = ObjectKey.of("shop", names[i]);
            cache.create(keys[i], "v1");
        }
        cache.register(owner("plain"), keys);
        cache.register(owner("a", WEB), keys);

        assertThat(allocatedBy(cache, owner("plain"))).as("without a subject").isLessThan(10_000);
        assertThat(allocatedBy(cache, owner("a", WEB))).as("with one").isLessThan(10_000);
        assertThat(allocatedBy(cache, owner("a", Subject.serviceAccount("shop", "web"))))
                .as("with an equal one")
                .isLessThan(10_000);
    }

    /**
     * Bytes for 102,400 hits. The reading of the meter itself may cost a little; 16 bytes for each hit would be 1.6 MB.
     */
    private long allocatedBy(OnBehalfFixture cache, Referrer owner) {
        // first compiled, then measured
        for (int i = 0; i < 100; i++) {
            readAll(cache, owner);
        }
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        for (int i = 0; i < ROUNDS; i++) {
            readAll(cache, owner);
        }
        return threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    }

    private void readAll(OnBehalfFixture cache, Referrer owner) {
        for (String name : names) {
            if (cache.secrets.getObject(owner, "shop", name).getMetadata() == null) {
                throw new AssertionError(name);
            }
        }
    }
}
