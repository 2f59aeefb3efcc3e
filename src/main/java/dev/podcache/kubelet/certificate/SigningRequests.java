package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import java.time.Duration;
import java.util.function.Function;

/**
 * The CertificateSigningRequests of an API server.
 *
 * @param byName makes what lists and watches one object
 */
record SigningRequests(
        ObjectApi<CertificateSigningRequest> api,
        Function<ObjectKey, ListerWatcher<CertificateSigningRequest>> byName,
        Recovery recovery,
        Timekeeper timekeeper) {

    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);

    static SigningRequests at(Fabric8ApiServer server) {
        ObjectKind<CertificateSigningRequest> kind = ObjectKind.of(CertificateSigningRequest.class);
        return new SigningRequests(
                server.api(kind, REQUEST_TIMEOUT),
                server.byName(kind),
                new Recovery(server.timekeeper()),
                server.timekeeper());
    }
}
