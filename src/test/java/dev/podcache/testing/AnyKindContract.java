package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.testing.RawApi.Events;
import dev.podcache.testing.RawApi.Reply;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of an API server for objects of any kind: custom resources with a status, finalizers, namespaces that are
 * being deleted, pages, and deletions of several objects. A subclass provides the server.
 */
@Timeout(180)
public abstract class AnyKindContract extends ApiServerFixture {

    /** The group of the custom resources, of version {@code v1}. */
    protected static final String GROUP = "contract.example.dev";

    private static final String ROOT = "/apis/" + GROUP + "/v1";

    private final String websites = ROOT + "/namespaces/" + namespace + "/websites";

    /**
     * Has the server serve the kind {@code Website}, which is namespaced, and {@code Zone}, which is not: both without a
     * schema and with a status subresource; and Deployments. Returns when they are served.
     */
    protected abstract void serveKinds() throws Exception;

    @BeforeEach
    void serve() throws Exception {
        serveKinds();
    }

    // The status subresource and the generation

    @Test
    void create_customResource_beginsWithoutStatusAndAtGenerationOne() throws Exception {
        Reply reply = api().post(websites, """
                {"apiVersion":"contract.example.dev/v1","kind":"Website",
                 "metadata":{"name":"shop","generation":7},"spec":{"size":1},"status":{"ready":true}}""");

        assertThat(reply.code()).isEqualTo(201);
        assertThat(reply.body().at("/metadata/generation").asInt()).isEqualTo(1);
        assertThat(reply.body().has("status")).isFalse();
        assertThat(reply.text("/kind")).isEqualTo("Website");
        assertThat(reply.text("/metadata/namespace")).isEqualTo(namespace);
        assertThat(reply.text("/metadata/uid")).isNotEmpty();
        assertThat(reply.text("/metadata/creationTimestamp")).isNotEmpty();
    }

    @Test
    void update_spec_raisesTheGeneration_otherFieldsDoNot() throws Exception {
        ObjectNode website = website("shop");
        website.putObject("spec").put("size", 2);
        ObjectNode larger = lean(api().put(websites + "/shop", website.toString()));
        larger.withObject("/metadata/labels").put("a", "b");
        larger.putObject("status").put("ready", true);
        Reply labelled = api().put(websites + "/shop", larger.toString());
        Reply patched = api().patch(websites + "/shop", MERGE, "{\"spec\":{\"size\":3},\"status\":{\"ready\":true}}");
        Reply beside = api().patch(websites + "/shop", MERGE, "{\"other\":1}");

        assertThat(larger.at("/metadata/generation").asInt()).isEqualTo(2);
        assertThat(labelled.body().at("/metadata/generation").asInt()).isEqualTo(2);
        assertThat(labelled.body().has("status")).isFalse();
        assertThat(labelled.text("/metadata/labels/a")).isEqualTo("b");
        assertThat(patched.body().at("/metadata/generation").asInt()).isEqualTo(3);
        assertThat(patched.body().has("status")).isFalse();
        assertThat(beside.body().at("/metadata/generation").asInt()).isEqualTo(4);
    }

    @Test
    void updateStatus_changesTheStatusAlone() throws Exception {
        ObjectNode website = website("shop");
        website.putObject("spec").put("size", 2);
        website.withObject("/metadata/labels").put("a", "b");
        website.putObject("status").put("ready", true);

        Reply put = api().put(websites + "/shop/status", website.toString());
        Reply patched = api().patch(
                        websites + "/shop/status",
                        MERGE,
                        "{\"metadata\":{\"labels\":{\"c\":\"d\"}},\"spec\":{\"size\":3},\"status\":{\"hosts\":[\"a\"]}}");

        for (Reply reply : List.of(put, patched, api().get(websites + "/shop/status"))) {
            assertThat(reply.code()).isEqualTo(200);
            assertThat(reply.body().at("/status/ready").asBoolean()).isTrue();
            assertThat(reply.body().at("/spec/size").asInt()).isEqualTo(1);
            assertThat(reply.body().at("/metadata/labels").isMissingNode()).isTrue();
            assertThat(reply.body().at("/metadata/generation").asInt()).isEqualTo(1);
        }
        assertThat(put.version())
                .isGreaterThan(
                        Long.parseLong(website.at("/metadata/resourceVersion").asText()));
        assertThat(patched.text("/status/hosts/0")).isEqualTo("a");
    }

