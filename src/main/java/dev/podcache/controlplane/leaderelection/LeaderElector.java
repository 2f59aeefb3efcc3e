package dev.podcache.controlplane.leaderelection;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Competes for a Lease, so that one of several processes leads. A candidate tries to get the Lease after each retry
 * period, lengthened at random. It gets it when the Lease does not exist, has no holder, or was not renewed for its
 * duration, measured on the candidate's own clock. The leader renews it after each retry period. It stops leading when
 * it has not renewed it for the renew deadline, or sees another holder, and is a candidate again. Thread-safe; no method
 * blocks.
 *
 * <p>Two processes never lead at the same time as long as their clocks run at about the same speed: the deadline counts
 * from the moment before the last successful request was sent, and is shorter than the duration, which counts from the
 * moment when another candidate has seen its effect.
 */
public final class LeaderElector {

    /*
     * The rules of client-go's tools/leaderelection. fabric8's LeaderElector has them too, but sends its requests over
     * its own HTTP client and runs on its own threads and clock: a rotated certificate would not reach it, and a test
     * could not drive its time. It also counts the deadline from the start of a renewal, so that a slow request can
     * make two leaders.
     *
     * State      a try                          leaves the state when
     * ------------------------------------------------------------------------------------------------------------
     * candidate  reads, and creates or updates  a try succeeds                               -> leader
     * leader     updates what it wrote last;    the deadline has passed, or the Lease has
     *            reads first after a failure    another holder                               -> candidate
     * stopped    none
     *
     * One try at a time. Each has a number. A try that is not the current one any more writes nothing, and the answer to
     * it is ignored, so a request that is answered after the deadline or the stop changes nothing here. It may change the
     * Lease, though: so the release waits until no write is in flight. All state is used by tasks of the loop only.
     */

    private static final Logger log = LoggerFactory.getLogger(LeaderElector.class);
    private static final int RELEASE_TRIES = 5;

    private final ObjectApi<Lease> leases;
    private final LeaderElectionOptions options;
    private final LeadershipListener listener;
    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final ControllerLoop loop;
    private final CompletableFuture<@Nullable Void> released = new CompletableFuture<>();

    private volatile long
            leaseEnds; // nanoseconds: until then no other process gets the Lease; written by tasks of the loop

    private boolean leading;
    private boolean stopped;
    private long tries;
    private CompletableFuture<?> writes = CompletableFuture.completedFuture(null); // ends when none is in flight
    private String reportedHolder = "";
    private boolean refused; // since the Lease was held last
    private long refusedAt; // when that began
    private boolean warned; // of that
    private @Nullable Lease written; // what this leader wrote last; null if it must read first
    private @Nullable LeaseSpec observed;
    private long observedAt;
    private Timekeeper.@Nullable Scheduled next;
    private Timekeeper.@Nullable Scheduled deadline;

    /** Is told of the leadership. Called by one thread at a time; must not block. */
    public interface LeadershipListener {

        /** This process leads from now on. */
        void startedLeading();

        /**
         * This process does not lead any more, and must not act as leader.
         *
         * @param why a text for people
         */
        void stoppedLeading(String why);

        /** Another process, or this one, is the holder now. */
        void newLeader(String identity);
    }

