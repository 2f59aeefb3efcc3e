package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.fabric8.kubernetes.api.model.Taint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeTaintsTest {

    @Test
    void parse_severalTaints_areInOrder() {
        assertThat(NodeTaints.parse("example.com/dedicated=web:NoSchedule, slow:PreferNoSchedule,gone=:NoExecute"))
                .extracting(Taint::getKey, Taint::getValue, Taint::getEffect)
                .containsExactly(
                        tuple("example.com/dedicated", "web", "NoSchedule"),
                        tuple("slow", null, "PreferNoSchedule"),
                        tuple("gone", null, "NoExecute"));
    }

    @Test
    void parse_oneKeyWithTwoEffects_isTaken() {
        assertThat(NodeTaints.parse("a=1:NoSchedule,a=1:NoExecute")).hasSize(2);
    }

    @Test
    void parse_nothing_isNone() {
        assertThat(NodeTaints.parse("")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "a, taint \"a\" does not have the form key=value:effect or key:effect",
        "a=b, taint \"a=b\" does not have the form",
        "a:NoSchedule:x, does not have the form",
        "a=b=c:NoSchedule, does not have the form",
        "a=b:Never, 'effect \"Never\" of taint a does not exist; use one of [NoSchedule, PreferNoSchedule, NoExecute]'",
        "a=b:, effect \"\" of taint a does not exist",
        ":NoSchedule, taint key \"\" is not legal",
        "a b:NoSchedule, taint key \"a b\" is not legal",
        "a=b c:NoSchedule, value of taint a \"b c\" is not legal",
    })
    void parse_malformedTaint_isRefusedByName(String flag, String message) {
        assertThatThrownBy(() -> NodeTaints.parse(flag))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void parse_keyAndEffectTwice_isRefused() {
        assertThatThrownBy(() -> NodeTaints.parse("a=1:NoSchedule,a=2:NoSchedule"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("taint a with effect NoSchedule occurs twice");
    }
}
