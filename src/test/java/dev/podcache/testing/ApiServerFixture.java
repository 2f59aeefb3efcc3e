package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.testing.RawApi.Reply;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;

/**
 * The base of the API server contracts: an API server, a namespace and a node name for one test, and helpers that
 * create objects.
 */
abstract class ApiServerFixture {

    static final String MERGE = "application/merge-patch+json";
    static final String STRATEGIC = "application/strategic-merge-patch+json";
    static final String JSON_PATCH = "application/json-patch+json";

    private static final ObjectMapper JSON = new ObjectMapper();

    final String namespace = "contract-" + UUID.randomUUID().toString().substring(0, 8);
    final String secrets = "/api/v1/namespaces/" + namespace + "/secrets";
    final String pods = "/api/v1/namespaces/" + namespace + "/pods";
    final String leases = "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases";
    final String node = "node-" + namespace;

    /** Returns the API server under test. */
    protected abstract RawApi api();

    /** Returns the version of the server, or the version that it imitates. */
    protected ServerVersion version() {
        return ServerVersion.OF_EMBEDDED;
    }

    /** Creates a namespace in which pods can be created. */
    protected void createNamespace(String name) throws IOException, InterruptedException {
        assertThat(api().post("/api/v1/namespaces", named(name)).code()).isEqualTo(201);
    }

    @BeforeEach
    void createNamespace() throws Exception {
        createNamespace(namespace);
    }

    Reply create(String name, String value) throws IOException, InterruptedException {
        return api().post(secrets, secret(name, value));
    }

    void createPod(String name, String nodeName) throws IOException, InterruptedException {
        assertThat(api().post(pods, pod(name, nodeName)).code()).isEqualTo(201);
    }

    void createNode() throws IOException, InterruptedException {
        assertThat(api().post("/api/v1/nodes", named(node)).code()).isEqualTo(201);
    }

    String nodePath(String part) {
        return "/api/v1/nodes/" + node + part;
    }

    static String named(String name) {
        return "{\"metadata\":{\"name\":\"" + name + "\"}}";
    }

    static String secret(String name, String value) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"data\":{\"k\":\"" + value + "\"}}";
    }

    static String pod(String name, String nodeName) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"spec\":{\"nodeName\":\"" + nodeName
                + "\",\"terminationGracePeriodSeconds\":30,\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
    }

    static String condition(String type, String status) {
        return "{\"status\":{\"conditions\":[{\"type\":\"" + type + "\",\"status\":\"" + status + "\"}]}}";
    }

    static ObjectNode lean(Reply reply) {
        return lean(reply.body());
    }

    /** Returns a copy of the object without {@code managedFields}. */
    static ObjectNode lean(JsonNode object) {
        ObjectNode copy = object.deepCopy();
        ((ObjectNode) copy.path("metadata")).remove("managedFields");
        return copy;
    }

    static ObjectNode json(String text) throws IOException {
        return (ObjectNode) JSON.readTree(text);
    }

    static void assertRefused(Reply reply, String status) throws IOException {
        assertThat(reply.body()).isEqualTo(JSON.readTree(status));
        assertThat(reply.code()).isEqualTo(reply.body().path("code").asInt());
    }
}
