package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.testing.FullModels;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds on every version of fabric8: on 8, a mapper of Jackson 2 fails each of these tests. */
class ModelJsonTest {

    private static final ObjectMapper TREES = new ObjectMapper();

    @ParameterizedTest
    @ValueSource(
            classes = {
                CertificateSigningRequest.class,
                ConfigMap.class,
                ContainerStatus.class,
                DeleteOptions.class,
                Event.class,
                Lease.class,
                Namespace.class,
                Node.class,
                NodeCondition.class,
                NodeStatus.class,
                ObjectMeta.class,
                Pod.class,
                PodCondition.class,
                PodList.class,
                PodSpec.class,
                PodStatus.class,
                Secret.class,
                Service.class,
                ServiceAccount.class,
                Status.class,
                Taint.class,
                Volume.class,
                VolumeProjection.class
            })
    <T> void model_withEveryField_isWrittenAsItWasRead(Class<T> type) throws Exception {
        JsonNode json = TREES.readTree(FullModels.of(type).toString());

        T model = ModelJson.model(json, type);

        assertThat(ModelJson.tree(model)).isEqualTo(json);
        assertThat(TREES.readTree(ModelJson.text(model))).isEqualTo(json);
        assertThat(ModelJson.copy(model, type)).isEqualTo(model);
    }

    @Test
    void tree_quantitiesPortsAndTimes_areScalars() throws Exception {
        String json = """
                {"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c",
                "readinessProbe":{"httpGet":{"port":80}},"livenessProbe":{"httpGet":{"port":"http"}},
                "resources":{"limits":{"memory":"64Mi"}}}]}}
                """;

        assertThat(ModelJson.tree(ModelJson.model(TREES.readTree(json), Pod.class)))
                .isEqualTo(TREES.readTree(json));
    }

    @Test
    void model_ofPlainValues_isThatOfTheirTree() {
        PodSpec spec = ModelJson.model(Map.of("nodeName", "n", "priority", 7), PodSpec.class);

        assertThat(spec.getNodeName()).isEqualTo("n");
        assertThat(spec.getPriority()).isEqualTo(7);
        assertThat(ModelJson.treeOfValues(Map.of("a", 1)).path("a").asInt()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"spec":{"containers":[{"name":"a"},{"name":"b","ports":"CANARY"}]}} | spec.containers[1].ports
            {"spec":{"activeDeadlineSeconds":"CANARY"}}                          | spec.activeDeadlineSeconds
            {"metadata":"CANARY"}                                                | metadata
            {"metadata":{"labels":{"CANARY]":{"a":1}}}}                          | metadata.labels.CANARY]
            {"spec":{"containers":[["CANARY"]]}}                                 | spec.containers[0]
            """)
    void model_ofAWrongType_saysWhere_andQuotesNoValue(String json, String path) throws Exception {
        JsonNode tree = TREES.readTree(json);

        assertThatThrownBy(() -> ModelJson.model(tree, Pod.class))
                .isInstanceOfSatisfying(
                        ModelMismatchException.class, e -> assertThat(e.path()).isEqualTo(path))
                .hasMessage(path + " has the wrong type")
                .hasNoCause();
    }

    @ParameterizedTest
    @ValueSource(strings = {"7", "[]", "null", "\"" + NoLeaks.CANARY + "\""})
    void model_ofWhatIsNoObject_isRefused(String json) throws Exception {
        JsonNode tree = TREES.readTree(json);

        assertThatThrownBy(() -> ModelJson.model(tree, Pod.class))
                .isInstanceOf(ModelMismatchException.class)
                .hasMessage("a value has the wrong type")
                .hasNoCause();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"metadata":{"name":5}}                                            | metadata.name
            {"metadata":{"labels":{"a":true}}}                                 | metadata.labels.a
            {"spec":{"containers":[{"args":["x",1.5]}]}}                       | spec.containers[0].args[1]
            {"spec":{"hostNetwork":"true"}}                                    | spec.hostNetwork
            {"spec":{"hostNetwork":1}}                                         | spec.hostNetwork
            {"spec":{"priority":"5"}}                                          | spec.priority
            {"spec":{"priority":1e999}}                                        | spec.priority
            {"spec":{"containers":[{"ports":[{"containerPort":80.5}]}]}}       | spec.containers[0].ports[0].containerPort
            {"spec":{"priority":5.0,"activeDeadlineSeconds":1e2,"hostNetwork":null}}  |
            {"spec":{"priority":5,"containers":[{"resources":{"limits":{"cpu":2}}}]}} |
            {"spec":{"containers":[{"livenessProbe":{"tcpSocket":{"port":80}}}]}}     |
            {"future":5,"spec":{"future":[true]}}                              |
            """)
    void mistyped_valueOfAnotherType_isFound(String json, String path) throws Exception {
        assertThat(ModelTypes.mistyped(TREES.readTree(json), Pod.class)
                        .map(ModelTypes.Mistyped::path)
                        .orElse(null))
                .isEqualTo(path);
    }

    @Test
    void settleNulls_fieldsAreAbsent_valuesOfMapsAndListsAreEmpty() throws Exception {
        ObjectNode tree = (ObjectNode) TREES.readTree("""
                {"metadata":{"name":null,"labels":{"a":null,"b":"c"},"annotations":null},"future":{"x":null},
                "spec":{"nodeName":null,"containers":[{"name":"c","args":["x",null],"resources":{"limits":{"cpu":null}}},
                null]}}
                """);

        ModelTypes.settleNulls(tree, Pod.class);

        assertThat(tree).isEqualTo(TREES.readTree("""
                {"metadata":{"labels":{"a":"","b":"c"}},"future":{},
                "spec":{"containers":[{"name":"c","args":["x",""],"resources":{"limits":{"cpu":"0"}}},{}]}}
                """));
    }
}