    @Test
    void update_afterTheStatus_keepsIt() throws Exception {
        website("shop");
        api().patch(websites + "/shop/status", MERGE, "{\"status\":{\"ready\":true}}");

        Reply reply = api().patch(websites + "/shop", MERGE, "{\"spec\":{\"size\":2},\"status\":null}");

        assertThat(reply.body().at("/status/ready").asBoolean()).isTrue();
        assertThat(reply.body().at("/metadata/generation").asInt()).isEqualTo(2);
    }

    @Test
    void update_nothingNew_keepsTheVersion() throws Exception {
        ObjectNode website = website("shop");

        Reply reply = api().put(websites + "/shop", website.toString());

        assertThat(reply.text("/metadata/resourceVersion"))
                .isEqualTo(website.at("/metadata/resourceVersion").asText());
    }

    @Test
    void update_withoutVersion_isRefused() throws Exception {
        ObjectNode website = website("shop");
        ((ObjectNode) website.path("metadata")).remove("resourceVersion");

        Reply reply = api().put(websites + "/shop", website.toString());

        assertThat(reply.code()).isEqualTo(422);
        assertThat(reply.text("/message"))
                .startsWith(
                        "websites.contract.example.dev \"shop\" is invalid: metadata.resourceVersion: Invalid value: ")
                .endsWith(": must be specified for an update");
    }

    @Test
    void update_oldVersion_conflicts() throws Exception {
        ObjectNode website = website("shop");
        api().patch(websites + "/shop", MERGE, "{\"spec\":{\"size\":2}}");

        assertThat(api().put(websites + "/shop", website.toString()).code()).isEqualTo(409);
        assertThat(api().put(websites + "/shop/status", website.toString()).code())
                .isEqualTo(409);
    }

    @Test
    void patch_strategic_isForKindsOfKubernetesOnly() throws Exception {
        website("shop");

        Reply strategic = api().patch(websites + "/shop", STRATEGIC, "{\"spec\":{\"size\":2}}");
        Reply json = api().patch(
                        websites + "/shop", JSON_PATCH, "[{\"op\":\"replace\",\"path\":\"/spec/size\",\"value\":2}]");

        assertThat(strategic.code() + " " + strategic.text("/reason")).isEqualTo("415 UnsupportedMediaType");
        assertThat(strategic.text("/message"))
                .startsWith("the body of the request was in an unknown format - accepted media types include:"
                        + " application/json-patch+json, application/merge-patch+json");
        assertThat(json.body().at("/spec/size").asInt()).isEqualTo(2);
    }

    @Test
    void patch_strategic_ofATemplateOfPods_leavesTheOtherContainersAndFields() throws Exception {
        String deployments = "/apis/apps/v1/namespaces/" + namespace + "/deployments";
        Reply created = api().post(deployments, """
                {"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{
                 "metadata":{"labels":{"app":"web"}},"spec":{"containers":[
                 {"name":"web","image":"x:1","ports":[{"containerPort":80}],"env":[{"name":"A","value":"1"}]},
                 {"name":"sidecar","image":"y:1"}]}}}}""");
        assertThat(created.code()).as(created.text("/message")).isEqualTo(201);

        Reply patched = api().patch(deployments + "/web", STRATEGIC, """
                {"spec":{"template":{"spec":{"containers":[{"name":"web","image":"x:2"}]}}}}""");

        assertThat(patched.code()).as(patched.text("/message")).isEqualTo(200);
        ObjectNode expected = created.body().at("/spec/template").deepCopy();
        ((ObjectNode) expected.at("/spec/containers/0")).put("image", "x:2");
        assertThat(patched.body().at("/spec/template")).isEqualTo(expected);
    }

    @Test
    void patch_strategic_ofAServiceAccount_mergesItsSecretsOnly() throws Exception {
        String accounts = "/api/v1/namespaces/" + namespace + "/serviceaccounts";
        Reply created = api().post(accounts, """
                {"metadata":{"name":"builder"},"secrets":[{"name":"a"}],"imagePullSecrets":[{"name":"a"}]}""");
        assertThat(created.code()).as(created.text("/message")).isEqualTo(201);

        Reply patched = api().patch(accounts + "/builder", STRATEGIC, """
                {"secrets":[{"name":"b"}],"imagePullSecrets":[{"name":"b"}]}""");

        assertThat(names(patched.body().path("secrets"))).contains("a", "b");
        assertThat(names(patched.body().path("imagePullSecrets"))).containsExactly("b");
    }

