package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.testing.RawApi.Reply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What our clients rely on in any API server, apart from watches: the answers of a kube-apiserver 1.20, down to the
 * Status. A subclass brings the server. Each test works in a namespace, and on nodes, of its own.
 */
@Timeout(180)
public abstract class ApiServerContract {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MERGE = "application/merge-patch+json";
    private static final String STRATEGIC = "application/strategic-merge-patch+json";
    private static final String JSON_PATCH = "application/json-patch+json";

    private final String namespace = "contract-" + UUID.randomUUID().toString().substring(0, 8);
    private final String secrets = "/api/v1/namespaces/" + namespace + "/secrets";
    private final String pods = "/api/v1/namespaces/" + namespace + "/pods";
    private final String leases = "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases";
    private final String node = "node-" + namespace;

    protected abstract RawApi api();

    @BeforeEach
    void createNamespace() throws Exception {
        assertThat(api().post("/api/v1/namespaces", named(namespace)).code()).isEqualTo(201);
    }

    // Reads

    @Test
    void get_absent_isNotFound() throws Exception {
        assertRefused(api().get(secrets + "/nowhere"), """
                {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"secrets \\"nowhere\\" not found",
                 "reason":"NotFound","details":{"name":"nowhere","kind":"secrets"},"code":404}""");
    }

    @Test
    void get_absentLease_namesItsGroup() throws Exception {
        assertRefused(api().get(leases + "/nowhere"), """
                {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
                 "message":"leases.coordination.k8s.io \\"nowhere\\" not found","reason":"NotFound",
                 "details":{"name":"nowhere","group":"coordination.k8s.io","kind":"leases"},"code":404}""");
    }

