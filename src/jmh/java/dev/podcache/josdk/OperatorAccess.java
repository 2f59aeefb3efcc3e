package dev.podcache.josdk;

import dev.podcache.josdk.OperatorContestant.Access;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Locale;

/** Gives the user of each contestant the access that it needs and no other, so that the run proves what is needed. */
final class OperatorAccess {

    /** All of whom may read websites. */
    static final String GROUP = "operators";

    private static final String RBAC = "rbac.authorization.k8s.io";

    private OperatorAccess() {}

    static String user(Access access) {
        return "operator-" + access.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static void grant(KubernetesClient admin, WebsiteCluster cluster) {
        PolicyRule websites = new PolicyRuleBuilder()
                .withApiGroups("operator.example.dev")
                .withResources("websites")
                .withVerbs("list", "watch")
                .build();
        inCluster(admin, "websites", websites, "Group", GROUP);
        inCluster(admin, "all-secrets", secrets(List.of()), "User", user(Access.CLUSTER));
        for (String namespace : cluster.namespaces()) {
            List<String> names = cluster.referenced().stream()
                    .filter(key -> key.namespace().equals(namespace))
                    .map(ObjectKey::name)
                    .toList();
            inNamespace(admin, namespace, "by-name", secrets(names), user(Access.BY_NAME));
            inNamespace(admin, namespace, "all", secrets(List.of()), user(Access.NAMESPACES));
        }
    }

    private static PolicyRule secrets(List<String> names) {
        return new PolicyRuleBuilder()
                .withApiGroups("")
                .withResources("secrets")
                .withResourceNames(names)
                .withVerbs("list", "watch")
                .build();
    }

    private static void inCluster(KubernetesClient admin, String name, PolicyRule rule, String kind, String subject) {
        admin.resource(new ClusterRoleBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .withRules(rule)
                        .build())
                .create();
        admin.resource(new ClusterRoleBindingBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .withNewRoleRef(RBAC, "ClusterRole", name)
                        .addNewSubject(RBAC, kind, subject, null)
                        .build())
                .create();
    }

    private static void inNamespace(
            KubernetesClient admin, String namespace, String name, PolicyRule rule, String user) {
        admin.resource(new RoleBuilder()
                        .withNewMetadata()
                        .withNamespace(namespace)
                        .withName(name)
                        .endMetadata()
                        .withRules(rule)
                        .build())
                .create();
        admin.resource(new RoleBindingBuilder()
                        .withNewMetadata()
                        .withNamespace(namespace)
                        .withName(name)
                        .endMetadata()
                        .withNewRoleRef(RBAC, "Role", name)
                        .addNewSubject(RBAC, "User", user, null)
                        .build())
                .create();
    }
}
