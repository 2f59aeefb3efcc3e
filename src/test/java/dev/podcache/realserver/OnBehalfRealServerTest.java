package dev.podcache.realserver;

import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.OnBehalfContract;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** Reads on behalf of a subject on a kube-apiserver. */
@RealServerTest
@Needs(ServerFeature.RBAC)
@ExtendWith(NoLeaks.class)
class OnBehalfRealServerTest extends OnBehalfContract {

    private final TestNamespace shop = new TestNamespace(RealApiServer.shared());

    @BeforeEach
    void warn(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        leaks.allowWarnings("is watched by name instead");
    }

    @AfterEach
    void close() {
        shop.close();
    }

    @Override
    protected KubernetesClient admin() {
        return shop.admin();
    }

    @Override
    protected String namespace() {
        return shop.name();
    }

    @Override
    protected KubernetesClient userWithoutRights(String name) {
        Config impersonating = new ConfigBuilder(RealApiServer.shared().config())
                .withImpersonateUsername(name)
                .withImpersonateGroups("system:authenticated")
                .build();
        return new KubernetesClientBuilder().withConfig(impersonating).build();
    }
}