    @Test
    void get_unknownResource_isNotFound() throws Exception {
        Reply reply = api().get("/api/v1/namespaces/" + namespace + "/nonsense");

        assertThat(reply.code()).isEqualTo(404);
        assertThat(reply.text("/message")).isEqualTo("the server could not find the requested resource");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?resourceVersion=0"})
    void get_created_isWhatTheCreationAnswered(String query) throws Exception {
        Reply created = create("db", "djE=");

        Reply got = api().get(secrets + "/db" + query);

        assertThat(got.code()).isEqualTo(200);
        assertThat(lean(got)).isEqualTo(lean(created));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/db", ""})
    void read_versionOfTheFuture_isATimeoutThatSaysSo(String object) throws Exception {
        create("db", "djE=");

        Reply reply = api().get(secrets + object + "?resourceVersion=999999999");

        assertThat(reply.code()).isEqualTo(504);
        assertThat(reply.text("/reason")).isEqualTo("Timeout");
        assertThat(reply.text("/message")).startsWith("Timeout: Too large resource version: 999999999, current: ");
        assertThat(reply.text("/details/causes/0/reason")).isEqualTo("ResourceVersionTooLarge");
        assertThat(reply.text("/details/causes/0/message")).isEqualTo("Too large resource version");
        assertThat(reply.text("/details/retryAfterSeconds")).isEqualTo("1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/db", ""})
    void read_versionThatIsNoNumber_isRefused(String object) throws Exception {
        create("db", "djE=");

        Reply reply = api().get(secrets + object + "?resourceVersion=bad");

        assertThat(reply.code()).isEqualTo(500);
        assertThat(reply.text("/message")).startsWith("resourceVersion: Invalid value: \"bad\": ");
    }

    @Test
    void list_byName_hasOneItemThatDoesNotSayItsKind() throws Exception {
        create("one", "djE=");
        Reply two = create("two", "djI=");

        Reply list = api().get(secrets + "?fieldSelector=metadata.name%3Dtwo");

        assertThat(list.text("/kind") + " " + list.text("/apiVersion")).isEqualTo("SecretList v1");
        assertThat(list.body().path("items")).hasSize(1);
        ObjectNode item = lean(list.body().at("/items/0"));
        assertThat(item.has("kind")).isFalse();
        item.put("kind", "Secret").put("apiVersion", "v1");
        assertThat(item).isEqualTo(lean(two));
        assertThat(list.version()).isGreaterThanOrEqualTo(two.version());
    }

    @Test
    void list_nothingThere_isEmpty() throws Exception {
        Reply list = api().get(secrets + "?fieldSelector=metadata.name%3Dnowhere");

        assertThat(list.code()).isEqualTo(200);
        assertThat(list.body().path("items").isArray()).isTrue();
        assertThat(list.body().path("items")).isEmpty();
    }

    @Test
    void list_podsOfANode_areSelectedByTheField() throws Exception {
        createPod("here", node);
        createPod("there", "elsewhere");

        Reply list = api().get("/api/v1/pods?fieldSelector=spec.nodeName%3D" + node);

        assertThat(list.body().findValuesAsText("name")).contains("here").doesNotContain("there");
    }

    @Test
    void list_byUnknownField_isRefused() throws Exception {
        assertRefused(api().get(secrets + "?fieldSelector=spec.nodeName%3Dn"), """
                {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
                 "message":"field label not supported: spec.nodeName","reason":"BadRequest","code":400}""");
    }

    @ParameterizedTest
    @CsvSource({"tier=web, a", "tier!=web, bc", "tier, ab", "!tier, c", "'tier=web,tier', a"})
    void list_byLabels_obeysTheSelector(String selector, String expected) throws Exception {
        api().post(secrets, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"tier\":\"web\"}}}");
        api().post(secrets, "{\"metadata\":{\"name\":\"b\",\"labels\":{\"tier\":\"db\"}}}");
        api().post(secrets, named("c"));

        Reply list =
                api().get(secrets + "?labelSelector=" + java.net.URLEncoder.encode(selector, StandardCharsets.UTF_8));

        StringBuilder names = new StringBuilder();
        list.body()
                .path("items")
                .forEach(item -> names.append(item.at("/metadata/name").asText()));
        assertThat(names).hasToString(expected);
    }

    // Creation

    @Test
    void create_secret_fillsInTheSystemsMetadata() throws Exception {
        Reply created = create("db", "djE=");

        assertThat(created.code()).isEqualTo(201);
        assertThat(created.text("/kind") + " " + created.text("/apiVersion")).isEqualTo("Secret v1");
        assertThat(UUID.fromString(created.text("/metadata/uid"))).isNotNull();
        assertThat(created.text("/metadata/creationTimestamp")).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ");
        assertThat(created.text("/metadata/namespace")).isEqualTo(namespace);
        assertThat(created.text("/type")).isEqualTo("Opaque");
        assertThat(created.body().has("immutable")).isFalse();
    }

    @Test
    void create_existing_isRefused() throws Exception {
        create("db", "djE=");

        assertRefused(create("db", "djI="), """
                {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"secrets \\"db\\" already exists",
                 "reason":"AlreadyExists","details":{"name":"db","kind":"secrets"},"code":409}""");
    }

    @Test
    void create_withoutAnyName_isRefused() throws Exception {
        Reply reply = api().post(secrets, "{\"metadata\":{}}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("422 Invalid");
        assertThat(reply.text("/message"))
                .isEqualTo("Secret \"\" is invalid: metadata.name: Required value: name or generateName is required");
    }

    @Test
    void create_illegalName_isRefused() throws Exception {
        Reply reply = create("Not_Legal", "djE=");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("422 Invalid");
        assertThat(reply.text("/message"))
                .startsWith("Secret \"Not_Legal\" is invalid: metadata.name: Invalid value: \"Not_Legal\": ");
    }

    @Test
    void create_inAnotherNamespaceThanTheUrls_isRefused() throws Exception {
        Reply reply = api().post(secrets, "{\"metadata\":{\"name\":\"db\",\"namespace\":\"other\"}}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("400 BadRequest");
        assertThat(reply.text("/message"))
                .isEqualTo("the namespace of the provided object does not match the namespace sent on the request");
    }

    @Test
    void create_withResourceVersion_isRefused() throws Exception {
        Reply reply = api().post(secrets, "{\"metadata\":{\"name\":\"db\",\"resourceVersion\":\"7\"}}");

        assertThat(reply.code()).isEqualTo(500);
        assertThat(reply.text("/message")).isEqualTo("resourceVersion should not be set on objects to be created");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"metadata\":{\"name\":\"db\"},\"data\":{\"k\":\"not base64!\"}}",
                "{\"metadata\":{\"name\":\"db\"},\"data\":[\"a\"]}",
                "{\"metadata\":{\"name\":\"db\",\"labels\":{\"n\":1}}}",
                "{\"metadata\":{\"name\":\"db\"},\"data\":{\"k\":7}}",
                "{\"metadata\":{\"name\":7}}",
                "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"db\"}}",
                "[]",
                "{",
                "\"text\""
            })
    void create_malformed_isABadRequest(String body) throws Exception {
        Reply reply = api().post(secrets, body);

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("400 BadRequest");
    }

    @Test
    void create_megabyteOfMultiByteText_returnsExact() throws Exception {
        String text = "h\u00e9llo \u65e5\u672c\u8a9e \ud83d\ude80 ".repeat(30_000);
        String configMaps = "/api/v1/namespaces/" + namespace + "/configmaps";
        ObjectNode body = json(named("big"));
        body.putObject("data").put("key", text);

        assertThat(api().post(configMaps, body.toString()).code()).isEqualTo(201);

        assertThat(api().get(configMaps + "/big").text("/data/key")).isEqualTo(text);
    }

    @Test
    void create_secretBeyondAMebibyte_isRefused() throws Exception {
        String largest = Base64.getEncoder().encodeToString(new byte[1 << 20]);
        String tooLarge = Base64.getEncoder().encodeToString(new byte[(1 << 20) + 1]);

        assertThat(create("largest", largest).code()).isEqualTo(201);
        Reply refused = create("beyond", tooLarge);
        assertThat(refused.code() + " " + refused.text("/message"))
                .isEqualTo("422 Secret \"beyond\" is invalid: data: Too long: must have at most 1048576 bytes");
    }

    @Test
    void create_bodyBeyondThreeMebibytes_isRefused() throws Exception {
        Reply reply = create("big", "A".repeat(3 << 20));

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("413 RequestEntityTooLarge");
    }

    // Versions and updates

    @Test
    void resourceVersion_writesOfAnyResource_growsAndBelongsToOneObject() throws Exception {
        Reply first = create("one", "djE=");
        Reply other = api().post("/api/v1/namespaces/" + namespace + "/configmaps", named("two"));
        Reply updated = api().put(secrets + "/one", secret("one", "djI="));

        assertThat(other.version()).isGreaterThan(first.version());
        assertThat(updated.version()).isGreaterThan(other.version());
        assertThat(api().get("/api/v1/namespaces/" + namespace + "/configmaps/two")
                        .version())
                .isEqualTo(other.version());
    }

    @Test
    void update_staleVersion_conflicts() throws Exception {
        ObjectNode stale = lean(create("db", "djE="));
        api().put(secrets + "/db", secret("db", "djI="));

        assertRefused(api().put(secrets + "/db", stale.toString()), """
                {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
                 "message":"Operation cannot be fulfilled on secrets \\"db\\": the object has been modified; please apply your changes to the latest version and try again",
                 "reason":"Conflict","details":{"name":"db","kind":"secrets"},"code":409}""");
    }

    @Test
    void update_nothingNew_keepsTheVersion() throws Exception {
        Reply created = create("db", "djE=");

        assertThat(api().put(secrets + "/db", secret("db", "djE=")).version()).isEqualTo(created.version());
    }

    @Test
    void update_absent_isNotFound() throws Exception {
        Reply reply = api().put(secrets + "/db", secret("db", "djE="));

        assertThat(reply.code() + " " + reply.text("/message")).isEqualTo("404 secrets \"db\" not found");
    }

    @Test
    void update_otherNameThanTheUrls_isRefused() throws Exception {
        create("db", "djE=");

        Reply reply = api().put(secrets + "/db", secret("other", "djE="));

        assertThat(reply.code() + " " + reply.text("/message"))
                .isEqualTo("400 the name of the object (other) does not match the name on the URL (db)");
    }

    @Test
    void update_otherUid_conflicts() throws Exception {
        Reply created = create("db", "djE=");

        Reply reply = api().put(secrets + "/db", "{\"metadata\":{\"name\":\"db\",\"uid\":\"u\"}}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("409 Conflict");
        assertThat(reply.text("/message"))
                .startsWith("Operation cannot be fulfilled on secrets \"db\": ")
                .endsWith("Precondition failed: UID in precondition: u, UID in object meta: "
                        + created.text("/metadata/uid"));
    }

    @Test
    void update_leaseWithoutVersion_isRefused() throws Exception {
        api().post(leases, named("lease"));

        Reply reply = api().put(leases + "/lease", named("lease"));

        assertThat(reply.code() + " " + reply.text("/message"))
                .isEqualTo(
                        "422 leases.coordination.k8s.io \"lease\" is invalid: metadata.resourceVersion: Invalid value:"
                                + " 0x0: must be specified for an update");
    }

    @Test
    void update_immutableSecret_takesNothingButMetadata() throws Exception {
        api().post(secrets, "{\"metadata\":{\"name\":\"db\"},\"immutable\":true,\"data\":{\"k\":\"djE=\"}}");

        Reply newData = api().put(
                        secrets + "/db",
                        "{\"metadata\":{\"name\":\"db\"},\"immutable\":true,\"data\":{\"k\":\"djI=\"}}");
        Reply mutable = api().put(secrets + "/db", secret("db", "djE="));
        Reply labelled = api().patch(secrets + "/db", MERGE, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");

        assertThat(newData.code() + " " + newData.text("/message"))
                .isEqualTo("422 Secret \"db\" is invalid: data: Forbidden: field is immutable when `immutable` is set");
        assertThat(newData.text("/details/causes/0/field")).isEqualTo("data");
        assertThat(mutable.code() + " " + mutable.text("/message"))
                .isEqualTo(
                        "422 Secret \"db\" is invalid: immutable: Forbidden: field is immutable when `immutable` is set");
        assertThat(labelled.code()).isEqualTo(200);
    }

    @Test
    void update_typeOfASecret_isRefused() throws Exception {
        create("db", "djE=");

        Reply reply = api().put(secrets + "/db", "{\"metadata\":{\"name\":\"db\"},\"type\":\"other\"}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("422 Invalid");
        assertThat(reply.text("/message"))
                .isEqualTo("Secret \"db\" is invalid: type: Invalid value: \"other\": field is immutable");
    }

    // The status subresource

    @Test
    void updateStatus_ofANode_takesTheStatusAndNoSpec() throws Exception {
        createNode();
        ObjectNode body = lean(api().get(nodePath("")));
        ((ObjectNode) body.path("spec")).put("unschedulable", true);
        body.putObject("status").putObject("capacity").put("pods", "110");

        Reply reply = api().put(nodePath("/status"), body.toString());

        assertThat(reply.code()).isEqualTo(200);
        assertThat(reply.body().at("/spec/unschedulable").asBoolean()).isFalse();
        assertThat(reply.text("/status/capacity/pods")).isEqualTo("110");
    }

    @Test
    void update_ofANode_leavesItsStatus() throws Exception {
        createNode();
        api().patch(nodePath("/status"), STRATEGIC, condition("Ready", "True"));
        ObjectNode body = lean(api().get(nodePath("")));
        body.putObject("status").putObject("capacity").put("pods", "110");
        ((ObjectNode) body.path("spec")).put("unschedulable", true);

        Reply reply = api().put(nodePath(""), body.toString());

        assertThat(reply.body().at("/spec/unschedulable").asBoolean()).isTrue();
        assertThat(reply.body().at("/status/capacity").isMissingNode()).isTrue();
        assertThat(reply.text("/status/conditions/0/type")).isEqualTo("Ready");
    }

    @Test
    void patchStatus_strategic_mergesConditionsByType() throws Exception {
        createNode();
        api().patch(nodePath("/status"), STRATEGIC, condition("Ready", "True"));
        api().patch(nodePath("/status"), STRATEGIC, condition("DiskPressure", "False"));

        Reply reply = api().patch(nodePath("/status"), STRATEGIC, condition("Ready", "False"));

        assertThat(reply.code()).isEqualTo(200);
        StringBuilder found = new StringBuilder();
        reply.body()
                .at("/status/conditions")
                .forEach(condition -> found.append(condition.path("type").asText())
                        .append('=')
                        .append(condition.path("status").asText())
                        .append(' '));
        assertThat(found.toString().strip().split(" ")).containsExactlyInAnyOrder("Ready=False", "DiskPressure=False");
    }

    @Test
    void patchStatus_ofAPod_takesPhaseAndConditions() throws Exception {
        createPod("web", node);

        Reply reply = api().patch(pods + "/web/status", STRATEGIC, """
                {"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"other"},
                 "status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}""");

        assertThat(reply.code()).isEqualTo(200);
        assertThat(reply.text("/status/phase")).isEqualTo("Running");
        assertThat(reply.text("/status/conditions/0/type")).isEqualTo("Ready");
        assertThat(reply.text("/spec/nodeName")).isEqualTo(node);
    }

    @Test
    void patch_ofAPod_leavesItsStatus() throws Exception {
        createPod("web", node);

        Reply reply = api().patch(
                        pods + "/web",
                        MERGE,
                        "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":{\"phase\":\"Failed\"}}");

        assertThat(reply.text("/status/phase")).isEqualTo("Pending");
        assertThat(reply.text("/metadata/labels/a")).isEqualTo("b");
    }

    @Test
    void create_podWithStatus_beginsPending() throws Exception {
        ObjectNode pod = json(pod("web", node));
        pod.putObject("status").put("phase", "Running");

        assertThat(api().post(pods, pod.toString()).text("/status/phase")).isEqualTo("Pending");
    }

    // Patches

    @ParameterizedTest
    @ValueSource(strings = {MERGE, STRATEGIC})
    void patch_annotationsOfANode_setsAndRemoves(String language) throws Exception {
        createNode();
        String ttl = "node.alpha.kubernetes.io/ttl";

        Reply set = api().patch(
                        nodePath(""), language, "{\"metadata\":{\"annotations\":{\"" + ttl + "\":\"5\",\"b\":\"c\"}}}");
        Reply unset = api().patch(nodePath(""), language, "{\"metadata\":{\"annotations\":{\"" + ttl + "\":null}}}");

        assertThat(set.body().at("/metadata/annotations").path(ttl).asText()).isEqualTo("5");
        assertThat(unset.body().at("/metadata/annotations")).isEqualTo(json("{\"b\":\"c\"}"));
    }

    @Test
    void patch_json_changesOnePlace() throws Exception {
        create("db", "djE=");

        Reply reply = api().patch(
                        secrets + "/db", JSON_PATCH, "[{\"op\":\"replace\",\"path\":\"/data/k\",\"value\":\"djI=\"}]");

        assertThat(reply.text("/data/k")).isEqualTo("djI=");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                JSON_PATCH + "|[{\"op\":\"test\",\"path\":\"/data/k\",\"value\":\"other\"}]",
                JSON_PATCH + "|[{\"op\":\"remove\",\"path\":\"/data/missing\"}]",
                JSON_PATCH + "|[{\"op\":\"nonsense\",\"path\":\"/a\"}]",
                MERGE + "|[]",
                MERGE + "|{\"data\":{\"k\":7}}",
                STRATEGIC + "|{\"data\":{\"k\":7}}"
            })
    void patch_thatDoesNotFit_isUnprocessable(String language, String patch) throws Exception {
        create("db", "djE=");

        Reply reply = api().patch(secrets + "/db", language, patch);

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("422 Invalid");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                STRATEGIC + "|{",
                STRATEGIC + "|[]",
                JSON_PATCH + "|{}",
                MERGE + "|{\"metadata\":{\"name\":\"other\"}}"
            })
    void patch_malformed_isABadRequest(String language, String patch) throws Exception {
        create("db", "djE=");

        Reply reply = api().patch(secrets + "/db", language, patch);

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("400 BadRequest");
    }

    @Test
    void patch_unknownLanguage_isRefused() throws Exception {
        create("db", "djE=");

        Reply reply = api().patch(secrets + "/db", "application/json", "{}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("415 UnsupportedMediaType");
    }

    @ParameterizedTest
    @ValueSource(strings = {MERGE, STRATEGIC})
    void patch_staleVersion_conflicts(String language) throws Exception {
        Reply stale = create("db", "djE=");
        api().put(secrets + "/db", secret("db", "djI="));

        Reply reply = api().patch(
                        secrets + "/db",
                        language,
                        "{\"metadata\":{\"resourceVersion\":\"" + stale.version() + "\"},\"data\":{\"k\":\"djM=\"}}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("409 Conflict");
    }

    @Test
    void patchStatus_otherUid_isInvalidRatherThanAConflict() throws Exception {
        createPod("web", node);

        Reply reply = api().patch(pods + "/web/status", STRATEGIC, "{\"metadata\":{\"uid\":\"u\"},\"status\":{}}");

        assertThat(reply.code() + " " + reply.text("/message"))
                .isEqualTo("422 Pod \"web\" is invalid: metadata.uid: Invalid value: \"u\": field is immutable");
        assertThat(reply.text("/details/causes/0/field")).isEqualTo("metadata.uid");
    }

    @Test
    void patch_absent_isNotFound() throws Exception {
        Reply reply = api().patch(secrets + "/db", MERGE, "{}");

        assertThat(reply.code() + " " + reply.text("/message")).isEqualTo("404 secrets \"db\" not found");
    }

    // Deletion

    @Test
    void delete_secret_tellsWhatIsGone() throws Exception {
        Reply created = create("db", "djE=");

        Reply reply = api().delete(secrets + "/db", "");

        assertThat(reply.code()).isEqualTo(200);
        assertThat(reply.body()).isEqualTo(json("""
                {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success",
                 "details":{"name":"db","kind":"secrets","uid":"%s"}}""".formatted(created.text("/metadata/uid"))));
        assertThat(api().get(secrets + "/db").code()).isEqualTo(404);
    }

    @Test
    void delete_absent_isNotFound() throws Exception {
        assertThat(api().delete(secrets + "/db", "").code()).isEqualTo(404);
    }

    @Test
    void delete_otherUid_conflicts() throws Exception {
        Reply created = create("db", "djE=");

        Reply reply = api().delete(secrets + "/db", "{\"preconditions\":{\"uid\":\"u\"}}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("409 Conflict");
        assertThat(reply.text("/message"))
                .isEqualTo(
                        "Operation cannot be fulfilled on Secret \"db\": the UID in the precondition (u) does not match"
                                + " the UID in record (" + created.text("/metadata/uid")
                                + "). The object might have been deleted and then recreated");
    }

    @Test
    void delete_podOnANode_isOnlyMarkedUntilItsKubeletConfirms() throws Exception {
        createPod("web", node);

        Reply marked = api().delete(pods + "/web", "");
        Reply alive = api().get(pods + "/web");
        Reply shortened = api().delete(pods + "/web", "{\"gracePeriodSeconds\":5}");
        Reply confirmed = api().delete(pods + "/web", "{\"gracePeriodSeconds\":0}");

        assertThat(marked.text("/kind")).isEqualTo("Pod");
        assertThat(marked.text("/metadata/deletionGracePeriodSeconds")).isEqualTo("30");
        assertThat(alive.text("/metadata/deletionTimestamp")).isEqualTo(marked.text("/metadata/deletionTimestamp"));
        assertThat(shortened.text("/metadata/deletionGracePeriodSeconds")).isEqualTo("5");
        assertThat(confirmed.code()).isEqualTo(200);
        assertThat(api().get(pods + "/web").code()).isEqualTo(404);
    }

    @Test
    void delete_podWithoutANode_isGoneAtOnce() throws Exception {
        createPod("web", "");

        assertThat(api().delete(pods + "/web", "").code()).isEqualTo(200);
        assertThat(api().get(pods + "/web").code()).isEqualTo(404);
    }

    @ParameterizedTest
    @CsvSource({"POST, /db", "PUT, ''", "PATCH, ''"})
    void method_notOfThePath_isNotAllowed(String method, String object) throws Exception {
        Reply reply = switch (method) {
            case "POST" -> api().post(secrets + object, named("db"));
            case "PUT" -> api().put(secrets + object, named("db"));
            default -> api().patch(secrets + object, MERGE, "{}");
        };

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("405 MethodNotAllowed");
    }

    private Reply create(String name, String value) throws IOException, InterruptedException {
        return api().post(secrets, secret(name, value));
    }

    private void createPod(String name, String nodeName) throws IOException, InterruptedException {
        assertThat(api().post(pods, pod(name, nodeName)).code()).isEqualTo(201);
    }

    private void createNode() throws IOException, InterruptedException {
        assertThat(api().post("/api/v1/nodes", named(node)).code()).isEqualTo(201);
    }

    private String nodePath(String part) {
        return "/api/v1/nodes/" + node + part;
    }

    private static String named(String name) {
        return "{\"metadata\":{\"name\":\"" + name + "\"}}";
    }

    private static String secret(String name, String value) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"data\":{\"k\":\"" + value + "\"}}";
    }

    private static String pod(String name, String nodeName) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"spec\":{\"nodeName\":\"" + nodeName
                + "\",\"terminationGracePeriodSeconds\":30,\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
    }

    private static String condition(String type, String status) {
        return "{\"status\":{\"conditions\":[{\"type\":\"" + type + "\",\"status\":\"" + status + "\"}]}}";
    }

    private static ObjectNode lean(Reply reply) {
        return lean(reply.body());
    }

    /** Without what only says who wrote which field. */
    private static ObjectNode lean(JsonNode object) {
        ObjectNode copy = object.deepCopy();
        ((ObjectNode) copy.path("metadata")).remove("managedFields");
        return copy;
    }

    private static ObjectNode json(String text) throws IOException {
        return (ObjectNode) JSON.readTree(text);
    }

    private static void assertRefused(Reply reply, String status) throws IOException {
        assertThat(reply.body()).isEqualTo(JSON.readTree(status));
        assertThat(reply.code()).isEqualTo(reply.body().path("code").asInt());
    }
}