    /** Creates a candidate that is not started. */
    public LeaderElector(
            ObjectApi<Lease> leases,
            LeaderElectionOptions options,
            LeadershipListener listener,
            Timekeeper timekeeper) {
        this(
                leases,
                options,
                listener,
                timekeeper,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Creates a candidate that is not started.
     *
     * @param random uniform in [0, 1)
     */
    LeaderElector(
            ObjectApi<Lease> leases,
            LeaderElectionOptions options,
            LeadershipListener listener,
            Timekeeper timekeeper,
            DoubleSupplier random) {
        this.leases = leases;
        this.options = options;
        this.listener = listener;
        this.timekeeper = timekeeper;
        this.random = random;
        this.loop = new ControllerLoop(timekeeper);
        this.leaseEnds = timekeeper.nanoTime();
    }

    /** Starts to compete. Call it once. */
    public void start() {
        loop.execute(this::attempt);
    }

    /**
     * Stops to compete. A leader first stops leading, and then gives the Lease up, so that another process can lead at
     * once. So does a candidate whose last request gets the Lease after this call. Idempotent.
     *
     * @return completes when the Lease is given up, or that has failed
     */
    public CompletableFuture<@Nullable Void> stop() {
        loop.execute(() -> {
            if (stopped) {
                return;
            }
            boolean mayHold = leading || !writes.isDone();
            stopped = true;
            tries++;
            cancelTimers();
            if (leading) {
                lose("this process ends");
            }
            loop.whenDone(mayHold ? release(1) : CompletableFuture.completedFuture(null), (done, failure) -> {
                // what does not exist, nobody holds
                if (failure != null && ApiServerException.reasonOf(failure) != FailureReason.NOT_FOUND) {
                    log.warn(
                            "Lease {} could not be given up: {}; other processes wait {} s",
                            options.lease(),
                            ApiServerException.describe(failure),
                            options.leaseDuration().toSeconds());
                }
                released.complete(null);
            });
        });
        return released;
    }

    /**
     * Returns for how long no other process can get the Lease: until its duration after the last renewal that succeeded was
     * sent. A request that takes longer may arrive when another process leads. Zero if this process does not lead. Takes no
     * lock.
     */
    public Duration left() {
        long left = leaseEnds - timekeeper.nanoTime();
        return left > 0 ? Duration.ofNanos(left) : Duration.ZERO;
    }

    /**
     * Reads the Lease live, and stops leading if another process holds it: for a leader whose write has met that of somebody
     * else.
     *
     * @return a future of whether this process leads and holds the Lease; it fails if the Lease cannot be read
     */
    public CompletableFuture<Boolean> confirm() {
        CompletableFuture<Boolean> confirmed = new CompletableFuture<>();
        loop.execute(() -> loop.whenDone(leases.get(options.lease()), (lease, failure) -> {
            if (lease == null) {
                confirmed.completeExceptionally(ApiServerException.causeOf(failure));
                return;
            }
            String holder = LeaderRecord.holder(lease);
            boolean held = holder.equals(options.identity());
            if (leading && !held) {
                report(holder);
                lose("Lease " + options.lease() + " is held by " + (holder.isEmpty() ? "nobody" : holder));
                tries++;
                cancelTimers();
                next = loop.schedule(jittered(options.retryPeriod()), this::attempt);
            }
            confirmed.complete(leading && held);
        }));
        return confirmed;
    }

    private CompletableFuture<@Nullable Lease> release(int tries) {
        return writes.thenCompose(over -> leases.get(options.lease()))
                .thenCompose(lease -> LeaderRecord.holder(lease).equals(options.identity())
                        ? nullable(leases.update(LeaderRecord.released(lease, timekeeper.wallTime())))
                        : CompletableFuture.completedFuture(null))
                // a renewal that timed out here may arrive between the read and the write
                .exceptionallyCompose(failure ->
                        tries < RELEASE_TRIES && ApiServerException.reasonOf(failure) == FailureReason.CONFLICT
                                ? release(tries + 1)
                                : CompletableFuture.failedFuture(failure));
    }

    private void attempt() {
        if (stopped) {
            return;
        }
        long number = ++tries;
        long sentAt = timekeeper.nanoTime();
        Lease known = written;
        loop.whenDone(known == null ? readAndTake(number) : take(known), (lease, failure) -> {
            if (number == tries) {
                answered(sentAt, lease, failure);
            }
        });
    }

    /** Completes with the Lease that this process holds; with null if another process holds it, or the try is over. */
    private CompletableFuture<@Nullable Lease> readAndTake(long number) {
        CompletableFuture<@Nullable Lease> result = new CompletableFuture<>();
        loop.whenDone(leases.get(options.lease()), (lease, failure) -> {
            CompletableFuture<@Nullable Lease> taken;
            if (number != tries) {
                taken = CompletableFuture.completedFuture(null);
            } else if (lease != null) {
                taken = mayTake(lease) ? take(lease) : CompletableFuture.completedFuture(null);
            } else if (ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND) {
                taken = sent(leases.create(LeaderRecord.created(options, timekeeper.wallTime())));
            } else {
                taken = CompletableFuture.failedFuture(ApiServerException.causeOf(failure));
            }
            taken.whenComplete((held, thrown) -> {
                if (thrown == null) {
                    result.complete(held);
                } else {
                    result.completeExceptionally(thrown);
                }
            });
        });
        return result;
    }

    private boolean mayTake(Lease lease) {
        if (!Objects.equals(observed, lease.getSpec())) {
            observed = lease.getSpec();
            observedAt = timekeeper.nanoTime();
        }
        String holder = LeaderRecord.holder(lease);
        report(holder);
        Duration silent = Duration.ofNanos(timekeeper.nanoTime() - observedAt);
        return holder.isEmpty()
                || holder.equals(options.identity())
                || silent.compareTo(LeaderRecord.duration(lease, options.leaseDuration())) >= 0;
    }

    private CompletableFuture<@Nullable Lease> take(Lease lease) {
        return sent(leases.update(LeaderRecord.held(options, lease, timekeeper.wallTime())));
    }

    private void answered(long sentAt, @Nullable Lease lease, @Nullable Throwable failure) {
        written = lease;
        Duration pause = leading ? options.retryPeriod() : jittered(options.retryPeriod());
        next = loop.schedule(pause, this::attempt);
        Duration left = options.renewDeadline().minusNanos(timekeeper.nanoTime() - sentAt);
        if (lease != null && !left.isNegative() && !left.isZero()) {
            leaseEnds = sentAt + options.leaseDuration().toNanos();
            won(left);
        } else if (failure != null) {
            reportFailure(failure);
        } else if (leading && lease == null) {
            lose("Lease " + options.lease() + " is held by " + reportedHolder);
        }
    }

    private void reportFailure(Throwable failure) {
        String text = ApiServerException.describe(failure);
        long now = timekeeper.nanoTime();
        boolean refusal = ApiServerException.reasonOf(failure) == FailureReason.FORBIDDEN;
        if (refusal && !refused) {
            refused = true;
            refusedAt = now;
        }
        // a server that has just started, or was just given the Role, refuses for a moment
        if (refusal && !warned && now - refusedAt >= options.renewDeadline().toNanos()) {
            warned = true;
            log.warn(
                    "Lease {} could not be {}: {}; while that is refused, this process does not lead; retrying. Allow `get`,"
                            + " `create` and `update` on leases in that namespace, or name the namespace in which they are allowed",
                    options.lease(),
                    leading ? "renewed" : "acquired",
                    text);
        } else {
            log.info("Lease {} could not be {}: {}; retrying", options.lease(), leading ? "renewed" : "acquired", text);
        }
    }

    private void won(Duration left) {
        refused = false;
        warned = false;
        if (deadline != null) {
            deadline.cancel();
        }
        deadline = loop.schedule(left, this::deadlinePassed);
        report(options.identity());
        if (!leading) {
            leading = true;
            log.info("acquired Lease {}", options.lease());
            tell(listener::startedLeading);
        }
    }

    private void deadlinePassed() {
        lose("Lease " + options.lease() + " could not be renewed within "
                + options.renewDeadline().toSeconds() + " s");
        // a try that is still open counts no more
        tries++;
        cancelTimers();
        next = loop.schedule(jittered(options.retryPeriod()), this::attempt);
    }

    private void lose(String why) {
        leading = false;
        leaseEnds = timekeeper.nanoTime();
        written = null;
        if (deadline != null) {
            deadline.cancel();
        }
        log.info("stopped leading: {}", why);
        tell(() -> listener.stoppedLeading(why));
    }

    private void report(String holder) {
        if (!holder.isEmpty() && !holder.equals(reportedHolder)) {
            reportedHolder = holder;
            tell(() -> listener.newLeader(holder));
        }
    }

    private void tell(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            log.error("a listener of Lease {} threw; this is a bug in the listener", options.lease(), e);
        }
    }

    private void cancelTimers() {
        if (next != null) {
            next.cancel();
        }
        if (deadline != null) {
            deadline.cancel();
        }
    }

    private Duration jittered(Duration period) {
        return period.plusNanos((long) (period.toNanos() * LeaderElectionOptions.JITTER * random.getAsDouble()));
    }

    private CompletableFuture<@Nullable Lease> sent(CompletableFuture<Lease> write) {
        CompletableFuture<?> earlier = writes;
        writes = write.handle((lease, failure) -> earlier).thenCompose(others -> others);
        return nullable(write);
    }

    private static CompletableFuture<@Nullable Lease> nullable(CompletableFuture<Lease> answer) {
        return answer.thenApply(lease -> lease);
    }
}
