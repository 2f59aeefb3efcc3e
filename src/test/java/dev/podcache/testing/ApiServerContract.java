package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.testing.RawApi.Reply;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of an API server for reads and creations: the responses of a kube-apiserver of its {@link #version},
 * including the Status. A subclass provides the server. Each test uses its own namespace and its own nodes.
 */
@Timeout(180)
public abstract class ApiServerContract extends ApiServerFixture {

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

        assertThat(reply.code() + " " + reply.text("/message"))
                .startsWith(version().versionThatIsNoNumber(!object.isEmpty()) + "\"bad\": ");
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

    @ParameterizedTest
    @Needs(ServerFeature.VALIDATION)
    @CsvSource({"=false, true", "!=true, true", "=true, false", "!=false, false"})
    void list_nodes_areSchedulableUnlessTheySayOtherwise(String condition, boolean selected) throws Exception {
        createNode();

        Reply list = api().get("/api/v1/nodes?fieldSelector=metadata.name%3D" + node + ",spec.unschedulable"
                + condition.replace("=", "%3D"));

        assertThat(list.code()).as(list.text("/message")).isEqualTo(200);
        assertThat(list.body().path("items")).hasSize(selected ? 1 : 0);
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

    @ParameterizedTest
    @Needs({ServerFeature.VALIDATION, ServerFeature.SERVICES})
    @CsvSource({"namespaces, Namespace", "namespaces/%s/services, Service"})
    void create_nameThatOnlyOtherKindsMayHave_isRefused(String path, String kind) throws Exception {
        Reply reply = api().post(
                        "/api/v1/" + path.formatted(namespace),
                        "{\"metadata\":{\"name\":\"with.dots\"},\"spec\":{\"ports\":[{\"port\":80}]}}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("422 Invalid");
        assertThat(reply.text("/message"))
                .startsWith(kind + " \"with.dots\" is invalid: metadata.name: Invalid value: \"with.dots\": ");
    }

    @Test
    void create_longGenerateName_isCut() throws Exception {
        Reply reply = api().post(secrets, "{\"metadata\":{\"generateName\":\"" + "x".repeat(70) + "\"}}");

        assertThat(reply.code()).as(reply.text("/message")).isEqualTo(201);
        assertThat(reply.text("/metadata/name")).matches("x{58}[a-z0-9]{5}");
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
    void create_nullInAMap_isAnEmptyValue() throws Exception {
        Reply reply = api().post("/api/v1/namespaces/" + namespace + "/configmaps", """
                {"metadata":{"name":"nulls","labels":{"l":null},"annotations":null},"data":{"a":null,"b":"v"}}""");

        assertThat(reply.code()).as(reply.text("/message")).isEqualTo(201);
        assertThat(reply.body().path("data")).isEqualTo(json("{\"a\":\"\",\"b\":\"v\"}"));
        assertThat(reply.body().at("/metadata/labels")).isEqualTo(json("{\"l\":\"\"}"));
        assertThat(reply.body().at("/metadata/annotations").isMissingNode()).isTrue();
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
    @Needs(ServerFeature.VALIDATION)
    void create_secretBeyondAMebibyte_isRefused() throws Exception {
        String largest = Base64.getEncoder().encodeToString(new byte[1 << 20]);
        String tooLarge = Base64.getEncoder().encodeToString(new byte[(1 << 20) + 1]);

        assertThat(create("largest", largest).code()).isEqualTo(201);
        Reply refused = create("beyond", tooLarge);
        assertThat(refused.code() + " " + refused.text("/message"))
                .isEqualTo(
                        "422 Secret \"beyond\" is invalid: data: " + version().tooLong(1 << 20));
    }

    @ParameterizedTest
    @Needs(ServerFeature.VALIDATION)
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        secrets    | "data":{"conf/app.yml":"djE="}           | data[conf/app.yml]: Invalid value: "conf/app.yml": a valid config key must consist of
        secrets    | "stringData":{"a b":"v1"}                | data[a b]: Invalid value: "a b": a valid config key must consist of
        secrets    | "data":{"..a":"djE="}                    | data[..a]: Invalid value: "..a": must not start with '..'
        configmaps | "data":{"conf/app.yml":"v1"}             | data[conf/app.yml]: Invalid value: "conf/app.yml": a valid config key must consist of
        configmaps | "binaryData":{"..":"djE="}               | binaryData[..]: Invalid value: "..": must not be '..'
        configmaps | "data":{"k":"v"},"binaryData":{"k":"djE="} | data[k]: Invalid value: "k": duplicate of key present in binaryData
        secrets    | "type":"kubernetes.io/tls","data":{"tls.crt":"djE="} | data[tls.key]: Required value
        secrets    | "type":"kubernetes.io/tls","data":{"tls.key":"djE="} | data[tls.crt]: Required value
        secrets    | "type":"kubernetes.io/dockerconfigjson"  | data[.dockerconfigjson]: Required value
        secrets    | "type":"kubernetes.io/dockercfg","data":{".dockercfg":"djE="} | data[.dockercfg]: Invalid value: "<secret contents redacted>":
        secrets    | "type":"kubernetes.io/ssh-auth"          | data[%s][ssh-privatekey]: Required value
        secrets    | "type":"kubernetes.io/basic-auth"        | ``
        secrets    | "type":"kubernetes.io/service-account-token" | metadata.annotations[kubernetes.io/service-account.name]: Required value
        """)
    void create_invalidContent_isRefused(String plural, String content, String message) throws Exception {
        Reply reply = api().post(
                        "/api/v1/namespaces/" + namespace + "/" + plural,
                        "{\"metadata\":{\"name\":\"db\"}," + content + "}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("422 Invalid");
        assertThat(reply.text("/message"))
                .startsWith((plural.equals("secrets") ? "Secret" : "ConfigMap") + " \"db\" is invalid: " + message);
    }

    @ParameterizedTest
    @Needs(ServerFeature.VALIDATION)
    @ValueSource(
            strings = {
                "\"app\":\"two words\"",
                "\"app\":\"-x\"",
                "\"app\":\"1234567890123456789012345678901234567890123456789012345678901234\"",
                "\"two words\":\"x\"",
                "\"a/b/c\":\"x\"",
                "\"/app\":\"x\"",
                "\"EXAMPLE.dev/app\":\"x\"",
                "\"1234567890123456789012345678901234567890123456789012345678901234\":\"x\""
            })
    void create_invalidLabel_isRefused(String label) throws Exception {
        Reply reply = api().post(secrets, "{\"metadata\":{\"name\":\"db\",\"labels\":{" + label + "}}}");

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("422 Invalid");
        assertThat(reply.text("/message")).startsWith("Secret \"db\" is invalid: metadata.labels");
    }

    @ParameterizedTest
    @Needs(ServerFeature.VALIDATION)
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        'annotations':{'two words':'x'}          | annotations: Invalid value: 'two words'
        'annotations':{'/note':'x'}              | annotations: Invalid value: '/note'
        'annotations':{'example_dev/note':'x'}   | annotations: Invalid value: 'example_dev/note'
        'finalizers':['example.dev/two words']   | finalizers: Invalid value: 'example.dev/two words'
        'ownerReferences':[{'kind':'K','name':'n','uid':'u'}] | ownerReferences.apiVersion: Invalid value: '': version must not be empty
        'ownerReferences':[{'apiVersion':'a/','kind':'K','name':'n','uid':'u'}] | ownerReferences.apiVersion: Invalid value: 'a/': version must not be empty
        'ownerReferences':[{'apiVersion':'v1','name':'n','uid':'u'}] | ownerReferences.kind: Invalid value: ''
        'ownerReferences':[{'apiVersion':'v1','kind':'K','uid':'u'}] | ownerReferences.name: Invalid value: ''
        'ownerReferences':[{'apiVersion':'v1','kind':'K','name':'n'}] | ownerReferences.uid: Invalid value: ''
        'ownerReferences':[{'apiVersion':'v1','kind':'Event','name':'n','uid':'u'}] | ownerReferences: Invalid value
        'ownerReferences':[{'apiVersion':'v1','kind':'K','name':'n','uid':'u','controller':true},{'apiVersion':'v1','kind':'K','name':'m','uid':'w','controller':true}] | ownerReferences: Invalid value
        """)
    void create_invalidMetadata_isRefused(String part, String message) throws Exception {
        Reply reply = api().post(secrets, ("{'metadata':{'name':'db'," + part + "}}").replace('\'', '"'));

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("422 Invalid");
        assertThat(reply.text("/message"))
                .startsWith("Secret \"db\" is invalid: metadata." + message.replace('\'', '"'));
    }

    @Test
    @Needs(ServerFeature.VALIDATION)
    void create_metadataThatIsJustValid_isStored() throws Exception {
        String annotated = """
                {"metadata":{"name":"%s","annotations":{"EXAMPLE.dev/Note":"","a":"%s"}}}""";
        int most = (1 << 18) - "EXAMPLE.dev/Notea".length();
        String owned = """
                {"metadata":{"name":"owned","ownerReferences":[
                 {"apiVersion":"v1","kind":"Pod","name":"p","uid":"1","controller":true},
                 {"apiVersion":"a/v1","kind":"K","name":"k","uid":"2","controller":false}]}}""";

        Reply largest = api().post(secrets, annotated.formatted("largest", "x".repeat(most)));
        Reply beyond = api().post(secrets, annotated.formatted("beyond", "x".repeat(most + 1)));

        assertThat(largest.code()).as(largest.text("/message")).isEqualTo(201);
        assertThat(beyond.code() + " " + beyond.text("/message"))
                .isEqualTo("422 Secret \"beyond\" is invalid: metadata.annotations: "
                        + version().tooLong(1 << 18));
        assertThat(api().post(secrets, owned).code()).isEqualTo(201);
    }

    @Test
    @Needs(ServerFeature.VALIDATION)
    void create_contentThatIsJustValid_isStored() throws Exception {
        String longest = "a".repeat(63);
        String basic = "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"type\":\"%s\",\"data\":{%s}}";
        String tls = "\"tls.crt\":\"djE=\",\"tls.key\":\"\"";

        for (String body : new String[] {
            basic.formatted("a", "\"" + longest + "\":\"" + longest + "\"", "", "\".a..\":\"djE=\""),
            basic.formatted("b", "\"example.dev/A_b.c\":\"\"", "kubernetes.io/tls", tls),
            basic.formatted("c", "", "example.dev/mine", "\"" + "k".repeat(253) + "\":\"\""),
            basic.formatted("d", "", "kubernetes.io/basic-auth", "\"password\":\"\""),
            basic.formatted("e", "", "kubernetes.io/dockerconfigjson", "\".dockerconfigjson\":\"e30=\"")
        }) {
            Reply reply = api().post(secrets, body);
            assertThat(reply.code()).as(reply.text("/message")).isEqualTo(201);
        }
    }

    @Test
    @Needs(ServerFeature.VALIDATION)
    void create_configMapBeyondAMebibyte_isRefused() throws Exception {
        String configMaps = "/api/v1/namespaces/" + namespace + "/configmaps";
        String half = "a".repeat(1 << 19);
        String otherHalf = Base64.getEncoder().encodeToString(new byte[1 << 19]);
        ObjectNode body = json(named("large"));
        body.putObject("data").put("k", half);
        body.putObject("binaryData").put("b", otherHalf);

        assertThat(api().post(configMaps, body.toString()).code()).isEqualTo(201);
        body.withObject("/metadata").put("name", "beyond");
        body.withObject("/data").put("k", half + "a");
        Reply refused = api().post(configMaps, body.toString());

        assertThat(refused.code() + " " + refused.text("/message"))
                .isEqualTo(
                        "422 ConfigMap \"beyond\" is invalid: []: " + version().tooLong(1 << 20));
    }

    @Test
    void create_bodyBeyondThreeMebibytes_isRefused() throws Exception {
        Reply reply = create("big", "A".repeat(3 << 20));

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("413 RequestEntityTooLarge");
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
}
