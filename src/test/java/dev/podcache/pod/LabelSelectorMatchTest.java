package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cases of upstream's TestLabelSelectorAsSelector, asked of labels. */
class LabelSelectorMatchTest {

    private static LabelSelector expression(String key, String operator, String... values) {
        return new LabelSelectorBuilder()
                .addNewMatchExpression()
                .withKey(key)
                .withOperator(operator)
                .withValues(values)
                .endMatchExpression()
                .build();
    }

    @Test
    void selects_noSelector_nothing_andAnEmptyOne_everything() {
        assertThat(LabelSelectorMatch.selects(null, Map.of("a", "b"))).isFalse();
        assertThat(LabelSelectorMatch.selects(new LabelSelector(), Map.of("a", "b")))
                .isTrue();
        assertThat(LabelSelectorMatch.selects(new LabelSelector(), null)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "In,           a, true",
        "In,           c, false",
        "NotIn,        a, false",
        "NotIn,        c, true",
        "Exists,       a, true",
        "DoesNotExist, a, false",
    })
    void selects_expression(String operator, String value, boolean expected) {
        String[] values = operator.endsWith("In") ? new String[] {value, "x"} : new String[0];

        assertThat(LabelSelectorMatch.selects(expression("k", operator, values), Map.of("k", "a")))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"In, false", "NotIn, true", "Exists, false", "DoesNotExist, true"})
    void selects_labelIsMissing(String operator, boolean expected) {
        String[] values = operator.endsWith("In") ? new String[] {"a"} : new String[0];

        assertThat(LabelSelectorMatch.selects(expression("k", operator, values), null))
                .isEqualTo(expected);
    }

    @Test
    void selects_labelsAndExpressions_allMustMatch() {
        LabelSelector both = new LabelSelectorBuilder(expression("k", "Exists"))
                .addToMatchLabels("app", "web")
                .build();

        assertThat(LabelSelectorMatch.selects(both, Map.of("k", "a", "app", "web")))
                .isTrue();
        assertThat(LabelSelectorMatch.selects(both, Map.of("k", "a", "app", "db")))
                .isFalse();
        assertThat(LabelSelectorMatch.selects(both, Map.of("app", "web"))).isFalse();
    }

    @Test
    void selects_unknownOperator_isRefusedByName() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LabelSelectorMatch.selects(expression("k", "Near"), Map.of()))
                .withMessage("\"Near\" is not a valid label selector operator");
    }

    @ParameterizedTest
    @CsvSource({
        "k, Near, '', '\"Near\" is not a valid label selector operator'",
        "k, In, '', operators",
        "k, NotIn, '', operators",
        "k, Exists, a, must be empty",
        "k, DoesNotExist, a, must be empty",
        ", Exists, '', must be non-empty",
        "'', Exists, '', must be non-empty"
    })
    void require_illegal_isRefused(String key, String operator, String value, String words) {
        LabelSelector selector = value.isEmpty() ? expression(key, operator) : expression(key, operator, value);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> LabelSelectorMatch.require(selector))
                .withMessageContaining(words);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LabelSelectorMatch.selects(selector, null))
                .withMessageContaining(words);
    }
}
