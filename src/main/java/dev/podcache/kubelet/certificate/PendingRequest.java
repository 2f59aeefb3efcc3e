package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import dev.podcache.time.Pause;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates one CertificateSigningRequest, or finds the one that was created before, and waits until it is signed, denied or
 * failed. Creates it again if it is deleted. Follows {@code client-go/util/certificate/csr/csr.go}. Thread-safe; no method
 * blocks.
 */
final class PendingRequest implements AutoCloseable {

    /*
     * create --accepted, or exists already--> watch --signed, denied, failed, 401, 403--> over
     *   ^  ^--------not answered--------/       |
     *   \-----------------deleted---------------/
     *
     * The lock guards the fields marked so, and nothing is called under it but the constructor of the reflector. The
     * future is completed first and everything is closed after that, so a late callback does nothing.
     */

    /** How long a request may be pending; upstream's certificateWaitTimeout. */
    static final Duration TIMEOUT = Duration.ofMinutes(15);

    private static final Duration REMINDER = Duration.ofMinutes(1);
    private static final Duration BEFORE_CREATION = Duration.ofSeconds(1);
    private static final Retries RETRIES = new Retries(Duration.ofSeconds(2), Duration.ofSeconds(30));
    private static final Logger log = LoggerFactory.getLogger(PendingRequest.class);

    private final SigningRequests server;
    private final SigningRequest request;
    private final boolean bootstrap;
    private final Consumer<String> progress;
    private final CompletableFuture<CertifiedKey> issued = new CompletableFuture<>();
    private final Pause creation;
    private final Pause reminder;
    private final Pause timeout;
    private @Nullable Reflector<CertificateSigningRequest> watch; // guarded by this
    private @Nullable CertificateSigningRequest known; // guarded by this; null if it does not exist
    private boolean exists; // guarded by this; whether a creation has succeeded, or has found the object
    private int failures; // guarded by this
    private String lastLine = ""; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Creates a request that is not sent.
     *
     * @param bootstrap whether the credentials are those of a bootstrap, for messages
     * @param progress receives lines for people
     */
    PendingRequest(SigningRequests server, SigningRequest request, boolean bootstrap, Consumer<String> progress) {
        this.server = server;
        this.request = request;
        this.bootstrap = bootstrap;
        this.progress = progress;
        this.creation = new Pause(server.timekeeper());
        this.reminder = new Pause(server.timekeeper());
        this.timeout = new Pause(server.timekeeper());
    }

    /** Sends the request. Returns the certificate and its key, or a {@link CertificateRequestException}. Call it once. */
    CompletableFuture<CertifiedKey> start() {
        timeout.then(TIMEOUT, () -> fail(RequestFailures.notApproved(request)));
        create();
        return issued;
    }

    private void create() {
        if (!isOver() && !isKnown()) {
            server.api().create(request.object()).whenComplete((created, thrown) -> created(thrown));
        }
    }

    private void created(@Nullable Throwable thrown) {
        FailureReason reason = thrown == null ? null : ApiServerException.reasonOf(thrown);
        if (thrown == null || reason == FailureReason.ALREADY_EXISTS) {
            boolean existed;
            synchronized (this) {
                failures = 0;
                existed = exists;
                exists = true;
            }
            if (thrown == null && existed) {
                say("CertificateSigningRequest " + request + " was deleted before it was signed; it was created again");
            }
            watch();
        } else if (!(ApiServerException.causeOf(thrown) instanceof ApiServerException failure)) {
            issued.completeExceptionally(ApiServerException.causeOf(thrown));
            close();
        } else if (Retries.mayPass(failure.reason()) || failure.reason() == FailureReason.CONFLICT) {
            say(failure.getMessage() + "; retrying");
            creation.then(RETRIES.pause(anotherFailure(), random(), failure), this::create);
        } else {
            fail(RequestFailures.refused(failure, bootstrap));
        }
    }

