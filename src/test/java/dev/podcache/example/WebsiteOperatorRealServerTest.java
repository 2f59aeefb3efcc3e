package dev.podcache.example;

import dev.podcache.testing.Needs;
import dev.podcache.testing.Patience;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;

/** The example on a kube-apiserver. */
@RealServerTest
@Needs(ServerFeature.RBAC)
class WebsiteOperatorRealServerTest extends WebsiteOperatorContract {

    private static final String DEFINITION = """
            apiVersion: apiextensions.k8s.io/v1
            kind: CustomResourceDefinition
            metadata: {name: websites.example.dev}
            spec:
              group: example.dev
              scope: Namespaced
              names: {kind: Website, plural: websites, singular: website}
              versions:
              - name: v1
                served: true
                storage: true
                subresources: {status: {}}
                schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
            """;

    private final RealApiServer server = RealApiServer.shared();

    @Override
    KubernetesClient newAdmin() {
        return server.client();
    }

    @Override
    KubernetesClient newClient(String user) {
        return server.clientFor(user);
    }

    @Override
    String prepare(KubernetesClient by) {
        by.load(new ByteArrayInputStream(DEFINITION.getBytes(StandardCharsets.UTF_8)))
                .resources()
                .forEach(definition -> definition.createOr(existing -> existing.update()));
        Patience.await().ignoreExceptions().until(() -> {
            by.genericKubernetesResources(WebsiteOperator.WEBSITES)
                    .inNamespace("default")
                    .list();
            return true;
        });
        return server.createNamespaceLike("websites");
    }
}
