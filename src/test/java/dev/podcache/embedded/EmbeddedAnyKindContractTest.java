package dev.podcache.embedded;

import dev.podcache.object.ObjectKind;
import dev.podcache.testing.AnyKindContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** The embedded server serves any kind as a kube-apiserver does. */
@ExtendWith(NoLeaks.class)
class EmbeddedAnyKindContractTest extends AnyKindContract {

    private final OwnServer server = new OwnServer();
    private final RawApi api = server.api();

    @AfterEach
    void stop() {
        server.close();
    }

    @Override
    protected void serveKinds() {
        server.cluster().serve(ObjectKind.of(Deployment.class));
        server.cluster().serve(ObjectKind.of(GROUP + "/v1", "Website", "websites", true));
        server.cluster().serve(ObjectKind.of(GROUP + "/v1", "Zone", "zones", false));
    }

    @Override
    protected RawApi api() {
        return api;
    }
}
