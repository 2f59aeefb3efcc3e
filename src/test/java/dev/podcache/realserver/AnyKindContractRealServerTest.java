package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;

import dev.podcache.testing.AnyKindContract;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.ServerVersion;
import java.util.Locale;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a kube-apiserver: what it expects is what there is. */
@RealServerTest
@Needs(ServerFeature.CUSTOM_RESOURCES)
@ExtendWith(NoLeaks.class)
class AnyKindContractRealServerTest extends AnyKindContract {

    private final RawApi api =
            RawApi.of(RealApiServer.shared().url(), RealApiServer.shared().tls());

    @Override
    protected void serveKinds() throws Exception {
        define("Website", "websites", "Namespaced");
        define("Zone", "zones", "Cluster");
        // a kind is served for writes a moment after it is served for reads
        await().until(() -> api.get("/apis/" + GROUP + "/v1/websites").code() == 200
                && api.get("/apis/" + GROUP + "/v1/zones").code() == 200
                && api.get("/apis/" + GROUP + "/v1").body().path("resources").size() == 4);
    }

    private void define(String kind, String plural, String scope) throws Exception {
        api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", """
                        {"metadata": {"name": "%1$s.contract.example.dev"},
                         "spec": {"group": "contract.example.dev", "scope": "%3$s",
                           "names": {"kind": "%2$s", "listKind": "%2$sList", "plural": "%1$s", "singular": "%4$s"},
                           "versions": [{"name": "v1", "served": true, "storage": true,
                             "subresources": {"status": {}},
                             "schema": {"openAPIV3Schema":
                               {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}
                        """.formatted(
                        plural, kind, scope, kind.toLowerCase(Locale.ROOT)));
    }

    @Override
    protected RawApi api() {
        return api;
    }

    @Override
    protected ServerVersion version() {
        return RealApiServer.shared().version();
    }

    @Override
    protected void createNamespace(String name) {
        RealApiServer.shared().createNamespace(name);
    }
}
