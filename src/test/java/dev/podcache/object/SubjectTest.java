package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubjectTest {

    @Test
    void serviceAccount_hasItsGroups() {
        Subject web = Subject.serviceAccount("shop", "web");

        assertThat(web.name()).isEqualTo("system:serviceaccount:shop:web");
        assertThat(web.groups())
                .containsExactly("system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated");
        assertThat(web.uid()).isEmpty();
        assertThat(web.extra()).isEmpty();
        assertThat(web.serviceAccount()).contains(ObjectKey.of("shop", "web"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Shop", "a:b", "a/b", "-", "a\nb"})
    void serviceAccount_ofAnIllegalName_isRefused(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> Subject.serviceAccount("shop", name));
        assertThatIllegalArgumentException().isThrownBy(() -> Subject.serviceAccount(name, "web"));
    }

    @Test
    @SuppressWarnings({"DataFlowIssue", "NullAway"}) // the point of the test
    void null_isRefused() {
        assertThatNullPointerException().isThrownBy(() -> Subject.serviceAccount("shop", null));
        assertThatNullPointerException().isThrownBy(() -> Subject.user(null, List.of(), "", Map.of()));
        assertThatNullPointerException().isThrownBy(() -> Subject.user("jane", null, "", Map.of()));
        assertThatNullPointerException().isThrownBy(() -> Subject.user("jane", List.of(), null, Map.of()));
        assertThatNullPointerException().isThrownBy(() -> Subject.user("jane", List.of(), "", null));
    }

    @Test
    void user_isWhatIsGiven() {
        List<String> groups = new ArrayList<>(List.of("devs", "system:authenticated"));
        Map<String, List<String>> extra = new HashMap<>(Map.of("k", List.of("v")));
        Subject jane = Subject.user("jane", groups, "u-1", extra);
        groups.clear();
        extra.clear();

        assertThat(jane.groups()).containsExactly("devs", "system:authenticated");
        assertThat(jane.uid()).isEqualTo("u-1");
        assertThat(jane.extra()).containsExactly(Map.entry("k", List.of("v")));
        assertThat(jane.serviceAccount()).isEmpty();
    }

    @Test
    void user_withEmptyParts_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Subject.user("", List.of(), "", Map.of()));
        assertThatIllegalArgumentException().isThrownBy(() -> Subject.user("jane", List.of(""), "", Map.of()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Subject.user("jane", List.of(), "", Map.of("", List.of())));
    }

    @Test
    void equality_isOfAllParts() {
        Subject jane = Subject.user("jane", List.of("a"), "u", Map.of("k", List.of("v")));

        assertThat(Subject.user("jane", List.of("a"), "u", Map.of("k", List.of("v"))))
                .isEqualTo(jane)
                .hasSameHashCodeAs(jane);
        assertThat(List.of(
                        Subject.user("jo", List.of("a"), "u", Map.of("k", List.of("v"))),
                        Subject.user("jane", List.of("b"), "u", Map.of("k", List.of("v"))),
                        Subject.user("jane", List.of("a"), "w", Map.of("k", List.of("v"))),
                        Subject.user("jane", List.of("a"), "u", Map.of("k", List.of("w")))))
                .doesNotContain(jane);
    }

    @Test
    void toString_isTheNameAlone() {
        Subject jane = Subject.user("ja\nne", List.of("group"), "uid", Map.of("key", List.of("secret")));

        assertThat(jane.toString()).isEqualTo("ja ne");
    }

    @ParameterizedTest
    @ValueSource(strings = {"system:serviceaccount:", "system:serviceaccount:shop", "system:serviceaccount:a:b:c"})
    void serviceAccount_ofAnOddName_isNone(String name) {
        assertThat(Subject.user(name, List.of(), "", Map.of()).serviceAccount()).isEmpty();
    }

    @Test
    void referrer_withASubject_isTheSameOwner() {
        Referrer plain = PodKey.of("shop", "web", "u");
        Referrer one = plain.onBehalfOf(Subject.serviceAccount("shop", "web"));
        Referrer other = plain.onBehalfOf(null);

        assertThat(one).isEqualTo(other).hasSameHashCodeAs(other).hasToString(plain.toString());
        assertThat(one.uid()).isEqualTo("u");
        assertThat(one.isOnBehalf() && other.isOnBehalf()).isTrue();
        assertThat(plain.isOnBehalf()).isFalse();
        assertThat(one.subject()).contains(Subject.serviceAccount("shop", "web"));
        assertThat(other.subject()).isEmpty();
    }
}
