package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.TestCertificates;
import dev.podcache.testing.UnsupportedObjectApi;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequestBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The CertificateSigningRequests of a cluster in memory, which the test approves and signs. Not thread-safe. */
final class FakeSigningApi extends UnsupportedObjectApi<CertificateSigningRequest> {

    private static final TestCertificates AUTHORITY = authority();

    private final Map<String, CertificateSigningRequest> objects = new LinkedHashMap<>();
    private final List<String> created = new ArrayList<>();
    private final Map<String, List<Consumer<WatchEvent<CertificateSigningRequest>>>> watches = new LinkedHashMap<>();
    private @Nullable ApiServerException failure;
    private int version;

    private static TestCertificates authority() {
        try {
            return new TestCertificates();
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    SigningRequests requests(Timekeeper timekeeper) {
        return new SigningRequests(
                this, key -> new OneRequest(key.name()), new Recovery(timekeeper, () -> 0), timekeeper);
    }

    /** Returns the names of the objects that were created, in order. */
    List<String> created() {
        return created;
    }

    String latest() {
        return created.get(created.size() - 1);
    }

    int openWatches() {
        return watches.values().stream().mapToInt(List::size).sum();
    }

    /** Makes creations fail; null to make them succeed. */
    void failCreations(@Nullable FailureReason reason) {
        failure = reason == null
                ? null
                : ApiServerException.withoutAnswer(
                        reason, "POST CertificateSigningRequest x", "as the test says", null);
    }

    void sign(String name, Instant from, Instant end) {
        sign(name, pem(name, from, end));
    }

    String pem(String name, Instant from, Instant end) {
        try {
            return AUTHORITY.signedPem(text(object(name).getSpec().getRequest()), from, end);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a certificate for the name of a request, but not for its key. */
    String pemWithAnotherKey(String name, Instant end) {
        try {
            return AUTHORITY.signedWithOwnKeyPem(text(object(name).getSpec().getRequest()), end);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Approves the object and puts {@code pem} into it. */
    void sign(String name, String pem) {
        decide(name, "Approved", "", "");
        change(new CertificateSigningRequestBuilder(object(name))
                .editStatus()
                .withCertificate(Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)))
                .endStatus()
                .build());
    }

    void decide(String name, String type, String reason, String message) {
        change(new CertificateSigningRequestBuilder(object(name))
                .editOrNewStatus()
                .addNewCondition()
                .withType(type)
                .withStatus("True")
                .withReason(reason)
                .withMessage(message)
                .endCondition()
                .endStatus()
                .build());
    }

    void delete(String name) {
        CertificateSigningRequest last = object(name);
        objects.remove(name);
        send(name, new WatchEvent.Deleted<>(fetched(last)));
    }

    private CertificateSigningRequest object(String name) {
        return Objects.requireNonNull(objects.get(name), name);
    }

    private void change(CertificateSigningRequest now) {
        String name = now.getMetadata().getName();
        objects.put(name, now);
        send(name, new WatchEvent.Upserted<>(fetched(now)));
    }

    private void send(String name, WatchEvent<CertificateSigningRequest> event) {
        List.copyOf(watches.getOrDefault(name, List.of())).forEach(watch -> watch.accept(event));
    }

    private Fetched<CertificateSigningRequest> fetched(CertificateSigningRequest object) {
        version++;
        return new Fetched<>(object, String.valueOf(version), 1);
    }

    private static String text(String base64) {
        return new String(Base64.getDecoder().decode(base64), StandardCharsets.US_ASCII);
    }

    @Override
    public CompletableFuture<CertificateSigningRequest> create(CertificateSigningRequest object) {
        String name = object.getMetadata().getName();
        if (failure != null) {
            return CompletableFuture.failedFuture(failure);
        }
        if (objects.containsKey(name)) {
            return CompletableFuture.failedFuture(
                    ApiServerException.withoutAnswer(FailureReason.ALREADY_EXISTS, "POST " + name, "it exists", null));
        }
        created.add(name);
        change(object);
        return CompletableFuture.completedFuture(object);
    }

    /** Lists and watches one object. */
    private final class OneRequest implements ListerWatcher<CertificateSigningRequest> {

        private final String name;

        OneRequest(String name) {
            this.name = name;
        }

        @Override
        public CompletableFuture<Listed<CertificateSigningRequest>> list(Duration timeout) {
            CertificateSigningRequest object = objects.get(name);
            return CompletableFuture.completedFuture(
                    new Listed<>(object == null ? List.of() : List.of(fetched(object)), String.valueOf(version)));
        }

        @Override
        public WatchHandle watch(
                String resourceVersion,
                Duration serverTimeout,
                Consumer<WatchEvent<CertificateSigningRequest>> events) {
            List<Consumer<WatchEvent<CertificateSigningRequest>>> open =
                    watches.computeIfAbsent(name, key -> new ArrayList<>());
            open.add(events);
            events.accept(new WatchEvent.Opened<>());
            return () -> open.remove(events);
        }

        @Override
        public String toString() {
            return "CertificateSigningRequest " + name;
        }
    }
}
