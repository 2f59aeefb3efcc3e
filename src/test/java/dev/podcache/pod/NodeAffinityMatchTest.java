package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.NodeSelectorTermBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Cases of upstream's TestPodMatchesNodeSelectorAndAffinityTerms. */
class NodeAffinityMatchTest {

    private static final Node NODE = new NodeBuilder()
            .withNewMetadata()
            .withName("edge-1")
            .addToLabels(Map.of("foo", "bar", "zone", "a", "cores", "0206"))
            .endMetadata()
            .build();

    private static PodSpec required(NodeSelectorTerm... terms) {
        return new PodSpecBuilder()
                .withNewAffinity()
                .withNewNodeAffinity()
                .withNewRequiredDuringSchedulingIgnoredDuringExecution()
                .withNodeSelectorTerms(terms)
                .endRequiredDuringSchedulingIgnoredDuringExecution()
                .endNodeAffinity()
                .endAffinity()
                .build();
    }

    private static NodeSelectorTerm label(String key, String operator, String... values) {
        return new NodeSelectorTermBuilder()
                .addNewMatchExpression()
                .withKey(key)
                .withOperator(operator)
                .withValues(values)
                .endMatchExpression()
                .build();
    }

    private static NodeSelectorTerm field(String key, String operator, String... values) {
        return new NodeSelectorTermBuilder()
                .addNewMatchField()
                .withKey(key)
                .withOperator(operator)
                .withValues(values)
                .endMatchField()
                .build();
    }

    @ParameterizedTest
    @CsvSource({"foo, bar, true", "foo, baz, false", "other, bar, false"})
    void nodeSelector(String key, String value, boolean accepted) {
        PodSpec pod = new PodSpecBuilder().addToNodeSelector(key, value).build();

        assertThat(NodeAffinityMatch.accepts(pod, NODE)).isEqualTo(accepted);
    }

    @ParameterizedTest
    @CsvSource({
        "foo,   In,           bar;value2, true",
        "foo,   In,           value1,     false",
        "none,  In,           bar,        false",
        "foo,   NotIn,        value1,     true",
        "foo,   NotIn,        bar,        false",
        "none,  NotIn,        bar,        true",
        "foo,   Exists,       '',         true",
        "none,  Exists,       '',         false",
        "none,  DoesNotExist, '',         true",
        "foo,   DoesNotExist, '',         false",
        "cores, Gt,           0204,       true",
        "cores, Gt,           206,        false",
        "cores, Lt,           207,        true",
        "cores, Lt,           206,        false",
        "foo,   Gt,           1,          false",
        "cores, Gt,           1;2,        false",
        "foo,   Like,         bar,        false",
    })
    void matchExpression(String key, String operator, String values, boolean accepted) {
        NodeSelectorTerm term = label(key, operator, values.isEmpty() ? new String[0] : values.split(";"));

        assertThat(NodeAffinityMatch.accepts(required(term), NODE)).isEqualTo(accepted);
    }

    @ParameterizedTest
    @CsvSource({
        "metadata.name, In,     edge-1,        true",
        "metadata.name, In,     edge-2,        false",
        "metadata.name, NotIn,  edge-2,        true",
        "metadata.name, In,     edge-1;edge-2, false",
        "metadata.uid,  In,     edge-1,        false",
        "metadata.name, Exists, edge-1,        false",
    })
    void matchField(String key, String operator, String values, boolean accepted) {
        assertThat(NodeAffinityMatch.accepts(required(field(key, operator, values.split(";"))), NODE))
                .isEqualTo(accepted);
    }

    @Test
    void terms_oneIsEnough_anEmptyOneIsNone() {
        assertThat(NodeAffinityMatch.accepts(required(), NODE)).isFalse();
        assertThat(NodeAffinityMatch.accepts(required(new NodeSelectorTerm()), NODE))
                .isFalse();
        assertThat(NodeAffinityMatch.accepts(required(label("foo", "In", "x"), label("foo", "In", "bar")), NODE))
                .isTrue();
        PodSpec both = new PodSpecBuilder(required(label("foo", "Exists")))
                .addToNodeSelector("zone", "b")
                .build();
        assertThat(NodeAffinityMatch.accepts(both, NODE)).isFalse();
        assertThat(NodeAffinityMatch.accepts(new PodSpec(), NODE)).isTrue();
    }
}
