package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.testing.RawApi.Reply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of an API server for updates, patches and deletions: the responses of a kube-apiserver of its
 * {@link #version}, including the Status. A subclass provides the server. Each test uses its own namespace and its own
 * nodes.
 */
@Timeout(180)
public abstract class ApiServerChangeContract extends ApiServerFixture {

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
    @Needs(ServerFeature.VALIDATION)
    void update_leaseWithoutVersion_isRefused() throws Exception {
        api().post(leases, named("lease"));

        Reply reply = api().put(leases + "/lease", named("lease"));

        assertThat(reply.code() + " " + reply.text("/message"))
                .isEqualTo(
                        "422 leases.coordination.k8s.io \"lease\" is invalid: metadata.resourceVersion: Invalid value: "
                                + version().missingVersion() + ": must be specified for an update");
    }

    @Test
    @Needs(ServerFeature.VALIDATION)
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
    @Needs(ServerFeature.VALIDATION)
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

    @ParameterizedTest
    @Needs(ServerFeature.VALIDATION)
    @ValueSource(
            strings = {
                "{\"data\":{\"conf/app.yml\":\"djE=\"}}",
                "{\"metadata\":{\"labels\":{\"app\":\"two words\"}}}",
                "{\"metadata\":{\"annotations\":{\"two words\":\"x\"}}}",
                "{\"metadata\":{\"ownerReferences\":[{\"name\":\"p\"}]}}",
                "{\"metadata\":{\"finalizers\":[\"two words\"]}}"
            })
    void patch_toInvalidContent_isRefused(String patch) throws Exception {
        Reply created = create("db", "djE=");

        Reply refused = api().patch(secrets + "/db", MERGE, patch);

        assertThat(refused.code() + " " + refused.text("/reason")).isEqualTo("422 Invalid");
        assertThat(lean(api().get(secrets + "/db"))).isEqualTo(lean(created));
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
                MERGE + "|{\"data\":{\"k\":7}}",
                STRATEGIC + "|{\"data\":{\"k\":7}}"
            })
    void patch_thatDoesNotFit_isUnprocessable(String language, String patch) throws Exception {
        create("db", "djE=");

        Reply reply = api().patch(secrets + "/db", language, patch);

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("422 Invalid");
    }

    @Test
    void patch_unknownOperation_isRefusedAsItsVersionDoes() throws Exception {
        create("db", "djE=");

        Reply reply = api().patch(secrets + "/db", JSON_PATCH, "[{\"op\":\"nonsense\",\"path\":\"/a\"}]");

        assertThat(reply.code() + " " + reply.text("/reason"))
                .isEqualTo(version().patchWithUnknownOperation());
    }

    @Test
    void patch_mergeOfAnArray_isRefusedAsItsVersionDoes() throws Exception {
        create("db", "djE=");

        Reply reply = api().patch(secrets + "/db", MERGE, "[]");

        assertThat(reply.code() + " " + reply.text("/reason"))
                .isEqualTo(version().mergePatchThatIsAnArray());
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'$setElementOrder/finalizers':['a/b'],'finalizers':['c/d']}",
                "{'$setElementOrder/finalizers':['a/b','c/d'],'finalizers':['c/d','a/b']}",
                "{'$setElementOrder/finalizers':'a/b','finalizers':['a/b']}",
                "{'$setElementOrder/finalizers':['a/b'],'finalizers':null}",
                "{'$setElementOrder/ownerReferences':[{'uid':'1'}],'ownerReferences':[{'uid':'2'}]}"
            })
    void patch_orderThatTheListDisagreesWith_isTakenForTheServersMistake(String metadata) throws Exception {
        create("db", "djE=");

        Reply reply = api().patch(secrets + "/db", STRATEGIC, "{\"metadata\":" + metadata.replace('\'', '"') + "}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("500 ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'$setElementOrder/ownerReferences':[{'name':'x'}]}",
                "{'$setElementOrder/ownerReferences':[{'uid':'1'},{'name':'x'}]}",
                "{'$setElementOrder/ownerReferences':['x'],'ownerReferences':[]}",
                "{'$setElementOrder/labels':['x']}",
                "{'ownerReferences':[{'name':'x'}]}",
                "{'ownerReferences':[{'$patch':'delete'}]}",
                "{'ownerReferences':[{'$patch':'odd','uid':'1'}]}",
                "{'ownerReferences':['x']}",
                "{'$patch':'odd'}"
            })
    void patch_listElementWithoutItsKeyOrOddDirective_isTakenForTheServersMistake(String metadata) throws Exception {
        String owned =
                "{'metadata':{'name':'db','ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','uid':'1'}]}}";
        assertThat(api().post(secrets, owned.replace('\'', '"')).code()).isEqualTo(201);

        Reply reply = api().patch(secrets + "/db", STRATEGIC, "{\"metadata\":" + metadata.replace('\'', '"') + "}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("500 ");
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
        int generation = generation(api().get(pods + "/web"));

        Reply marked = api().delete(pods + "/web", "");
        Reply alive = api().get(pods + "/web");
        Reply shortened = api().delete(pods + "/web", "{\"gracePeriodSeconds\":5}");
        Reply confirmed = api().delete(pods + "/web", "{\"gracePeriodSeconds\":0}");

        assertThat(marked.text("/kind")).isEqualTo("Pod");
        assertThat(marked.text("/metadata/deletionGracePeriodSeconds")).isEqualTo("30");
        assertThat(alive.text("/metadata/deletionTimestamp")).isEqualTo(marked.text("/metadata/deletionTimestamp"));
        assertThat(shortened.text("/metadata/deletionGracePeriodSeconds")).isEqualTo("5");
        // pods of old servers have none
        assertThat(generation(marked)).isEqualTo(generation == 0 ? 0 : generation + 1);
        assertThat(generation(shortened)).isEqualTo(generation(marked));
        assertThat(confirmed.code()).isEqualTo(200);
        assertThat(api().get(pods + "/web").code()).isEqualTo(404);
    }

    private static int generation(Reply reply) {
        return reply.body().at("/metadata/generation").asInt();
    }

    @Test
    void delete_podWithoutANode_isGoneAtOnce() throws Exception {
        createPod("web", "");

        assertThat(api().delete(pods + "/web", "").code()).isEqualTo(200);
        assertThat(api().get(pods + "/web").code()).isEqualTo(404);
    }
}