    @Test
    void requests_forWhatIsNotThere_areNotFound() throws Exception {
        assertThat(api().get(websites + "/none").code() + " "
                        + api().get(websites + "/none").text("/message"))
                .isEqualTo("404 websites.contract.example.dev \"none\" not found");
        assertThat(api().patch(websites + "/none/status", MERGE, "{}").code()).isEqualTo(404);
        assertThat(api().get(ROOT + "/nothing").code()).isEqualTo(404);
        assertThat(api().get("/apis/" + GROUP + "/v2/websites").code()).isEqualTo(404);
        assertThat(api().get("/apis/unknown.example.dev/v1").code()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"metadata\":{\"name\":\"UPPER\"}}",
                "{\"metadata\":{}}",
                "{\"metadata\":{\"name\":\"x\",\"labels\":{\"a\":1}}}",
                "{\"apiVersion\":\"contract.example.dev/v2\",\"kind\":\"Website\",\"metadata\":{\"name\":\"x\"}}",
                "{\"apiVersion\":\"contract.example.dev/v1\",\"kind\":\"Zone\",\"metadata\":{\"name\":\"x\"}}",
            })
    void create_invalidCustomResource_isRefused(String body) throws Exception {
        ObjectNode object = json(body);
        if (!object.has("kind")) {
            object.put("apiVersion", GROUP + "/v1").put("kind", "Website");
        }

        assertThat(api().post(websites, object.toString()).code()).isIn(400, 422);
    }

    @Test
    void customResource_ofTheCluster_hasNoNamespace() throws Exception {
        String name = "zone-" + namespace;
        Reply created = api().post(
                        ROOT + "/zones",
                        "{\"apiVersion\":\"contract.example.dev/v1\",\"kind\":\"Zone\",\"metadata\":{\"name\":\"" + name
                                + "\"}}");

        assertThat(created.code()).isEqualTo(201);
        assertThat(created.body().at("/metadata/namespace").isMissingNode()).isTrue();
        assertThat(api().get(ROOT + "/zones/" + name).code()).isEqualTo(200);
        assertThat(api().delete(ROOT + "/zones/" + name, "").code()).isEqualTo(200);
    }

