package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What the printed ValidatingAdmissionPolicy lets the controller's identity write, on a server that has such policies. */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.CUSTOM_RESOURCES, ServerFeature.ADMISSION_POLICIES})
@ExtendWith(NoLeaks.class)
class GrantsAdmissionRealServerTest {

    @TempDir
    private Path folder;

    private static PolicyRuleBuilder rule() {
        return new PolicyRuleBuilder()
                .withApiGroups("")
                .withResources("secrets")
                .withResourceNames("db")
                .withVerbs("get");
    }

    /** Writes rules as a thief of the controller's credentials would, and returns why that was refused; null if it was not. */
    private static @Nullable String refusal(GrantsCluster cluster, PolicyRule rule) {
        try {
            cluster.controller
                    .rbac()
                    .roles()
                    .inNamespace(cluster.namespace())
                    .withName(GrantsCluster.ROLE)
                    .edit(role -> new RoleBuilder(role).withRules(rule).build());
            return null;
        } catch (KubernetesClientException e) {
            return e.getMessage();
        }
    }

    @Test
    void controller_keepsItsRole_andItsIdentityWritesNoOtherRule() {
        try (GrantsCluster cluster = new GrantsCluster(RealApiServer.shared(), "Limited", 1, "", folder)) {
            String shop = cluster.namespace();
            cluster.create(shop, "front", "db");
            PolicyRule everything = rule().withResourceNames().build();
            // the Role begins without rules, which the policy has to allow
            cluster.start();
            cluster.awaitGranted(shop, "db");
            // the server learns of a policy some time after it was applied
            await().until(() -> refusal(cluster, everything) != null);

            for (PolicyRule rule : List.of(
                    everything,
                    rule().withResourceNames("").build(),
                    rule().withVerbs("delete").build(),
                    rule().withVerbs("*").build(),
                    rule().withResources("*").build(),
                    rule().withResources("secrets", "pods").build(),
                    rule().withApiGroups("*").build(),
                    rule().withApiGroups("rbac.authorization.k8s.io")
                            .withResources("roles")
                            .withVerbs("escalate")
                            .build())) {
                assertThat(refusal(cluster, rule))
                        .as("%s", rule)
                        .contains("this identity writes only rules of its policies, with names");
            }

            cluster.update(shop, "front", "cert");
            cluster.awaitGranted(shop, "cert");
            cluster.delete(shop, "front");
            cluster.awaitGranted(shop, "");
        }
    }
}
