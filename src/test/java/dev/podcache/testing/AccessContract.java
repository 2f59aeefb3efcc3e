package dev.podcache.testing;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.testing.RawApi.Events;
import dev.podcache.testing.RawApi.Reply;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The contract of an API server for access: what Roles and bindings allow, who may write them, and what reviews answer, in
 * the words of a kube-apiserver 1.20. A subclass provides the server. Each test uses its own namespace and its own users.
 */
@Timeout(180)
public abstract class AccessContract extends ApiServerFixture {

    private static final String RBAC = "/apis/rbac.authorization.k8s.io/v1";
    private static final String REVIEWS = "/apis/authorization.k8s.io/v1/";
    private static final String TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";

    final String user = "user-of-" + namespace;
    private final String here = RBAC + "/namespaces/" + namespace;
    private final String roles = here + "/roles";
    private final String bindings = here + "/rolebindings";
    private RawApi asUser;

    /** Returns the server as a user sees it who has proved to be that user. */
    protected abstract RawApi apiAs(String name, String... groups);

    @BeforeEach
    void beUser() {
        asUser = apiAs(user);
    }

    // Decisions

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                // verbs, groups, resources, names | the request | is it allowed
                "get / '' / secrets / - | GET secrets/db | yes",
                "get / '' / secrets / - | GET secrets | no",
                "get / '' / secrets / - | GET secrets/db?watch=0 | yes",
                "get / '' / configmaps / - | GET secrets/db | no",
                "get / apps / secrets / - | GET secrets/db | no",
                "get / * / secrets / - | GET secrets/db | yes",
                "get / '' / * / - | GET secrets/db | yes",
                "* / '' / secrets / - | GET secrets/db | yes",
                "* / '' / secrets / - | POST secrets | yes",
                "list / '' / secrets / - | GET secrets | yes",
                "list / '' / secrets / - | GET secrets?watch=1&timeoutSeconds=1 | no",
                "watch / '' / secrets / - | GET secrets?watch=true&timeoutSeconds=1 | yes",
                "get / '' / secrets / db,cert | GET secrets/cert | yes",
                "get / '' / secrets / db,cert | GET secrets/other | no",
                "list / '' / secrets / db | GET secrets | no",
                "list / '' / secrets / db | GET secrets?fieldSelector=metadata.name%3Ddb | yes",
                "list / '' / secrets / db | GET secrets?fieldSelector=metadata.name%3D%3Ddb | yes",
                "list / '' / secrets / db | GET secrets?fieldSelector=type%3DOpaque,metadata.name%3Ddb | yes",
                "list / '' / secrets / db | GET secrets?fieldSelector=metadata.name%3Dother | no",
                "list / '' / secrets / db | GET secrets?fieldSelector=metadata.name!%3Dother | no",
                "list / '' / secrets / db | GET secrets?fieldSelector=type%3DOpaque | no",
                "list / '' / secrets / db | GET secrets?labelSelector=name%3Ddb | no",
                "list / '' / secrets / db | GET secrets?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Ddb | no",
                "watch / '' / secrets / db | GET secrets?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Ddb | yes",
                "watch / '' / secrets / db | GET secrets?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dno | no",
                "watch / '' / secrets / db | GET secrets?watch=1&timeoutSeconds=1 | no",
                "create / '' / secrets / - | POST secrets | yes",
                "create / '' / secrets / db | POST secrets | no",
                "update / '' / secrets / db | PUT secrets/db | yes",
                "update / '' / secrets / db | PATCH secrets/db | no",
                "patch / '' / secrets / db | PATCH secrets/db | yes",
                "patch / '' / secrets / db | PATCH secrets/other | no",
                "delete / '' / secrets / db | DELETE secrets/db | yes",
                "delete / '' / secrets / - | DELETE secrets | no",
                "deletecollection / '' / secrets / - | DELETE secrets | yes",
                "deletecollection / '' / secrets / db | DELETE secrets | no",
                "deletecollection / '' / secrets / db | DELETE secrets?fieldSelector=metadata.name%3Ddb | no",
                "get / '' / pods / - | GET pods/web/status | no",
                "get / '' / pods/status / - | GET pods/web/status | yes",
                "get / '' / pods/status / - | GET pods/web | no",
                "get / '' / pods/status / web | GET pods/web/status | yes",
                "get / '' / pods/status / web | GET pods/other/status | no",
                "get / '' / */status / - | GET pods/web/status | yes",
                "get / '' / */status / - | GET pods/web | no",
                "get / '' / pods/* / - | GET pods/web/status | no",
                "get / '' / * / - | GET pods/web/status | yes",
                "get / '' / namespaces / - | GET ../{namespace} | yes",
                "get / '' / namespaces / - | GET ../default | no",
                "list / '' / secrets / - | GET /api/v1/secrets | no",
                "get / '' / nothing / - | GET nothing/at-all | yes",
                "get / '' / secrets / - | GET nothing/at-all | no",
                "get / '' / secrets / - | POST secrets/db | no",
                "get / '' / secrets / - | GET /apis/example.dev/v9/unknown | no",
            })
    void request_ofAUserWithOneRule_isDecidedByVerbResourceAndName(String rule, String request, String allowed)
            throws Exception {
        grant("it", user, rule);

        assertThat(statusOf(request) == 403 ? "no" : "yes").isEqualTo(allowed);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'kind':'User','name':'{user}'} | yes",
                "{'kind':'User','name':'somebody-else'} | no",
                "{'kind':'Group','name':'{user}'} | no",
                "{'kind':'Group','name':'group-of-{namespace}'} | yes",
                "{'kind':'Group','name':'system:authenticated'} | yes",
                "{'kind':'Group','name':'system:unauthenticated'} | no",
                "{'kind':'ServiceAccount','name':'{user}','namespace':'{namespace}'} | no",
            })
    void binding_ofASubject_appliesToTheUsersThatItNames(String subject, String applies) throws Exception {
        asUser = apiAs(user, "group-of-" + namespace);
        created(roles, role("reader", rule("get / '' / secrets / -")));
        created(bindings, binding("reader", "Role", "reader", filled(subject)));
        grant("sentinel", user, "get / '' / configmaps / sentinel");

        assertThat(statusOf("GET secrets/db") == 403 ? "no" : "yes").isEqualTo(applies);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'kind':'ServiceAccount','name':'web'} | yes",
                "{'kind':'ServiceAccount','name':'web','namespace':'{namespace}'} | yes",
                "{'kind':'ServiceAccount','name':'web','namespace':'other'} | no",
                "{'kind':'ServiceAccount','name':'other'} | no",
                "{'kind':'User','name':'system:serviceaccount:{namespace}:web'} | yes",
                "{'kind':'Group','name':'system:serviceaccounts:{namespace}'} | yes",
                "{'kind':'Group','name':'system:serviceaccounts'} | yes",
                "{'kind':'Group','name':'system:serviceaccounts:other'} | no",
                "{'kind':'Group','name':'system:authenticated'} | yes",
            })
    void binding_ofASubject_appliesToTheServiceAccountThatItNames(String subject, String applies) throws Exception {
        String account = "system:serviceaccount:" + namespace + ":web";
        created(roles, role("reader", rule("get / '' / secrets / -")));
        created(bindings, binding("reader", "Role", "reader", filled(subject)));
        asUser = api().with("Impersonate-User", account);
        grant("sentinel", account, "get / '' / configmaps / sentinel");

        assertThat(statusOf("GET secrets/db") == 403 ? "no" : "yes").isEqualTo(applies);
    }

    @Test
    void clusterRole_boundInANamespace_countsThereOnly() throws Exception {
        created(RBAC + "/clusterroles", role("reader-" + namespace, rule("get,list / '' / secrets / -")));
        created(bindings, binding("reader", "ClusterRole", "reader-" + namespace, userSubject(user)));

        untilAllowed("GET secrets/db");
        assertThat(statusOf("GET /api/v1/namespaces/default/secrets/db")).isEqualTo(403);
        assertThat(statusOf("GET /api/v1/secrets")).isEqualTo(403);
    }

    @Test
    void clusterRole_boundInTheCluster_countsEverywhere() throws Exception {
        created(RBAC + "/clusterroles", role("reader-" + namespace, rule("get,list / '' / secrets / -")));
        created(
                RBAC + "/clusterrolebindings",
                binding("reader-" + namespace, "ClusterRole", "reader-" + namespace, userSubject(user)));

        untilAllowed("GET secrets/db");
        assertThat(statusOf("GET /api/v1/namespaces/default/secrets/db")).isEqualTo(404);
        assertThat(statusOf("GET /api/v1/secrets")).isEqualTo(200);
    }

    @Test
    void clusterRole_withPaths_allowsThem() throws Exception {
        String name = "paths-" + namespace;
        created(
                RBAC + "/clusterroles",
                role(name, "{\"nonResourceURLs\":[\"/some-path\",\"/other/*\"],\"verbs\":[\"get\"]}"));
        created(RBAC + "/clusterrolebindings", binding(name, "ClusterRole", name, userSubject(user)));

        untilAllowed("GET /some-path");
        assertThat(statusOf("GET /other/deep/path")).isEqualTo(404);
        assertThat(statusOf("GET /some-path-more")).isEqualTo(403);
        assertThat(statusOf("POST /some-path")).isEqualTo(403);
    }

    @Test
    void discovery_ofAnyUser_isAllowed_butNotToTheAnonymous() throws Exception {
        for (String path : List.of("/api", "/api/v1", "/apis", "/version", "/healthz")) {
            assertThat(asUser.get(path).code()).as(path).isEqualTo(200);
        }
        assertThat(api().with("Impersonate-User", "system:anonymous")
                        .get("/api")
                        .code())
                .isEqualTo(403);
        assertThat(api().with("Impersonate-User", "system:anonymous")
                        .get("/version")
                        .code())
                .isEqualTo(200);
    }

    @Test
    void revoked_request_isRefusedAgain_andAnOpenWatchGoesOn() throws Exception {
        grant("it", user, "get,watch / '' / secrets / -");
        try (Events events = asUser.watch(
                secrets + "?watch=1&resourceVersion=" + api().get(secrets).version())) {
            api().delete(bindings + "/it", "");
            await().until(() -> statusOf("GET secrets/db") == 403);

            create("db", "djE=");

            assertThat(events.next().path("type").asText()).isEqualTo("ADDED");
        }
    }

    // Refusals in the API's own words

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET secrets/db | secrets \"db\" is forbidden: User \"{user}\" cannot get resource \"secrets\" in API group \"\" in the namespace \"{namespace}\"",
                "GET secrets | secrets is forbidden: User \"{user}\" cannot list resource \"secrets\" in API group \"\" in the namespace \"{namespace}\"",
                "GET secrets?fieldSelector=metadata.name%3Ddb | secrets \"db\" is forbidden: User \"{user}\" cannot list resource \"secrets\" in API group \"\" in the namespace \"{namespace}\"",
                "GET secrets?watch=1 | secrets is forbidden: User \"{user}\" cannot watch resource \"secrets\" in API group \"\" in the namespace \"{namespace}\"",
                "POST secrets | secrets is forbidden: User \"{user}\" cannot create resource \"secrets\" in API group \"\" in the namespace \"{namespace}\"",
                "PUT secrets/db | secrets \"db\" is forbidden: User \"{user}\" cannot update resource \"secrets\" in API group \"\" in the namespace \"{namespace}\"",
                "PATCH secrets/db | secrets \"db\" is forbidden: User \"{user}\" cannot patch resource \"secrets\" in API group \"\" in the namespace \"{namespace}\"",
                "DELETE secrets | secrets is forbidden: User \"{user}\" cannot deletecollection resource \"secrets\" in API group \"\" in the namespace \"{namespace}\"",
                "GET pods/web/status | pods \"web\" is forbidden: User \"{user}\" cannot get resource \"pods/status\" in API group \"\" in the namespace \"{namespace}\"",
                "GET /api/v1/nodes/n1 | nodes \"n1\" is forbidden: User \"{user}\" cannot get resource \"nodes\" in API group \"\" at the cluster scope",
                "GET /api/v1/secrets | secrets is forbidden: User \"{user}\" cannot list resource \"secrets\" in API group \"\" at the cluster scope",
                "GET ../{namespace} | namespaces \"{namespace}\" is forbidden: User \"{user}\" cannot get resource \"namespaces\" in API group \"\" in the namespace \"{namespace}\"",
                "GET /apis/coordination.k8s.io/v1/namespaces/default/leases/l | leases.coordination.k8s.io \"l\" is forbidden: User \"{user}\" cannot get resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"default\"",
                "GET /some-path | forbidden: User \"{user}\" cannot get path \"/some-path\"",
            })
    void refusal_ofARequest_saysWhoMayNotDoWhat(String request, String message) throws Exception {
        Reply reply = send(request);

        assertThat(reply.code()).isEqualTo(403);
        assertThat(reply.text("/reason")).isEqualTo("Forbidden");
        assertThat(reply.text("/message")).isEqualTo(filled(message));
    }

    @Test
    void refusal_ofANamedRequest_hasDetails() throws Exception {
        assertRefused(asUser.get(secrets + "/db"), filled("""
                {'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure',
                 'message':'secrets \\"db\\" is forbidden: User \\"{user}\\" cannot get resource \\"secrets\\" in API group \\"\\" in the namespace \\"{namespace}\\"',
                 'reason':'Forbidden','details':{'name':'db','kind':'secrets'},'code':403}"""));
    }

    @Test
    void refusal_whereARoleIsMissing_saysThat() throws Exception {
        created(bindings, binding("broken", "Role", "not-there", userSubject(user)));

        await().until(() -> send("GET secrets/db").text("/message").contains("not found"));
        assertThat(send("GET secrets/db").text("/message"))
                .endsWith("in the namespace \"" + namespace
                        + "\": RBAC: role.rbac.authorization.k8s.io \"not-there\" not found");
        assertThat(asUser.post(REVIEWS + "selfsubjectaccessreviews", review("", "get", "secrets", "db"))
                        .body()
                        .path("status"))
                .isEqualTo(json("{\"allowed\":false,\"reason\":"
                        + "\"RBAC: role.rbac.authorization.k8s.io \\\"not-there\\\" not found\"}"));
    }

    // Nobody grants more than he has

    @Test
    void createRole_withMoreThanTheWriterHas_isRefused() throws Exception {
        grant("it", user, "create,update,patch / rbac.authorization.k8s.io / roles / -");

        Reply reply = asUser.post(roles, role("more", rule("get,list / '' / secrets / db,cert")));

        assertThat(reply.code()).isEqualTo(403);
        assertThat(reply.text("/message"))
                .isEqualTo(
                        filled(
                                "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"{user}\""
                                        + " (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently"
                                        + " held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"cert\"], Verbs:[\"get\" \"list\"]}"
                                        + "\n{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"db\"], Verbs:[\"get\" \"list\"]}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // what the writer has | what the new Role gives | may he write it
                "get,list / '' / secrets / - | get / '' / secrets / - | yes",
                "get,list / '' / secrets / - | get / '' / secrets / db | yes",
                "get / '' / secrets / - | get,list / '' / secrets / - | no",
                "get / '' / secrets / db | get / '' / secrets / - | no",
                "get / '' / secrets / db,cert | get / '' / secrets / db | yes",
                "get / '' / secrets / db | get / '' / secrets / db,cert | no",
                "get / '' / * / - | get / '' / secrets,configmaps / - | yes",
                "get / '' / * / - | get / '' / pods/status / - | yes",
                "get / '' / */status / - | get / '' / pods/status / - | yes",
                "get / '' / */status / - | get / '' / pods / - | no",
                "get / '' / pods / - | get / '' / pods/status / - | no",
                "* / '' / secrets / - | get,frobnicate / '' / secrets / - | yes",
                "get / * / secrets / - | get / apps / secrets / - | yes",
                "get / '' / secrets / - | get / apps / secrets / - | no",
                "get / '' / secrets / - | get / * / secrets / - | no",
                "get / '' / secrets / - | * / '' / secrets / - | no",
                "get / '' / secrets / - | get / '' / * / - | no",
            })
    void createRole_isAllowedIfTheWriterHasItsRights(String has, String gives, String allowed) throws Exception {
        grant("own", user, has);
        grant("it", user, "create / rbac.authorization.k8s.io / roles / -");

        assertThat(asUser.post(roles, role("new", rule(gives))).code()).isEqualTo(allowed.equals("yes") ? 201 : 403);
    }

    @Test
    void createRole_withoutRules_isAllowed() throws Exception {
        grant("it", user, "create / rbac.authorization.k8s.io / roles / -");

        assertThat(asUser.post(roles, named("empty")).code()).isEqualTo(201);
    }

    @Test
    void patchRole_ofAnEscalator_isAllowedForTheNamedRoleOnly() throws Exception {
        created(roles, named("mine"));
        created(roles, named("others"));
        grant("it", user, "get,patch,update,escalate / rbac.authorization.k8s.io / roles / mine");
        grant("creator", user, "create / rbac.authorization.k8s.io / roles / -");
        String rules = "{\"rules\":[" + rule("get / '' / secrets / db") + "]}";

        Reply mine = asUser.patch(roles + "/mine", MERGE, rules);
        ObjectNode more = lean(mine);
        ((ArrayNode) more.path("rules")).add(json(rule("get / '' / secrets / cert")));

        assertThat(mine.code()).isEqualTo(200);
        assertThat(asUser.put(roles + "/mine", more.toString()).code()).isEqualTo(200);
        assertThat(asUser.patch(roles + "/others", MERGE, rules).code()).isEqualTo(403);
        // a POST names no object in its URL, so that the named right does not count
        api().delete(roles + "/mine", "");
        assertThat(asUser.post(roles, role("mine", rule("get / '' / secrets / db")))
                        .code())
                .isEqualTo(403);
        assertThat(asUser.post(roles, named("mine")).code()).isEqualTo(201);
    }

    @Test
    void patchRole_withMoreThanTheWriterHas_isRefusedInTheSameWords() throws Exception {
        created(roles, role("old", rule("list / '' / secrets / -")));
        grant("it", user, "patch / rbac.authorization.k8s.io / roles / -");

        Reply labelled = asUser.patch(roles + "/old", MERGE, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        Reply released = asUser.patch(roles + "/old", MERGE, "{\"metadata\":{\"finalizers\":[\"example.dev/x\"]}}");
        Reply emptied = asUser.patch(roles + "/old", MERGE, "{\"rules\":[]}");

        assertThat(labelled.text("/message"))
                .isEqualTo(filled("roles.rbac.authorization.k8s.io \"old\" is forbidden: user \"{user}\""
                        + " (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently"
                        + " held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"list\"]}"));
        assertThat(released.code()).isEqualTo(200);
        assertThat(emptied.code()).isEqualTo(200);
    }

    @Test
    void putRole_thatDoesNotExist_createsIt_ifThatIsAllowedToo() throws Exception {
        grant("it", user, "update / rbac.authorization.k8s.io / roles / -");
        assertThat(asUser.put(roles + "/new", named("new")).code()).isEqualTo(403);

        grant("creator", user, "create / rbac.authorization.k8s.io / roles / new");
        assertThat(asUser.put(roles + "/new", named("new")).code()).isEqualTo(201);
        assertThat(asUser.put(roles + "/new", named("new")).code()).isEqualTo(200);
    }

    @Test
    void createBinding_needsTheRightsOfItsRole_orTheRightToBindIt() throws Exception {
        created(roles, role("target", rule("get / '' / secrets / -")));
        created(roles, role("second", rule("get / '' / secrets / -")));
        created(roles, role("held", rule("create / rbac.authorization.k8s.io / rolebindings / -")));
        grant("it", user, "create / rbac.authorization.k8s.io / rolebindings / -");

        Reply more = asUser.post(bindings, binding("more", "Role", "target", userSubject("x")));
        Reply missing = asUser.post(bindings, binding("missing", "Role", "not-there", userSubject("x")));

        assertThat(more.code() + " " + more.text("/message"))
                .isEqualTo(filled("403 rolebindings.rbac.authorization.k8s.io \"more\" is forbidden: user \"{user}\""
                        + " (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently"
                        + " held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}"));
        assertThat(missing.code() + " " + missing.text("/message"))
                .isEqualTo("404 roles.rbac.authorization.k8s.io \"not-there\" not found");
        assertThat(asUser.post(bindings, binding("held", "Role", "held", userSubject("x")))
                        .code())
                .isEqualTo(201);

        grant("binder", user, "bind / rbac.authorization.k8s.io / roles / target");
        assertThat(asUser.post(bindings, binding("more", "Role", "target", userSubject("x")))
                        .code())
                .isEqualTo(201);
        assertThat(asUser.post(bindings, binding("second", "Role", "second", userSubject("x")))
                        .code())
                .isEqualTo(403);
    }

    @Test
    @Needs(ServerFeature.VALIDATION)
    void binding_otherRole_isRefused() throws Exception {
        created(bindings, binding("b", "Role", "one", userSubject("x")));
        Reply reply = api().patch(bindings + "/b", MERGE, "{\"roleRef\":{\"name\":\"two\"}}");

        assertThat(reply.code() + " " + reply.text("/message"))
                .isEqualTo("422 RoleBinding.rbac.authorization.k8s.io \"b\" is invalid: roleRef: Invalid value:"
                        + " rbac.RoleRef{APIGroup:\"rbac.authorization.k8s.io\", Kind:\"Role\", Name:\"two\"}:"
                        + " cannot change roleRef");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "roles | {'rules':[{'apiGroups':[''],'resources':['secrets']}]} | rules[0].verbs: Required value: verbs must contain at least one value",
                "roles | {'rules':[{'verbs':['get'],'resources':['secrets']}]} | rules[0].apiGroups: Required value: resource rules must supply at least one api group",
                "roles | {'rules':[{'verbs':['get'],'apiGroups':['']}]} | rules[0].resources: Required value: resource rules must supply at least one resource",
                "roles | {'rules':[{'verbs':['get'],'nonResourceURLs':['/x']}]} | rules[0].nonResourceURLs: Invalid value: []string{\"/x\"}: namespaced rules cannot apply to non-resource URLs",
                "rolebindings | {'roleRef':{'kind':'Role'}} | roleRef.name: Required value",
                "rolebindings | {'roleRef':{'kind':'Thing','name':'r'}} | roleRef.kind: Unsupported value: \"Thing\": supported values: \"Role\", \"ClusterRole\"",
                "rolebindings | {'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User'}]} | subjects[0].name: Required value",
                "rolebindings | {'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'Thing','name':'x'}]} | subjects[0].kind: Unsupported value: \"Thing\": supported values: \"ServiceAccount\", \"User\", \"Group\"",
            })
    @Needs(ServerFeature.VALIDATION)
    void create_invalidObject_namesTheField(String plural, String fields, String message) throws Exception {
        ObjectNode object = json(filled(fields));
        object.putObject("metadata").put("name", "bad");

        Reply reply = api().post(here + "/" + plural, object.toString());

        assertThat(reply.code()).isEqualTo(422);
        assertThat(reply.text("/message")).endsWith(".rbac.authorization.k8s.io \"bad\" is invalid: " + message);
    }

    @Test
    void binding_withoutGroups_isCompleted() throws Exception {
        JsonNode binding = created(bindings, """
                        {"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"},
                         "subjects":[{"kind":"User","name":"u"},{"kind":"Group","name":"g"},
                                     {"kind":"ServiceAccount","name":"a","namespace":"n"}]}""").body();

        assertThat(binding.path("roleRef")).isEqualTo(json("""
                {"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}"""));
        assertThat(binding.path("subjects").get(0)).isEqualTo(json("""
                {"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"u"}"""));
        assertThat(binding.path("subjects").get(1)).isEqualTo(json("""
                {"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"g"}"""));
        assertThat(binding.path("subjects").get(2)).isEqualTo(json("""
                {"kind":"ServiceAccount","name":"a","namespace":"n"}"""));
    }

    // Reviews

    @Test
    void selfReview_ofAnyUser_saysWhatHeMayDo() throws Exception {
        grant("it", user, "get / '' / secrets / db");

        Reply allowed = asUser.post(REVIEWS + "selfsubjectaccessreviews", review("", "get", "secrets", "db"));
        Reply denied = asUser.post(REVIEWS + "selfsubjectaccessreviews", review("", "get", "secrets", "other"));

        assertThat(allowed.code()).isEqualTo(201);
        assertThat(allowed.text("/kind")).isEqualTo("SelfSubjectAccessReview");
        assertThat(allowed.body().path("status")).isEqualTo(json(filled("""
                {'allowed':true,'reason':'RBAC: allowed by RoleBinding \\"it/{namespace}\\" of Role \\"it\\" to User \\"{user}\\"'}""")));
        assertThat(denied.body().path("status")).isEqualTo(json("{\"allowed\":false}"));
        assertThat(allowed.body().path("spec"))
                .isEqualTo(json(review("", "get", "secrets", "db")).path("spec"));
    }

    @Test
    void review_ofAnotherUser_needsTheRight() throws Exception {
        grant("it", "reviewed-" + namespace, "get / '' / secrets / db", asReviewed());
        String review = review("\"user\":\"reviewed-" + namespace + "\",", "get", "secrets", "db");

        Reply refused = asUser.post(REVIEWS + "subjectaccessreviews", review);
        Reply answered = api().post(REVIEWS + "subjectaccessreviews", review);

        assertThat(refused.code() + " " + refused.text("/message"))
                .isEqualTo(filled("403 subjectaccessreviews.authorization.k8s.io is forbidden: User \"{user}\" cannot"
                        + " create resource \"subjectaccessreviews\" in API group \"authorization.k8s.io\" at the"
                        + " cluster scope"));
        assertThat(answered.body().at("/status/allowed").asBoolean()).isTrue();
        assertThat(answered.text("/status/reason"))
                .isEqualTo(
                        filled(
                                "RBAC: allowed by RoleBinding \"it/{namespace}\" of Role \"it\" to User \"reviewed-{namespace}\""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'groups':['group-of-{namespace}'] | true",
                "'user':'x','groups':['group-of-{namespace}'] | true",
                "'user':'x' | false",
                "'user':'group-of-{namespace}' | false",
            })
    void review_withoutGroups_countsNoGroupBinding(String subject, String allowed) throws Exception {
        created(roles, role("reader", rule("get / '' / secrets / db")));
        created(
                bindings,
                binding("reader", "Role", "reader", filled("{'kind':'Group','name':'group-of-{namespace}'}")));
        asUser = apiAs(user, "group-of-" + namespace);
        untilAllowed("GET secrets/db");

        Reply reply =
                api().post(REVIEWS + "subjectaccessreviews", review(filled(subject) + ",", "get", "secrets", "db"));

        assertThat(reply.text("/status/allowed")).isEqualTo(allowed);
    }

    @Test
    void review_ofAServiceAccount_namesItInTheReason() throws Exception {
        String account = "system:serviceaccount:" + namespace + ":web";
        created(roles, role("reader", rule("get / '' / secrets / db")));
        created(bindings, binding("reader", "Role", "reader", "{\"kind\":\"ServiceAccount\",\"name\":\"web\"}"));
        asUser = api().with("Impersonate-User", account);
        untilAllowed("GET secrets/db");

        Reply reply = api().post(
                        REVIEWS + "subjectaccessreviews",
                        review("\"user\":\"" + account + "\",", "get", "secrets", "db"));

        assertThat(reply.text("/status/reason"))
                .isEqualTo(filled(
                        "RBAC: allowed by RoleBinding \"reader/{namespace}\" of Role \"reader\" to ServiceAccount"
                                + " \"web/{namespace}\""));
    }

    @Test
    void review_ofAMaster_isAllowed() throws Exception {
        Reply reply = api().post(
                        REVIEWS + "subjectaccessreviews",
                        review("\"user\":\"x\",\"groups\":[\"system:masters\"],", "frobnicate", "nothing", ""));

        assertThat(reply.body().at("/status/allowed").asBoolean()).isTrue();
    }

    @Test
    void review_ofAPath_isAnswered() throws Exception {
        Reply reply = asUser.post(REVIEWS + "selfsubjectaccessreviews", """
                {"spec":{"nonResourceAttributes":{"path":"/version","verb":"get"}}}""");

        assertThat(reply.body().at("/status/allowed").asBoolean()).isTrue();
    }

    @Test
    void review_ofNothing_isInvalid() throws Exception {
        Reply both = api().post(
                        REVIEWS + "selfsubjectaccessreviews",
                        "{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\",\"spec\":{}}");
        Reply nobody = api().post(REVIEWS + "subjectaccessreviews", review("", "get", "secrets", "db"));

        assertThat(both.code() + " " + both.text("/message"))
                .isEqualTo("422 .authorization.k8s.io \"\" is invalid:"
                        + " spec.resourceAttributes: Invalid value: \"null\": exactly one of nonResourceAttributes or"
                        + " resourceAttributes must be specified");
        assertThat(nobody.code()).isEqualTo(422);
        assertThat(nobody.text("/message")).contains("at least one of user or group must be specified");
    }

    @Test
    void tokenReview_saysWhoseATokenIs() throws Exception {
        String accounts = "/api/v1/namespaces/" + namespace + "/serviceaccounts";
        created(accounts, "{\"metadata\":{\"name\":\"web\"}}");
        String token = created(accounts + "/web/token", "{\"spec\":{\"audiences\":[\"shop\"]}}")
                .text("/status/token");

        JsonNode owner = tokenReview(token, "shop");
        JsonNode ofAnother = tokenReview(token, "other");
        JsonNode ofNobody = tokenReview("x", "shop");
        Reply nothing = api().post(TOKEN_REVIEWS, "{\"spec\":{}}");
        Reply refused = asUser.post(TOKEN_REVIEWS, "{\"spec\":{\"token\":\"x\"}}");

        assertThat(owner.path("authenticated").asBoolean()).isTrue();
        assertThat(owner.at("/user/username").asText()).isEqualTo("system:serviceaccount:" + namespace + ":web");
        assertThat(owner.at("/user/groups").valueStream().map(JsonNode::asText))
                .containsExactly(
                        "system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated");
        assertThat(owner.path("audiences").toString()).isEqualTo("[\"shop\"]");
        assertThat(List.of(ofAnother, ofNobody)).allSatisfy(status -> {
            assertThat(status.path("authenticated").asBoolean()).isFalse();
            assertThat(status.path("user")).isEqualTo(json("{}"));
            assertThat(status.path("error").asText()).contains("invalid");
        });
        assertThat(nothing.code()).isEqualTo(400);
        assertThat(nothing.text("/message")).isEqualTo("token is required for TokenReview in authentication");
        assertThat(refused.code()).isEqualTo(403);
    }

    private JsonNode tokenReview(String token, String audience) throws IOException, InterruptedException {
        Reply reply = api().post(
                        TOKEN_REVIEWS, "{\"spec\":{\"token\":\"" + token + "\",\"audiences\":[\"" + audience + "\"]}}");
        assertThat(reply.code()).isEqualTo(201);
        assertThat(reply.text("/kind")).isEqualTo("TokenReview");
        return reply.body().path("status");
    }

    @Test
    void localReview_ofTheNamespace_needsARightThereOnly() throws Exception {
        grant("it", user, "create / authorization.k8s.io / localsubjectaccessreviews / -");
        String path = REVIEWS + "namespaces/" + namespace + "/localsubjectaccessreviews";

        ObjectNode review = json(review("\"user\":\"" + user + "\",", "get", "secrets", "db"));
        assertThat(asUser.post(path, review.toString()).text("/message"))
                .contains("spec.resourceAttributes.namespace: Invalid value: \"" + namespace
                        + "\": must match metadata.namespace");
        review.putObject("metadata").put("namespace", namespace);

        Reply reply = asUser.post(path, review.toString());

        assertThat(reply.code()).isEqualTo(201);
        assertThat(reply.text("/status/allowed")).isEqualTo("false");
        assertThat(asUser.post(REVIEWS + "namespaces/default/localsubjectaccessreviews", review("", "get", "x", "y"))
                        .code())
                .isEqualTo(403);
    }

    @Test
    void rulesReview_listsTheRulesOfTheUser() throws Exception {
        grant("it", user, "get / '' / secrets / db");

        Reply reply =
                asUser.post(REVIEWS + "selfsubjectrulesreviews", "{\"spec\":{\"namespace\":\"" + namespace + "\"}}");

        assertThat(reply.code()).isEqualTo(201);
        assertThat(reply.body().at("/status/resourceRules"))
                .contains(
                        json(
                                "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"resourceNames\":[\"db\"]}"));
        assertThat(reply.body().at("/status/incomplete").asBoolean()).isFalse();
    }

    // Impersonation

    @Test
    void impersonation_withoutTheRight_isRefused() throws Exception {
        Reply asX = asUser.with("Impersonate-User", "x").get(secrets);
        Reply asAccount = asUser.with("Impersonate-User", "system:serviceaccount:" + namespace + ":web")
                .get(secrets);

        assertThat(asX.code() + " " + asX.text("/message"))
                .isEqualTo(
                        filled("403 users \"x\" is forbidden: User \"{user}\" cannot impersonate resource \"users\" in"
                                + " API group \"\" at the cluster scope"));
        assertThat(asAccount.code() + " " + asAccount.text("/message"))
                .isEqualTo(
                        filled("403 serviceaccounts \"web\" is forbidden: User \"{user}\" cannot impersonate resource"
                                + " \"serviceaccounts\" in API group \"\" in the namespace \"{namespace}\""));
    }

    @Test
    void impersonation_ofAUserOrAGroup_isDecidedByName() throws Exception {
        String name = "impersonator-" + namespace;
        created(
                RBAC + "/clusterroles",
                role(
                        name,
                        rule("impersonate / '' / users / x") + "," + rule("impersonate / '' / groups / g")
                                + ","
                                + rule("impersonate / authentication.k8s.io / userextras/team / red")));
        created(RBAC + "/clusterrolebindings", binding(name, "ClusterRole", name, userSubject(user)));
        await().until(() -> asUser.with("Impersonate-User", "x").get("/api").code() == 200);

        assertThat(asUser.with("Impersonate-User", "x").get(secrets).text("/message"))
                .startsWith("secrets is forbidden: User \"x\" cannot list");
        assertThat(asUser.with("Impersonate-User", "y").get("/api").code()).isEqualTo(403);
        RawApi grouped = asUser.with("Impersonate-User", "x").with("Impersonate-Group", "g");
        assertThat(grouped.get(secrets).text("/message")).startsWith("secrets is forbidden: User \"x\" cannot list");
        assertThat(grouped.with("Impersonate-Group", "h").get("/api").text("/message"))
                .startsWith("groups \"h\" is forbidden");
        assertThat(asUser.with("Impersonate-User", "x")
                        .with("Impersonate-Extra-team", "red")
                        .get("/api")
                        .code())
                .isEqualTo(200);
        assertThat(asUser.with("Impersonate-User", "x")
                        .with("Impersonate-Extra-team", "blue")
                        .get("/api")
                        .text("/message"))
                .isEqualTo(
                        filled(
                                "userextras.authentication.k8s.io \"blue\" is forbidden: User \"{user}\" cannot impersonate"
                                        + " resource \"userextras/team\" in API group \"authentication.k8s.io\" at the cluster scope"));
        assertThat(asUser.with("Impersonate-Group", "g").get("/api").code()).isEqualTo(500);
    }

    @Test
    void impersonation_withGroups_hasThemBesideEverybodys() throws Exception {
        created(roles, role("reader", rule("get / '' / secrets / db")));
        created(
                bindings,
                binding("reader", "Role", "reader", filled("{'kind':'Group','name':'group-of-{namespace}'}")));
        asUser = api().with("Impersonate-User", "x").with("Impersonate-Group", "group-of-" + namespace);

        untilAllowed("GET secrets/db");
        assertThat(asUser.get(secrets + "/other").code()).isEqualTo(403);
    }

    @Test
    void impersonation_groups_areThoseGiven_elseThoseOfTheName() throws Exception {
        grant("it", user, "create / rbac.authorization.k8s.io / roles / -");
        created(bindings, binding("all", "Role", "it", "{\"kind\":\"Group\",\"name\":\"system:authenticated\"}"));
        String account = "system:serviceaccount:" + namespace + ":web";
        String more = role("more", rule("get / '' / secrets / -"));
        RawApi asAccount = api().with("Impersonate-User", account);
        await().until(() -> asAccount.post(roles, more).text("/message").contains("(groups="));

        assertThat(asAccount.post(roles, more).text("/message"))
                .contains(filled("(groups=[\"system:serviceaccounts\" \"system:serviceaccounts:{namespace}\""
                        + " \"system:authenticated\"])"));
        assertThat(asAccount
                        .with("Impersonate-Group", "red")
                        .with("Impersonate-Group", "system:authenticated")
                        .post(roles, more)
                        .text("/message"))
                .contains("(groups=[\"red\" \"system:authenticated\"])");
        assertThat(asAccount.with("Impersonate-Group", "red").post(roles, more).text("/message"))
                .contains("(groups=[\"red\" \"system:authenticated\"])");
    }

    // Helpers

    /** Gives a user a Role with a rule, and waits until it counts. */
    private void grant(String name, String whom, String rule) throws IOException, InterruptedException {
        grant(name, whom, rule, asUser);
    }

    private void grant(String name, String whom, String rule, RawApi as) throws IOException, InterruptedException {
        created(roles, role(name, rule(rule) + "," + rule("get / '' / configmaps / granted-" + name)));
        created(bindings, binding(name, "Role", name, userSubject(whom)));
        await().until(() -> as.get("/api/v1/namespaces/" + namespace + "/configmaps/granted-" + name)
                        .code()
                != 403);
    }

    private RawApi asReviewed() {
        return api().with("Impersonate-User", "reviewed-" + namespace);
    }

    private void untilAllowed(String request) {
        await().until(() -> statusOf(request) != 403);
    }

    private int statusOf(String request) throws IOException, InterruptedException {
        return send(request).code();
    }

    /** Sends a request like {@code GET secrets/db} as the user. */
    private Reply send(String request) throws IOException, InterruptedException {
        String[] parts = filled(request).split(" ", 2);
        String path = parts[1].startsWith("../")
                ? "/api/v1/namespaces/" + parts[1].substring(3)
                : parts[1].startsWith("/") ? parts[1] : "/api/v1/namespaces/" + namespace + "/" + parts[1];
        return switch (parts[0]) {
            case "POST" -> asUser.post(path, named("new"));
            case "PUT" -> asUser.put(path, named("db"));
            case "PATCH" -> asUser.patch(path, MERGE, "{}");
            case "DELETE" -> asUser.delete(path, "");
            default -> asUser.get(path);
        };
    }

    private Reply created(String path, String object) throws IOException, InterruptedException {
        Reply reply = api().post(path, object);
        assertThat(reply.code()).as(reply.text("/message")).isEqualTo(201);
        return reply;
    }

    /** Returns a rule in JSON from one like {@code get,list / '' / secrets / db,cert}. */
    private static String rule(String text) {
        String[] parts = text.strip().split(" / ", -1);
        StringBuilder rule = new StringBuilder("{\"verbs\":" + list(parts[0]) + ",\"apiGroups\":"
                + list(parts[1].replace("''", "")) + ",\"resources\":" + list(parts[2]));
        if (!parts[3].strip().equals("-")) {
            rule.append(",\"resourceNames\":").append(list(parts[3].strip()));
        }
        return rule.append('}').toString();
    }

    private static String list(String words) {
        List<String> quoted = new ArrayList<>();
        for (String word : words.split(",", -1)) {
            quoted.add("\"" + word.strip() + "\"");
        }
        return quoted.toString();
    }

    private static String role(String name, String rules) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"rules\":[" + rules + "]}";
    }

    private static String binding(String name, String roleKind, String role, String subject) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"roleRef\":{\"kind\":\"" + roleKind + "\",\"name\":\"" + role
                + "\",\"apiGroup\":\"rbac.authorization.k8s.io\"},\"subjects\":[" + subject + "]}";
    }

    private static String userSubject(String name) {
        return "{\"kind\":\"User\",\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"" + name + "\"}";
    }

    /** Returns a review of a request in the namespace of the test. */
    private String review(String subject, String verb, String resource, String name) {
        return "{\"spec\":{" + subject + "\"resourceAttributes\":{\"namespace\":\"" + namespace + "\",\"verb\":\""
                + verb + "\",\"resource\":\"" + resource + "\",\"name\":\"" + name + "\"}}}";
    }

    private String filled(String text) {
        String filled = text.replace("{user}", user).replace("{namespace}", namespace);
        // single quotes are easier to read in a table
        return filled.contains("\"") && !filled.contains("'kind'") && !filled.contains("'allowed'")
                ? filled
                : filled.replace('\'', '"');
    }
}