    @Test
    void list_customResources_ofAllNamespaces_sayTheirKind() throws Exception {
        website("shop");

        Reply list = api().get(ROOT + "/websites");

        assertThat(list.text("/kind")).isEqualTo("WebsiteList");
        assertThat(list.body().path("items")).anySatisfy(item -> {
            assertThat(item.at("/metadata/namespace").asText()).isEqualTo(namespace);
            assertThat(item.path("kind").asText()).isEqualTo("Website");
        });
        assertThat(api().get(ROOT + "/websites?fieldSelector=metadata.namespace%3D" + namespace)
                        .body()
                        .path("items"))
                .hasSize(1);
        assertThat(api().get(websites + "?fieldSelector=metadata.name%3Dshop")
                        .body()
                        .path("items"))
                .hasSize(1);
        assertThat(api().get(websites + "?fieldSelector=spec.size%3D1").code()).isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "size in (s,m) | a,b",
                "size in ( m , l ) | b",
                "size notin (s,m) | c",
                "size in (s),team=red | a",
                "size notin (s),team | b",
                "team in (red,blue),size!=s | b",
                "!size | c",
                "size | a,b",
                "size in (x) | -",
            })
    void list_byLabels_selects(String selector, String selected) throws Exception {
        String labelled = "{\"metadata\":{\"name\":\"%s\",\"labels\":%s}}";
        api().post(secrets, labelled.formatted("a", "{\"size\":\"s\",\"team\":\"red\"}"));
        api().post(secrets, labelled.formatted("b", "{\"size\":\"m\",\"team\":\"blue\"}"));
        api().post(secrets, labelled.formatted("c", "{\"other\":\"x\"}"));

        List<String> found =
                names(api().get(secrets + "?labelSelector=" + URLEncoder.encode(selector, StandardCharsets.UTF_8)));

        assertThat(found.isEmpty() ? "-" : String.join(",", found)).isEqualTo(selected);
    }

    @ParameterizedTest
    @CsvSource({"size>5, b", "size > 4, ab", "size<12, a", "'size<12,size>5', ''", "other>1, ''"})
    void list_byNumbers_selects(String selector, String expected) throws Exception {
        String labelled = "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"size\":\"%s\"}}}";
        api().post(secrets, labelled.formatted("a", "5"));
        api().post(secrets, labelled.formatted("b", "12"));
        api().post(secrets, labelled.formatted("c", "large"));

        List<String> found =
                names(api().get(secrets + "?labelSelector=" + URLEncoder.encode(selector, StandardCharsets.UTF_8)));

        assertThat(String.join("", found)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "size in",
                "size in (a",
                "size in a)",
                "size notin b",
                "(a)",
                "size between (a,b)",
                "size>",
                "size>large",
                "size>=5",
                "!size<5",
                "1<size<5",
                "size>99999999999999999999"
            })
    void list_byMalformedLabels_isRefused(String selector) throws Exception {
        assertThat(api().get(secrets + "?labelSelector=" + URLEncoder.encode(selector, StandardCharsets.UTF_8))
                        .code())
                .isEqualTo(400);
    }

    @Test
    void watch_customResource_seesSpecStatusAndDeletion() throws Exception {
        String version = website("shop").at("/metadata/resourceVersion").asText();
        api().patch(websites + "/shop", MERGE, "{\"spec\":{\"size\":2}}");
        api().patch(websites + "/shop/status", MERGE, "{\"status\":{\"ready\":true}}");
        api().delete(websites + "/shop", "");

        try (Events events = api().watch(websites + "?watch=1&resourceVersion=" + version)) {
            List<String> seen = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                JsonNode event = events.next();
                seen.add(event.path("type").asText() + " " + event.at("/object/spec/size") + " "
                        + event.at("/object/status/ready").asBoolean());
            }
            assertThat(seen).containsExactly("MODIFIED 2 false", "MODIFIED 2 true", "DELETED 2 true");
        }
    }

    // Discovery

    @Test
    void discovery_namesWhatIsServed() throws Exception {
        JsonNode groups = api().get("/apis").body().path("groups");
        JsonNode group = api().get("/apis/" + GROUP).body();
        JsonNode resources = api().get(ROOT).body();

        assertThat(groups)
                .anySatisfy(each -> assertThat(each.path("name").asText()).isEqualTo(GROUP));
        assertThat(group.path("kind").asText()).isEqualTo("APIGroup");
        assertThat(group.at("/preferredVersion/groupVersion").asText()).isEqualTo(GROUP + "/v1");
        assertThat(group.at("/versions/0/version").asText()).isEqualTo("v1");
        assertThat(resources.path("groupVersion").asText()).isEqualTo(GROUP + "/v1");
        assertThat(resources.path("resources"))
                .anySatisfy(each -> {
                    assertThat(each.path("name").asText()).isEqualTo("websites");
                    assertThat(each.path("kind").asText()).isEqualTo("Website");
                    assertThat(each.path("namespaced").asBoolean()).isTrue();
                    assertThat(texts(each.path("verbs")))
                            .containsExactlyInAnyOrder(
                                    "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch");
                })
                .anySatisfy(each -> {
                    assertThat(each.path("name").asText()).isEqualTo("websites/status");
                    assertThat(texts(each.path("verbs"))).containsExactlyInAnyOrder("get", "patch", "update");
                })
                .anySatisfy(each -> {
                    assertThat(each.path("name").asText()).isEqualTo("zones");
                    assertThat(each.path("namespaced").asBoolean()).isFalse();
                });
    }

    @Test
    @Needs(ServerFeature.RBAC)
    void discovery_namesRolesAndReviews() throws Exception {
        JsonNode roles = api().get("/apis/rbac.authorization.k8s.io/v1").body().path("resources");
        JsonNode reviews = api().get("/apis/authorization.k8s.io/v1").body().path("resources");

        assertThat(names(roles)).contains("roles", "rolebindings", "clusterroles", "clusterrolebindings");
        assertThat(names(reviews))
                .containsExactlyInAnyOrder(
                        "localsubjectaccessreviews",
                        "selfsubjectaccessreviews",
                        "selfsubjectrulesreviews",
                        "subjectaccessreviews");
        assertThat(reviews)
                .allSatisfy(each -> assertThat(texts(each.path("verbs"))).containsExactly("create"));
        assertThat(api().get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
                        .code())
                .isEqualTo(405);
    }

    // Finalizers

    @Test
    void delete_withFinalizers_isMarked_andGoesWithTheLastOfThem() throws Exception {
        ObjectNode website = json("""
                {"apiVersion":"contract.example.dev/v1","kind":"Website",
                 "metadata":{"name":"shop","finalizers":["example.dev/a","example.dev/b"]},"spec":{"size":1}}""");
        Reply created = api().post(websites, website.toString());
        String from = created.text("/metadata/resourceVersion");

        Reply marked = api().delete(websites + "/shop", "");
        Reply again = api().delete(websites + "/shop", "");
        Reply added = api().patch(
                        websites + "/shop",
                        MERGE,
                        "{\"metadata\":{\"finalizers\":[\"example.dev/a\",\"example.dev/b\",\"example.dev/c\"]}}");
        Reply changed = api().patch(websites + "/shop", MERGE, "{\"spec\":{\"size\":2}}");
        Reply oneLeft = api().patch(websites + "/shop", MERGE, "{\"metadata\":{\"finalizers\":[\"example.dev/a\"]}}");
        Reply none = api().patch(websites + "/shop", MERGE, "{\"metadata\":{\"finalizers\":null}}");

        assertThat(marked.code()).isEqualTo(200);
        assertThat(marked.text("/kind")).isEqualTo("Website");
        assertThat(marked.text("/metadata/deletionTimestamp")).isNotEmpty();
        assertThat(marked.body().at("/metadata/deletionGracePeriodSeconds").asInt(-1))
                .isZero();
        assertThat(marked.body().at("/metadata/generation").asInt()).isEqualTo(2);
        assertThat(again.version()).isEqualTo(marked.version());
        assertThat(added.code() + " " + added.text("/message"))
                .isEqualTo(
                        "422 Website.contract.example.dev \"shop\" is invalid: metadata.finalizers: Forbidden: no new"
                                + " finalizers can be added if the object is being deleted, found new finalizers"
                                + " []string{\"example.dev/c\"}");
        assertThat(changed.body().at("/metadata/generation").asInt()).isEqualTo(3);
        assertThat(oneLeft.code()).isEqualTo(200);
        assertThat(none.code()).isEqualTo(200);
        assertThat(api().get(websites + "/shop").code()).isEqualTo(404);
        try (Events events = api().watch(websites + "?watch=1&resourceVersion=" + from)) {
            List<String> seen = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                seen.add(events.next().path("type").asText());
            }
            assertThat(seen).containsExactly("MODIFIED", "MODIFIED", "MODIFIED", "DELETED");
        }
    }

    @Test
    void delete_ofASecretWithFinalizer_isMarked() throws Exception {
        api().post(secrets, "{\"metadata\":{\"name\":\"db\",\"finalizers\":[\"example.dev/a\"]}}");

        Reply marked = api().delete(secrets + "/db", "");
        Reply gone =
                api().patch(secrets + "/db", JSON_PATCH, "[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]");

        assertThat(marked.text("/metadata/deletionTimestamp")).isNotEmpty();
        assertThat(gone.code()).isEqualTo(200);
        assertThat(api().get(secrets + "/db").code()).isEqualTo(404);
    }

    @Test
    void create_withDeletionTimestamp_isNotBeingDeleted() throws Exception {
        Reply created =
                api().post(secrets, "{\"metadata\":{\"name\":\"db\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}");

        assertThat(created.body().at("/metadata/deletionTimestamp").isMissingNode())
                .isTrue();
    }

    // Namespaces that are being deleted

    @Test
    @Needs(ServerFeature.VALIDATION)
    void namespace_thatIsBeingDeleted_takesNoNewObjects() throws Exception {
        String ending = namespace + "-ending";
        api().post(
                        "/api/v1/namespaces",
                        "{\"metadata\":{\"name\":\"" + ending + "\",\"finalizers\":[\"example.dev/wait\"]}}");

        Reply deleted = api().delete("/api/v1/namespaces/" + ending, "");
        Reply refused = api().post("/api/v1/namespaces/" + ending + "/secrets", named("db"));

        assertThat(deleted.code()).isEqualTo(200);
        assertThat(deleted.text("/status/phase")).isEqualTo("Terminating");
        assertThat(deleted.text("/metadata/deletionTimestamp")).isNotEmpty();
        assertRefused(refused, """
                {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
                 "message":"secrets \\"db\\" is forbidden: unable to create new content in namespace NS because it is being terminated",
                 "reason":"Forbidden",
                 "details":{"name":"db","kind":"secrets","causes":[{"reason":"NamespaceTerminating",
                   "message":"namespace NS is being terminated","field":"metadata.namespace"}]},
                 "code":403}""".replace("NS", ending));
        assertThat(api().get("/api/v1/namespaces/" + ending).text("/status/phase"))
                .isEqualTo("Terminating");
    }

    // Pages

    @Test
    void list_inPages_hasTheStateOfTheFirst() throws Exception {
        for (String name : List.of("a", "b", "c", "d", "e")) {
            create(name, "djE=");
        }

        Reply first = api().get(secrets + "?limit=2");
        api().delete(secrets + "/d", "");
        create("bb", "djE=");
        api().patch(secrets + "/c", MERGE, "{\"data\":{\"k\":\"djI=\"}}");
        Reply second = api().get(secrets + "?limit=2&continue=" + first.text("/metadata/continue"));
        Reply third = api().get(secrets + "?limit=2&continue=" + second.text("/metadata/continue"));

        assertThat(names(first)).containsExactly("a", "b");
        assertThat(first.body().at("/metadata/remainingItemCount").asInt()).isEqualTo(3);
        assertThat(names(second)).containsExactly("c", "d");
        assertThat(second.text("/items/0/data/k")).isEqualTo("djE=");
        assertThat(second.body().at("/metadata/remainingItemCount").asInt()).isEqualTo(1);
        assertThat(second.version()).isEqualTo(first.version());
        assertThat(names(third)).containsExactly("e");
        assertThat(third.text("/metadata/continue")).isEmpty();
        assertThat(third.body().at("/metadata/remainingItemCount").isMissingNode())
                .isTrue();
        assertThat(names(api().get(secrets))).containsExactly("a", "b", "bb", "c", "e");
    }

    @Test
    void list_inPages_countsTheSelectedOnly() throws Exception {
        for (String name : List.of("a", "b", "c", "d")) {
            String label = name.equals("b") ? "no" : "yes";
            api().post(secrets, "{\"metadata\":{\"name\":\"" + name + "\",\"labels\":{\"wanted\":\"" + label + "\"}}}");
        }

        Reply first = api().get(secrets + "?limit=2&labelSelector=wanted%3Dyes");
        Reply second =
                api().get(secrets + "?limit=2&labelSelector=wanted%3Dyes&continue=" + first.text("/metadata/continue"));

        assertThat(names(first)).containsExactly("a", "c");
        assertThat(first.body().at("/metadata/remainingItemCount").isMissingNode())
                .isTrue();
        assertThat(names(second)).containsExactly("d");
        assertThat(second.text("/metadata/continue")).isEmpty();
    }

    @Test
    void list_inPages_refusesWhatContradicts() throws Exception {
        create("a", "djE=");
        create("b", "djE=");
        Reply first = api().get(secrets + "?limit=1");

        assertThat(api().get(secrets + "?limit=1&continue=nonsense").code()).isEqualTo(400);
        assertThat(api().get(secrets + "?limit=1&resourceVersion=1&continue=" + first.text("/metadata/continue"))
                        .code())
                .isEqualTo(400);
    }

    // Deletions of several objects

    @Test
    void deleteCollection_removesTheSelected_andAnswersWithThem() throws Exception {
        for (String name : List.of("a", "b", "c")) {
            String label = name.equals("b") ? "no" : "yes";
            api().post(secrets, "{\"metadata\":{\"name\":\"" + name + "\",\"labels\":{\"wanted\":\"" + label + "\"}}}");
        }

        Reply deleted = api().delete(secrets + "?labelSelector=wanted%3Dyes", "");

        assertThat(deleted.code()).isEqualTo(200);
        assertThat(deleted.text("/kind")).isEqualTo("SecretList");
        assertThat(names(deleted)).containsExactly("a", "c");
        assertThat(names(api().get(secrets))).containsExactly("b");
        assertThat(api().delete("/api/v1/secrets", "").code()).isEqualTo(405);
        assertThat(api().delete("/api/v1/namespaces", "").code()).isEqualTo(405);
    }

    // Helpers

    private ObjectNode website(String name) throws Exception {
        Reply reply = api().post(
                        websites,
                        "{\"apiVersion\":\"contract.example.dev/v1\",\"kind\":\"Website\",\"metadata\":{\"name\":\""
                                + name + "\"},\"spec\":{\"size\":1}}");
        assertThat(reply.code()).as(reply.text("/message")).isEqualTo(201);
        return lean(reply);
    }

    private static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(text -> texts.add(text.asText()));
        return texts;
    }

    private static List<String> names(JsonNode described) {
        List<String> names = new ArrayList<>();
        described.forEach(each -> names.add(each.path("name").asText()));
        return names;
    }

    private static List<String> names(Reply list) {
        List<String> names = new ArrayList<>();
        list.body()
                .path("items")
                .forEach(item -> names.add(item.at("/metadata/name").asText()));
        return names;
    }
}