    private synchronized int anotherFailure() {
        return ++failures;
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    private void watch() {
        Reflector<CertificateSigningRequest> opened;
        synchronized (this) {
            if (closed || watch != null) {
                return;
            }
            opened = Reflector.ofOneObject(server.byName().apply(request.key()), new RequestSink(), server.recovery());
            watch = opened;
        }
        opened.start();
    }

    private void received(CertificateSigningRequest object) {
        synchronized (this) {
            known = object;
        }
        Optional<CertificateRequestException> failure = RequestFailures.of(request, object, bootstrap);
        Optional<String> certificate = RequestFailures.certificate(object);
        if (failure.isPresent()) {
            fail(failure.get());
        } else if (certificate.isPresent()) {
            take(certificate.get());
        } else {
            say(RequestFailures.pending(request, object));
            reminder.then(REMINDER, this::remind);
        }
    }

    private void remind() {
        CertificateSigningRequest object = known();
        if (object != null && !isOver()) {
            tell(RequestFailures.pending(request, object));
            reminder.then(REMINDER, this::remind);
        }
    }

    /** The list of a server may be older than the creation, so another one follows only after a pause. */
    private void isAbsent() {
        synchronized (this) {
            known = null;
        }
        creation.then(BEFORE_CREATION, this::create);
    }

    private void take(String base64) {
        try {
            String pem = new String(Base64.getMimeDecoder().decode(base64), StandardCharsets.US_ASCII);
            issued.complete(CertifiedKey.issued(
                    pem, request.node(), request.keys(), server.timekeeper().wallTime()));
            close();
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            fail(RequestFailures.unusable(request, e));
        }
    }

    private void fail(CertificateRequestException failure) {
        issued.completeExceptionally(failure);
        close();
    }

    /** Says a line unless it was the last one. */
    private void say(String line) {
        synchronized (this) {
            if (line.equals(lastLine)) {
                return;
            }
        }
        tell(line);
    }

    private void tell(String line) {
        synchronized (this) {
            lastLine = line;
        }
        try {
            progress.accept(line);
        } catch (RuntimeException e) {
            log.error("the receiver of progress threw; this is a bug in it", e);
        }
    }

    private boolean isOver() {
        return issued.isDone();
    }

    private boolean isKnown() {
        return known() != null;
    }

    private synchronized @Nullable CertificateSigningRequest known() {
        return known;
    }

    /** Stops to wait; the object stays at the API server. The future is cancelled if it is not complete. Idempotent. */
    @Override
    public void close() {
        Reflector<CertificateSigningRequest> open;
        synchronized (this) {
            closed = true;
            open = watch;
            watch = null;
        }
        issued.cancel(false);
        creation.close();
        reminder.close();
        timeout.close();
        if (open != null) {
            open.close();
        }
    }

    /** Receives the object. */
    private final class RequestSink implements ReflectorSink<CertificateSigningRequest> {

        @Override
        public void replace(List<Fetched<CertificateSigningRequest>> items, String resourceVersion) {
            items.stream()
                    .map(Fetched::object)
                    .filter(this::isOwn)
                    .findFirst()
                    .ifPresentOrElse(PendingRequest.this::received, PendingRequest.this::isAbsent);
        }

        @Override
        public void upsert(Fetched<CertificateSigningRequest> fetched) {
            if (isOwn(fetched.object())) {
                received(fetched.object());
            }
        }

        @Override
        public void delete(Fetched<CertificateSigningRequest> last) {
            if (isOwn(last.object())) {
                isAbsent();
            }
        }

        @Override
        public void connected() {}

        @Override
        public void disconnected(ApiServerException cause) {
            if (cause.reason() == FailureReason.UNAUTHORIZED || cause.reason() == FailureReason.FORBIDDEN) {
                fail(RequestFailures.refused(cause, bootstrap));
            } else if (cause.reason() != FailureReason.EXPIRED) {
                say(cause.getMessage() + "; retrying");
            }
        }

        private boolean isOwn(CertificateSigningRequest object) {
            return request.key().name().equals(object.getMetadata().getName());
        }
    }
}
