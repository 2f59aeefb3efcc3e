package dev.podcache.kubelet.certificate;

import com.google.common.collect.Comparators;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.time.Pause;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces the client certificate of a node before it expires: at a random point between 70 and 90 % of its life, so that
 * nodes that were added together do not all request theirs together. The certificate in use requests the next one. A
 * rotation that fails is repeated with a new key, after 2 s at first and then pauses that double up to 32 s; until one
 * succeeds, the certificate in use stays. A certificate that is beyond its point when it is issued, because its signer dates
 * it back or the clock of this machine is ahead, is replaced after a tenth of what is left of its life, at most a minute.
 *
 * <p>After a rotation, requests use connections with the new certificate. Open watches stay on connections with the old one
 * until the server ends them, which it does after some minutes, so no watch is lost.
 *
 * <p>Thread-safe; no method blocks. Follows {@code client-go/util/certificate/certificate_manager.go}.
 */
public final class CertificateRotation implements AutoCloseable {

    /*
     * One step at a time: read -> wait until due -> request -> wait until due -> ..., each started by the end of the one
     * before. So only what other threads read is volatile.
     */

    private static final double EARLIEST = 0.7;
    private static final double SPREAD = 0.2;

    /** The clock may jump, and timers stand still while a machine is suspended. */
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);

    /** From the end of a rotation to the next request, whatever the new certificate says: a tenth of what is left of it. */
    private static final Duration SHORTEST_BETWEEN = Duration.ofSeconds(1);

    private static final Duration LONGEST_BETWEEN = Duration.ofMinutes(1);

    private static final Duration READ_AGAIN = Duration.ofMinutes(1);
    private static final Retries RETRIES = new Retries(Duration.ofSeconds(2), Duration.ofSeconds(32));
    private static final Logger log = LoggerFactory.getLogger(CertificateRotation.class);

    private final NodeCertificate certificate;
    private final SigningRequests server;
    private final Runnable reread;
    private final DoubleSupplier random;
    private final NodeRequests requests;
    private final Pause pause;
    private final AtomicBoolean started = new AtomicBoolean();
    private final AtomicLong failures = new AtomicLong();
    private volatile @Nullable X509Certificate current;
    private volatile @Nullable Instant next;
    private int inARow;
    private String problem = "";

    /**
     * Creates a rotation that is not started.
     *
     * @param reread makes the server's client read its credentials again
     * @param random uniform in [0, 1)
     */
    CertificateRotation(NodeCertificate certificate, SigningRequests server, Runnable reread, DoubleSupplier random) {
        this.certificate = certificate;
        this.server = server;
        this.reread = reread;
        this.random = random;
        this.requests = new NodeRequests(certificate, server, false, log::info);
        this.pause = new Pause(server.timekeeper());
    }

    /**
     * Creates a rotation that is not started.
     *
     * @param certificate exists
     * @param server uses {@code certificate} by naming its file; must be closed after this
     */
    public static CertificateRotation of(NodeCertificate certificate, Fabric8ApiServer server) {
        return new CertificateRotation(
                certificate,
                SigningRequests.at(server),
                server::rereadCredentials,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Starts to rotate.
     *
     * @throws IllegalStateException if it was called before
     */
    public void start() {
        if (started.getAndSet(true)) {
            throw new IllegalStateException("the rotation of " + certificate + " was started before");
        }
        readSoon();
    }

    /** Returns when the certificate in use expires; empty until it was read. */
    public Optional<Instant> expires() {
        X509Certificate used = current;
        return used == null ? Optional.empty() : Optional.of(used.getNotAfter().toInstant());
    }

    /** Returns when the next rotation begins, which may be over if rotations fail; empty until the certificate was read. */
    public Optional<Instant> next() {
        return Optional.ofNullable(next);
    }

    /** Returns how many rotations have failed since the start; each is repeated until one succeeds. */
    public long failures() {
        return failures.get();
    }

    /** Returns the point of the rotation in the life of a certificate. */
    static Instant point(Instant from, Instant end, double random) {
        double millis = Duration.between(from, end).toMillis() * (EARLIEST + SPREAD * random);
        return from.plusMillis(Math.round(millis));
    }

    private void readSoon() {
        server.timekeeper().blocking().execute(this::read);
    }

    private void read() {
        try {
            plan(certificate.files().read(), Duration.ZERO);
        } catch (IOException | GeneralSecurityException | RuntimeException | Error e) {
            log.warn(
                    "{} cannot be read ({}), so it is not rotated; trying again in {} s",
                    certificate,
                    e.getMessage(),
                    READ_AGAIN.toSeconds());
            pause.then(READ_AGAIN, this::readSoon);
        }
    }

    private void plan(CertifiedKey identity, Duration least) {
        X509Certificate used = identity.certificate();
        Instant wanted = point(used.getNotBefore().toInstant(), identity.expires(), random.getAsDouble());
        Instant due = Comparators.max(wanted, server.timekeeper().wallTime().plus(least));
        current = used;
        next = due;
        inARow = 0;
        problem = "";
        log.info("{} expires at {}; the next rotation is at {}", certificate, identity.expires(), due);
        waitUntil(due);
    }

    private void waitUntil(Instant due) {
        Duration left = Duration.between(server.timekeeper().wallTime(), due);
        if (left.isNegative() || left.isZero()) {
            rotate();
        } else {
            pause.then(Comparators.min(left, LONGEST_WAIT), () -> waitUntil(due));
        }
    }

    private void rotate() {
        try {
            requests.next().whenComplete((identity, thrown) -> {
                try {
                    ended(identity, thrown);
                } catch (RuntimeException | Error e) {
                    failed(e);
                }
            });
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private void ended(@Nullable CertifiedKey identity, @Nullable Throwable thrown) {
        if (identity != null) {
            log.info("{} was rotated", certificate);
            useNow();
            plan(identity, between(identity));
        } else if (!(thrown instanceof CancellationException)) {
            failed(ApiServerException.causeOf(thrown));
        }
    }

    private Duration between(CertifiedKey identity) {
        Duration left = Duration.between(server.timekeeper().wallTime(), identity.expires());
        return Comparators.max(SHORTEST_BETWEEN, Comparators.min(left.dividedBy(10), LONGEST_BETWEEN));
    }

    private void useNow() {
        try {
            reread.run();
        } catch (RuntimeException | Error e) {
            log.warn("the client did not read {} again at once; it does so within 10 s", certificate, e);
        }
    }

    private void failed(Throwable failure) {
        failures.incrementAndGet();
        inARow++;
        Duration retry = RETRIES.pause(inARow, random.getAsDouble(), failure.getCause());
        String why = failure instanceof CertificateRequestException
                ? String.valueOf(failure.getMessage())
                : failure.toString();
        if (!why.equals(problem)) {
            problem = why;
            log.warn(
                    "{} could not be rotated: {}; it is used until {}; retrying in {} s, then after pauses of up to 32 s",
                    certificate,
                    why,
                    expires().orElse(Instant.EPOCH),
                    retry.toSeconds());
        }
        pause.then(retry, this::rotate);
    }

    /** Stops to rotate. The certificate stays as it is, and a pending request is taken up by the next start. Idempotent. */
    @Override
    public void close() {
        pause.close();
        requests.close();
    }
}
