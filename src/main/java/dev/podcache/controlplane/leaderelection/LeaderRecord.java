package dev.podcache.controlplane.leaderelection;

import com.google.common.primitives.Ints;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads and builds the Lease of a {@link LeaderElector}. Arguments are never modified. Pure functions. */
final class LeaderRecord {

    private static final int RELEASED_SECONDS = 1;

    private LeaderRecord() {}

    /** Returns the identity of the holder; "" if there is none. */
    static String holder(Lease lease) {
        LeaseSpec spec = lease.getSpec();
        return spec == null ? "" : Objects.requireNonNullElse(spec.getHolderIdentity(), "");
    }

    /** Returns how long the holder may be silent. */
    static Duration duration(Lease lease, Duration byDefault) {
        Integer seconds = lease.getSpec() == null ? null : lease.getSpec().getLeaseDurationSeconds();
        return seconds == null || seconds <= 0 ? byDefault : Duration.ofSeconds(seconds);
    }

    /** Returns a new Lease that this candidate holds. */
    static Lease created(LeaderElectionOptions options, Instant now) {
        ObjectKey key = options.lease();
        Lease empty = new LeaseBuilder()
                .withNewMetadata()
                .withNamespace(key.namespace())
                .withName(key.name())
                .endMetadata()
                .build();
        return held(options, empty, now, 0);
    }

    /** Returns {@code base} with this candidate as its holder. Keeps what a holder keeps when it renews. */
    static Lease held(LeaderElectionOptions options, Lease base, Instant now) {
        boolean renewed = holder(base).equals(options.identity());
        int before = transitions(base);
        Lease held = held(options, base, now, renewed ? before : Ints.saturatedCast(before + 1L));
        return renewed
                ? new LeaseBuilder(held)
                        .editSpec()
                        .withAcquireTime(base.getSpec().getAcquireTime())
                        .endSpec()
                        .build()
                : held;
    }

    /** Returns {@code base} without a holder, so that another candidate can be the next one at once. */
    static Lease released(Lease base, Instant now) {
        return new LeaseBuilder(base)
                .editOrNewSpec()
                .withHolderIdentity("")
                .withLeaseDurationSeconds(RELEASED_SECONDS)
                .withRenewTime(micros(now))
                .withAcquireTime(micros(now))
                .endSpec()
                .build();
    }

    private static Lease held(LeaderElectionOptions options, Lease base, Instant now, int transitions) {
        return new LeaseBuilder(base)
                .editOrNewSpec()
                .withHolderIdentity(options.identity())
                .withLeaseDurationSeconds((int) options.leaseDuration().toSeconds())
                .withAcquireTime(micros(now))
                .withRenewTime(micros(now))
                .withLeaseTransitions(transitions)
                .endSpec()
                .build();
    }

    private static int transitions(Lease lease) {
        Integer known = lease.getSpec() == null ? null : lease.getSpec().getLeaseTransitions();
        return known == null ? 0 : known;
    }

    private static @Nullable ZonedDateTime micros(Instant now) {
        return ZonedDateTime.ofInstant(now.truncatedTo(ChronoUnit.MICROS), ZoneOffset.UTC);
    }
}
