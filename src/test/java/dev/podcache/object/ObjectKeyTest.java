package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.testing.EqualsTester;
import com.google.common.testing.NullPointerTester;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ObjectKeyTest {

    private static final String LONGEST_LABEL = "n".repeat(63);
    private static final String LONGEST_NAME = "n".repeat(253);

    @Test
    void equals_sameNamespaceAndName_onlyThen() {
        new EqualsTester()
                .addEqualityGroup(ObjectKey.of("shop", "db"), ObjectKey.of("shop", "db"))
                .addEqualityGroup(ObjectKey.of("shop", "cache"))
                .addEqualityGroup(ObjectKey.of("stock", "db"))
                .addEqualityGroup(ObjectKey.of("db", "shop"))
                .addEqualityGroup(ObjectKey.of("", "db"))
                .testEquals();
    }

    @Test
    void factories_null_areRefused() {
        new NullPointerTester().setDefault(String.class, "legal").testAllPublicStaticMethods(ObjectKey.class);
    }

    @Test
    void toString_namespaced_isBothParts() {
        assertThat(ObjectKey.of("shop", "db")).hasToString("shop/db");
    }

    @Test
    void toString_withoutNamespace_isTheName() {
        assertThat(ObjectKey.of("", "worker-1")).hasToString("worker-1");
    }

    @Test
    void of_illegalName_isNotLookedAt() {
        assertThat(ObjectKey.of("No", "").namespace()).isEqualTo("No");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "z", "0", "9", "kube-system", "a--b", "team-1", "1-team"})
    void validated_legalLabel_isTakenAsNamespaceAndName(String label) {
        assertThat(ObjectKey.validated(label, label)).isEqualTo(ObjectKey.of(label, label));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.b", "tls.example.com", "a-b.c-d", "1.2.3"})
    void validated_subdomain_isTakenAsName(String name) {
        assertThat(ObjectKey.validated("shop", name).name()).isEqualTo(name);
    }

    @Test
    void validated_longestNames_areTaken() {
        assertThat(ObjectKey.validated(LONGEST_LABEL, LONGEST_NAME).name()).isEqualTo(LONGEST_NAME);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", " ", "A", "Shop", "-a", "a-", "a_b", "a b", "a/b", "é", "٣", ".", ".a", "a.", "a..b", "a.-b",
                "a-.b", "../x"
            })
    void validated_illegalName_isQuotedInTheMessage(String name) {
        assertThatThrownBy(() -> ObjectKey.validated("shop", name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("name \"" + name + "\" is not a legal Kubernetes name: at most 253");
    }

    @Test
    void validated_nameThatEndsWithALine_showsThat() {
        assertThatThrownBy(() -> ObjectKey.validated("shop", "a\n")).hasMessageStartingWith("name \"a\\u000a\" is not");
        assertThatThrownBy(() -> ObjectKey.validated("shop", "a\u0000")).hasMessageStartingWith("name \"a\\u0000\" is");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a.b", "Shop", "-shop", "shop-"})
    void validated_illegalNamespace_isQuotedInTheMessage(String namespace) {
        assertThatThrownBy(() -> ObjectKey.validated(namespace, "db"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("namespace \"" + namespace + "\" is not a legal Kubernetes name: at most 63");
    }

    @Test
    void validated_namespaceTooLong_isRefused() {
        assertThatThrownBy(() -> ObjectKey.validated(LONGEST_LABEL + "n", "db"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void validated_nameTooLong_isCutInTheMessage() {
        assertThatThrownBy(() -> ObjectKey.validated("shop", LONGEST_NAME + "n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name \"" + "n".repeat(80) + "...\" is");
    }

    @Test
    void validated_illegalNameOfEightyCharacters_isQuotedWhole() {
        String illegal = "N".repeat(80);

        assertThatThrownBy(() -> ObjectKey.validated("shop", illegal))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name \"" + illegal + "\" is");
    }

    @Test
    @SuppressWarnings("NullAway") // what a caller without static checks may do
    void validated_null_saysWhichPartIsMissing() {
        assertThatThrownBy(() -> ObjectKey.validated(null, "db"))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("namespace is null: give the namespace of the object");
        assertThatThrownBy(() -> ObjectKey.validated("shop", null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("name is null: give the name of the object");
    }

    @Test
    void validatedClusterScoped_legalName_hasNoNamespace() {
        assertThat(ObjectKey.validatedClusterScoped("worker-1")).isEqualTo(ObjectKey.of("", "worker-1"));
    }

    @Test
    void validatedClusterScoped_illegalName_isQuotedInTheMessage() {
        assertThatThrownBy(() -> ObjectKey.validatedClusterScoped("Worker"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("name \"Worker\" is not a legal Kubernetes name");
    }

    @Test
    void isLegal_bothPartsLegal_onlyThen() {
        assertThat(ObjectKey.of("shop", "tls.example.com").isLegal()).isTrue();
        assertThat(ObjectKey.of("shop.eu", "db").isLegal()).isFalse();
        assertThat(ObjectKey.of("shop", "DB").isLegal()).isFalse();
    }

    @Test
    void hashCode_manyKeys_spreads() {
        Set<Integer> codes = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            codes.add(ObjectKey.of("shop-" + i % 10, "settings-" + i).hashCode());
        }

        assertThat(codes).hasSizeGreaterThan(900);
    }
}
