package dev.podcache.access;

import static dev.podcache.access.RoleLedgerProperties.POLICY;
import static dev.podcache.access.RoleLedgerProperties.secrets;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableSortedSet;
import dev.podcache.object.ObjectRef;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoleContentTest {

    private static RoleContent content(String rules) {
        Role role = new KubernetesSerialization().unmarshal("""
                {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "podcache-orders",
                 "namespace": "shop", "uid": "u", "resourceVersion": "7", "labels": {"podcache.dev/policy": "orders"}},
                 "rules": %s}
                """.formatted(rules), Role.class);
        return RoleContent.of(role, POLICY);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "null | true",
                "[] | true",
                "[{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"resourceNames\":[\"b\",\"a\"],\"verbs\":[\"watch\",\"list\",\"get\"]}] | true",
                "[{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"resourceNames\":[\"a\"],\"verbs\":[\"get\"]}] | false",
                "[{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"verbs\":[\"get\",\"list\",\"watch\"]}] | false",
                "[{\"apiGroups\":[\"*\"],\"resources\":[\"*\"],\"verbs\":[\"*\"]}] | false",
                "[{\"apiGroups\":null,\"resources\":null,\"resourceNames\":null,\"verbs\":null}] | false",
                "[{\"apiGroups\":[\"\"],\"resources\":[\"secrets\",\"configmaps\"],\"resourceNames\":[\"a\"],\"verbs\":[\"get\",\"list\",\"watch\"]}] | false",
                "[{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"resourceNames\":[\"a\"],\"verbs\":[\"get\",\"list\",\"watch\"]}] | false"
            })
    void content_ofARole_isExactOnlyIfThePolicyWouldWriteIt(String rules, boolean exact) {
        assertThat(content(rules).exact()).isEqualTo(exact);
    }

    @Test
    void grants_onlyTheSameNames_underTheLabelOfThePolicy() {
        RoleContent content =
                content("[{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"resourceNames\":[\"b\",\"a\"],\"verbs\":"
                        + "[\"get\",\"list\",\"watch\"]}]");
        ImmutableSortedSet<ObjectRef> names = secrets("shop", Set.of("a", "b"));

        assertThat(content.grants(names, POLICY)).isTrue();
        assertThat(content.grants(secrets("shop", Set.of("a")), POLICY)).isFalse();
        assertThat(new RoleContent("7", "u", names, true, "").grants(names, POLICY))
                .isFalse();
        assertThat(RoleContent.rules(names, POLICY).get(0).getResourceNames()).containsExactly("a", "b");
        assertThat(RoleContent.rules(ImmutableSortedSet.of(), POLICY)).isEmpty();
    }
}
