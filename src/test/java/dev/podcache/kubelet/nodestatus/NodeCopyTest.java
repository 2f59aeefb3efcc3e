package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ModelJson;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeStatus;
import org.junit.jupiter.api.Test;

class NodeCopyTest {

    /** A Node with a field of each shape, and fields that the model does not know at three levels. */
    private static final String NODE = """
            {"apiVersion":"v1","kind":"Node","future":{"a":1},
             "metadata":{"name":"n","uid":"u","resourceVersion":"7","labels":{"l":"1"},"annotations":{"a":"1"},
              "managedFields":[{"manager":"m","fieldsType":"FieldsV1","fieldsV1":{"f:status":{}}}],
              "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"x"}]},
             "spec":{"podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24"],"taints":[{"key":"k","effect":"NoSchedule"}]},
             "status":{"future":[1,2],
              "addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname","address":"n"}],
              "allocatable":{"cpu":"1","memory":"1Gi"},"capacity":{"cpu":"2","memory":"2Gi"},
              "conditions":[{"type":"Ready","status":"True","reason":"r","message":"m","future":true,
               "lastHeartbeatTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}],
              "config":{"error":"e"},"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},
              "declaredFeatures":["F"],"features":{"supplementalGroupsPolicy":true},
              "images":[{"names":["i:1","i@sha256:1"],"sizeBytes":5}],
              "nodeInfo":{"architecture":"amd64","kernelVersion":"6","operatingSystem":"linux"},
              "phase":"Running","runtimeHandlers":[{"name":"h","features":{"userNamespaces":true}}],
              "volumesAttached":[{"name":"v","devicePath":"/d"}],"volumesInUse":["v"]}}
            """;

    private final ObjectMapper mapper = new ObjectMapper();

    @Test
    void copy_everyKindOfField_isEqual() throws Exception {
        Node node = ModelJson.model(mapper.readTree(NODE), Node.class);

        assertThat(ModelJson.tree(NodeStatusDifference.copy(node))).isEqualTo(ModelJson.tree(node));
        assertThat(NodeStatusDifference.copy(node)).isEqualTo(node);
    }

    @Test
    void copy_modified_leavesTheOriginal() throws Exception {
        Node node = ModelJson.model(mapper.readTree(NODE), Node.class);
        ObjectNode before = ModelJson.tree(node);

        Node copy = NodeStatusDifference.copy(node);
        NodeStatus status = copy.getStatus();
        copy.getMetadata().getLabels().put("l", "2");
        copy.getMetadata().getAnnotations().clear();
        status.getConditions().get(0).setStatus("False");
        status.getConditions().get(0).setAdditionalProperty("future", false);
        status.getAddresses().get(0).setAddress("10.0.0.2");
        status.getAddresses().remove(1);
        status.getCapacity().values().forEach(quantity -> quantity.setAmount("3"));
        status.getAllocatable().remove("cpu");
        status.getImages().get(0).getNames().clear();
        status.getImages().get(0).setSizeBytes(6L);
        status.getNodeInfo().setArchitecture("arm64");
        status.getDaemonEndpoints().getKubeletEndpoint().setPort(1);
        status.getRuntimeHandlers().get(0).getFeatures().setUserNamespaces(false);
        status.getVolumesAttached().get(0).setName("w");
        status.getVolumesInUse().clear();
        status.getDeclaredFeatures().clear();
        status.setAdditionalProperty("future", "gone");

        assertThat(ModelJson.tree(node)).isEqualTo(before);
    }

    @Test
    void copy_emptyNode_hasMetadataAndStatus() {
        Node copy = NodeStatusDifference.copy(new Node());

        assertThat(copy.getMetadata()).isNotNull();
        assertThat(copy.getStatus()).isNotNull();
    }
}
