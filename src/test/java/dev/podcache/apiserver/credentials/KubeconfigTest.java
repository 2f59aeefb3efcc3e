package dev.podcache.apiserver.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.testing.KubectlBinary;
import dev.podcache.testing.TestCertificates;
import io.fabric8.kubernetes.client.Config;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Kubeconfigs, and what kubectl makes of them. Where kubectl is installed, it is asked about each of them again. */
class KubeconfigTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SERVER = "https://127.0.0.1:1";

    /** Fields of the cluster, and fields of the user, that kubectl accepts. */
    private static final String[][] ACCEPTED = {
        {"", "token: abc"},
        {"", "token: ' abc '"},
        {"", "token: abc, tokenFile: token"},
        {"", "tokenFile: token"},
        {"", "tokenFile: sub/../token"},
        {"", "token: abc, tokenFile: missing"},
        {"", "username: jane, password: p"},
        {"", "username: jane"},
        {"", "token: abc, as: jane"},
        {"", "token: abc, as: jane, as-groups: [g, 'h i'], as-uid: id, as-user-extra: {scopes: [a, b], 'x/y': [c]}"},
        {"", "token: abc, as: jane, as-groups: [g, null], as-user-extra: {a: null}"},
        {"", "token: abc, as: jane, as-groups: null, as-user-extra: null, as-uid: null"},
        {"", "token: abc, unknown: {a: b}, extensions: null"},
        {"", "token: abc, password: null, username: ''"},
        {"", "client-certificate: user.crt, client-key: user.key"},
        {"", "client-certificate: user.crt, client-key: user.key, token: abc"},
        {"", "token: 'true'"},
        {"", "token: !!str 123"},
        {"", "token: \"abc\\tdef\""},
        {"certificate-authority: ca.crt", "token: abc"},
        {"certificate-authority: sub/../ca.crt", "token: abc"},
        {"certificate-authority-data: CA_DATA", "token: abc"},
        {"certificate-authority-data: \"CA_LINES\"", "token: abc"},
        {"certificate-authority-data: ''", "token: abc"},
        {"certificate-authority-data: null", "token: abc"},
        {"insecure-skip-tls-verify: true", "token: abc"},
        {"insecure-skip-tls-verify: yes", "token: abc"},
        {"insecure-skip-tls-verify: null", "token: abc"},
        {"certificate-authority: ca.crt, insecure-skip-tls-verify: false", "token: abc"},
        {"tls-server-name: api.example", "token: abc"},
        {"tls-server-name: api.example.", "token: abc"},
        {"tls-server-name: a_b.example", "token: abc"},
        {"tls-server-name: 'fd00::1'", "token: abc"},
        {"disable-compression: true", "token: abc"},
        {"proxy-url: 'http://127.0.0.1:1'", "token: abc"},
        {"proxy-url: 'HTTP://127.0.0.1:1'", "token: abc"},
        {"proxy-url: 'socks5://user:p@127.0.0.1:1'", "token: abc"},
        {"proxy-url: ''", "token: abc"},
        {"extensions: [{name: e, extension: {a: 1}}, null]", "token: abc"},
        {"extensions: null", "token: abc"},
        {"", "exec: null, token: abc"},
        {"", "exec: {command: no-such-plugin, apiVersion: client.authentication.k8s.io/v1beta1}"},
        {"", "exec: {command: ./p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"},
        {
            "",
            "exec: {command: p, args: [a, null], env: [{name: A, value: b}, {name: C}],"
                    + " apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable}"
        },
        {
            "",
            "exec: {command: p, args: null, env: null, installHint: h, provideClusterInfo: true,"
                    + " apiVersion: client.authentication.k8s.io/v1beta1, interactiveMode: Never}"
        },
    };

    /** Fields of the cluster, fields of the user, and a part of our refusal. */
    private static final String[][] REFUSED = {
        {"", "token: 123", "line 5: users \"u\", token must be text: put it in quotation marks"},
        {"", "token: yes", "token must be text"},
        {"", "token: [a]", "token must be text"},
        {"", "as-groups: g, as: j", "as-groups must be a list"},
        {"", "as-user-extra: {a: b}, as: j", "as-user-extra.a must be a list"},
        {"", "as-user-extra: [a], as: j", "as-user-extra must be a map of fields"},
        {"", "token: abc, as-groups: [g]", "without as: add the user to act as"},
        {"", "token: abc, as-uid: g", "without as"},
        {"", "token: abc, as-user-extra: {a: [b]}", "without as"},
        {"", "token: abc, username: jane", "a token and username are both set: remove one"},
        {"", "tokenFile: token, username: jane", "a token and username are both set"},
        {"", "client-certificate: user.crt", "client-certificate has no client-key"},
        {"", "client-certificate: user.crt, client-certificate-data: CA_DATA, client-key: user.key", "both set"},
        {"", "client-certificate: user.crt, client-key: user.key, client-key-data: CA_DATA", "both set"},
        {"", "client-certificate-data: '!canary', client-key-data: YQ==", "client-certificate-data is not base64"},
        {"", "client-certificate-data: 'YWJj ZGVm', client-key-data: YQ==", "is not base64"},
        {"", "client-certificate-data: YWI, client-key-data: YQ==", "is not base64"},
        {"", "client-certificate-data: YW-_, client-key-data: YQ==", "is not base64"},
        {"certificate-authority: missing", "token: abc", "certificate-authority: file DIR/missing cannot be read"},
        {"certificate-authority: ca.crt, certificate-authority-data: CA_DATA", "token: abc", "both set"},
        {"certificate-authority: ca.crt, insecure-skip-tls-verify: true", "token: abc", "insecure-skip-tls-verify"},
        {"certificate-authority-data: CA_DATA, insecure-skip-tls-verify: true", "token: abc", "remove one"},
        {"insecure-skip-tls-verify: 'true'", "token: abc", "must be true or false, without quotation marks"},
        {"insecure-skip-tls-verify: 1", "token: abc", "must be true or false"},
        {"proxy-url: 'ftp://canary'", "token: abc", "cluster \"c\": proxy-url must be a URL"},
        {"proxy-url: '127.0.0.1:1'", "token: abc", "proxy-url must be a URL"},
        {"proxy-url: 'socks5h://127.0.0.1:1'", "token: abc", "proxy-url must be a URL"},
        {"extensions: {a: b}", "token: abc", "extensions must be a list"},
        {"", "exec: {command: p, apiVersion: client.authentication.k8s.io/v1}", "add interactiveMode: Never"},
        {"", "exec: {command: p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Foo}", "Never or If"},
        {"", "exec: {command: p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}", "no terminal"},
        {"", "exec: {command: p, apiVersion: client.authentication.k8s.io/v1alpha1, interactiveMode: Never}", "v1beta1"
        },
        {"", "exec: {command: p, apiVersion: v1, interactiveMode: Never}", "another apiVersion"},
        {"", "exec: {command: p, interactiveMode: Never}", "another apiVersion"},
        {"", "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}", "exec has no command"},
        {
            "",
            "exec: {command: p, env: [{value: a}], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
            "variable without a name"
        },
        {"", "exec: {command: p, provideClusterInfo: 'true'}", "provideClusterInfo must be true or false"},
        {"", "exec: p", "exec must be a map of fields"},
        {"", "auth-provider: {name: gcp}", "auth-provider must be oidc"},
    };

    /** Cluster, user, and our refusal: kubectl takes them, or fails later. The JDK refuses them at each connection or call. */
    private static final String[][] UNUSABLE = {
        {
            "tls-server-name: 'api.example:6443'",
            "token: abc",
            "cluster \"c\": tls-server-name is not the name of a machine"
        },
        {"tls-server-name: '*.example'", "token: abc", "tls-server-name is not the name"},
        {"tls-server-name: 'api..example'", "token: abc", "tls-server-name is not the name"},
        {
            "",
            "exec: {command: p, env: [{name: A=canary}], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
            "user \"u\": exec has a variable in env whose name has a '=' in it: write its value as value"
        },
        {
            "",
            "exec: {command: p, env: [{name: A, value: \"canary\\0\"}], apiVersion: client.authentication.k8s.io/v1,"
                    + " interactiveMode: Never}",
            "null character"
        },
        {
            "",
            "exec: {command: p, args: [\"canary\\0\"], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
            "exec has a null character in args or env: remove it"
        },
    };

    /** Whole files that kubectl refuses to load, and a part of our refusal. */
    private static final String[][] NO_KUBECONFIGS = {
        {"kind: Foo", "its kind must be Config"},
        {"apiVersion: v2", "its apiVersion must be v1"},
        {"[]", "it must be YAML with clusters"},
        {"canary", "it must be YAML with clusters"},
        {"users: {}", "line 1: users must be a list"},
        {"users: canary", "users must be a list"},
        {"users: [canary]", "must have maps of fields in it"},
        {"current-context: 5", "current-context must be text"},
        {"contexts: [{name: a}, {name: a}]", "has \"a\" twice among its contexts"},
        {"clusters: [{name: a, cluster: {}}, {name: a, cluster: {}}]", "has \"a\" twice among its clusters"},
        {"users: [{name: a}, {name: a, user: {token: x1}}]", "has \"a\" twice among its users"},
        {"users: [null, {name: null}]", "has \"\" twice among its users"},
        {"users: [{name: a, user: {token: [1]}}]", "token must be text"},
        {"{{", "it must be YAML with clusters"},
    };

    @TempDir
    private Path directory = Path.of("");

    private String authority = "";

    @BeforeEach
    void writeFiles() throws Exception {
        TestCertificates certificates = new TestCertificates();
        authority = certificates.authorityPem();
        Files.writeString(directory.resolve("ca.crt"), authority);
        Files.writeString(directory.resolve("user.crt"), certificates.userPem("jane"));
        Files.writeString(directory.resolve("user.key"), certificates.privateKeyPem());
        Files.writeString(directory.resolve("token"), "from-file\n");
    }

    static Stream<Arguments> accepted() {
        return Stream.of(ACCEPTED).map(each -> Arguments.of(each[0], each[1]));
    }

    static Stream<Arguments> refused() {
        return Stream.of(REFUSED, UNUSABLE).flatMap(Stream::of).map(each -> Arguments.of(each[0], each[1], each[2]));
    }

    @ParameterizedTest
    @MethodSource("accepted")
    void read_whatKubectlTakes_isRead(String cluster, String user) throws IOException {
        Kubeconfig read = Kubeconfig.read(write(cluster, user), "--kubeconfig");

        assertThat(read.url()).hasToString(SERVER);
        assertThat(read.config(Map.of()).getMasterUrl()).isEqualTo(SERVER + "/");
    }

    @ParameterizedTest
    @MethodSource("refused")
    void read_whatKubectlRefuses_isRefusedByFileFieldAndRemedy(String cluster, String user, String why)
            throws IOException {
        Path file = write(cluster, user);

        assertThatThrownBy(() -> Kubeconfig.read(file, "--kubeconfig").config(Map.of()))
                .isInstanceOf(CredentialsException.class)
                .hasMessageStartingWith("kubeconfig " + file + " (from --kubeconfig)")
                .hasMessageContaining(why.replace("DIR", directory.toString()))
                .hasMessageNotContaining("canary")
                .hasNoCause();
    }

    /** Where kubectl is installed: the accepted ones, field by field. */
    @Test
    void read_allAccepted_haveTheFieldsThatKubectlSees() throws Exception {
        for (String[] each : ACCEPTED) {
            Path file = write(each[0], each[1]);
            JsonNode seen = viewed(file.toString());
            Kubeconfig read = Kubeconfig.read(file, "--kubeconfig");

            assertThat(List.of(ours(read).toString().split("\n")))
                    .as("%s | %s", each[0], each[1])
                    .isEqualTo(List.of(theirs(seen).toString().split("\n")));
        }
    }

    /** Where kubectl is installed: it asks no server, because it refuses the file. */
    @Test
    void read_allRefused_areRefusedByKubectl() throws Exception {
        for (String[] each : REFUSED) {
            Path file = write(each[0], each[1]);

            assertThat(kubectl(Map.of(), "get", "--raw", "/", "--kubeconfig=" + file))
                    .as("%s | %s", each[0], each[1])
                    .doesNotContain("refused - did you specify");
        }
    }

    static Stream<Arguments> noKubeconfigs() {
        return Stream.of(NO_KUBECONFIGS).map(each -> Arguments.of(each[0], each[1]));
    }

    @ParameterizedTest
    @MethodSource("noKubeconfigs")
    void read_noKubeconfig_isRefusedAsByKubectl(String content, String why) throws Exception {
        Path file = Files.writeString(directory.resolve("kubeconfig"), content);

        assertThatThrownBy(() -> Kubeconfig.read(file, "--kubeconfig"))
                .isInstanceOf(CredentialsException.class)
                .hasMessageContaining(why)
                .hasMessageNotContaining("canary")
                .hasNoCause();
        assertThat(kubectl(Map.of(), "config", "view", "--kubeconfig=" + file)).startsWith("error: ");
    }

    /** The second file has other entries of the same names; a map is not merged into another one. */
    @Test
    void readList_severalFiles_areMergedAsByKubectl() throws Exception {
        Files.createDirectory(directory.resolve("one"));
        Files.createDirectory(directory.resolve("two"));
        Path one = Files.writeString(directory.resolve("one/config"), """
                current-context: ""
                contexts: [{name: here, context: {cluster: c, user: u}}]
                users: [{name: u, user: {tokenFile: token, as: jane}}]
                clusters: [{name: other, cluster: {server: 'https://other.example'}}]
                """);
        Path two = Files.writeString(directory.resolve("two/config"), """
                current-context: here
                contexts: [{name: here, context: {cluster: other, user: u, namespace: shop}}]
                users: [{name: u, user: {token: abc, as: joe, as-groups: [g]}}]
                clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', tls-server-name: a}}]
                """);
        List<String> lists = List.of(
                one + ":" + two,
                two + ":" + one,
                ":" + one + "::" + two + ":",
                "/nowhere:" + one + ":/nowhere/else:" + two + ":" + one);
        for (String list : lists) {
            Kubeconfig read = Kubeconfig.readList(list, "KUBECONFIG");
            JsonNode seen = JSON.readTree(
                    kubectl(Map.of("KUBECONFIG", list), "config", "view", "--raw", "--minify", "-o", "json"));

            assertThat(ours(read))
                    .as(list)
                    .isEqualTo(theirs(
                            seen,
                            list.contains("one") && !list.startsWith("" + two)
                                    ? directory.resolve("one")
                                    : directory.resolve("two")));
        }
    }

    @Test
    void readList_oneThatIsBroken_isNamed() throws IOException {
        Path good = write("", "token: abc");
        Path broken = Files.writeString(directory.resolve("broken"), "{{");

        assertThatThrownBy(() -> Kubeconfig.readList(good + File.pathSeparator + broken, "KUBECONFIG"))
                .hasMessageStartingWith("kubeconfig " + broken + " (from KUBECONFIG) is not a kubeconfig");
    }

    @Test
    void readList_emptyNamesOnly_asksForAFile() {
        assertThatThrownBy(() -> Kubeconfig.readList(":::", "KUBECONFIG"))
                .hasMessage("KUBECONFIG names no file: give the path of a kubeconfig");
    }

    @Test
    void read_nullLists_namesTheContextThatIsMissing() throws IOException {
        Path file = Files.writeString(
                directory.resolve("kubeconfig"), "clusters: null\ncontexts: null\ncurrent-context: x\nusers: null\n");

        assertThatThrownBy(() -> Kubeconfig.read(file, "--kubeconfig"))
                .hasMessageContaining("has no context \"x\", its current-context");
    }

    @Test
    void read_unknownUser_isNamed() throws IOException {
        Path file = write("", "token: abc");
        Files.writeString(file, Files.readString(file).replace("user: u,", "user: gone,"));

        assertThatThrownBy(() -> Kubeconfig.read(file, "--kubeconfig"))
                .hasMessageContaining("has no user \"gone\", which its context \"here\" names");
    }

    @Test
    void read_serverWithCredentials_isRefusedWithoutThem() throws IOException {
        Path file = write("", "token: abc");
        Files.writeString(file, Files.readString(file).replace(SERVER, "https://jane:canary@127.0.0.1"));

        assertThatThrownBy(() -> Kubeconfig.read(file, "--kubeconfig"))
                .hasMessageContaining("server has credentials in its URL: write them under users instead")
                .hasMessageNotContaining("canary");
    }

    @Test
    void read_mergeKeysAndSeveralDocuments_areThoseOfTheFirst() throws IOException {
        Path file = Files.writeString(directory.resolve("kubeconfig"), """
                clusters:
                - {name: a, cluster: &cl {server: 'https://a.example', tls-server-name: t}}
                - {name: b, cluster: {<<: *cl, server: 'https://127.0.0.1:1'}}
                users: [{name: a, user: &u {token: abc}}, {name: b, user: *u}]
                contexts: [{name: b, context: {cluster: b, user: b}}]
                current-context: b
                ---
                current-context: none
                """);

        Kubeconfig read = Kubeconfig.read(file, "--kubeconfig");

        assertThat(read.url()).hasToString(SERVER);
        assertThat(read.cluster().tlsServerName()).isEqualTo("t");
        assertThat(read.user().token()).isEqualTo("abc");
    }

    @Test
    void config_httpServer_hasNoCredentialsAsKubectlSendsNone() throws IOException {
        Path file = write("", "token: abc, as: jane");
        Files.writeString(file, Files.readString(file).replace(SERVER, "127.0.0.1:8080"));

        Config config = Kubeconfig.read(file, "--kubeconfig").config(Map.of());

        assertThat(config.getMasterUrl()).isEqualTo("http://127.0.0.1:8080/");
        assertThat(config.getOauthTokenProvider().getToken()).isEmpty();
        assertThat(config.getImpersonateUsername()).isEqualTo("jane");
    }

    @Test
    void config_proxyUrl_isUsedForTheSchemeOfTheServer() throws IOException {
        Map<String, String> environment = Map.of("HTTPS_PROXY", "http://env.example:1", "NO_PROXY", "*");

        Config named = Kubeconfig.read(write("proxy-url: 'http://us:pa@p.example:3128'", "token: abc"), "--kubeconfig")
                .config(environment);
        Config loopback = Kubeconfig.read(write("", "token: abc"), "--kubeconfig")
                .config(Map.of("HTTPS_PROXY", "http://env.example:1"));

        assertThat(named.getHttpsProxy()).isEqualTo("http://p.example:3128");
        assertThat(named.getProxyUsername()).isEqualTo("us");
        assertThat(named.getProxyPassword()).isEqualTo("pa");
        assertThat(loopback.getHttpsProxy()).isNull();
    }

    @Test
    void ofServiceAccount_proxyOfTheEnvironment_followsNoProxyWithBlanks() {
        Map<String, String> environment = Map.of(
                "KUBERNETES_SERVICE_HOST", "fd00::1",
                "KUBERNETES_SERVICE_PORT", "443",
                "HTTPS_PROXY", "http://p.example:3128",
                "NO_PROXY", "10.0.0.0/8, fd00::/64 ,.svc");

        Config config = Kubeconfig.ofServiceAccount(environment).config(environment);

        assertThat(config.getMasterUrl()).isEqualTo("https://[fd00::1]/");
        assertThat(config.getHttpsProxy()).isNull();
    }

    private Path write(String cluster, String user) throws IOException {
        String data = Kubeconfig.base64(authority.getBytes(StandardCharsets.US_ASCII));
        String lines = String.join("\\n", data.split("(?<=\\G.{64})"));
        String content = """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u, namespace: shop}}]
                clusters: [{name: c, cluster: {server: '%s'%s}}]
                users:
                - {name: u, user: {%s}}
                """.formatted(SERVER, cluster.isEmpty() ? "" : ", " + cluster, user);
        return Files.writeString(
                directory.resolve("kubeconfig"),
                content.replace("CA_DATA", data).replace("CA_LINES", lines));
    }

    /** The fields of a kubeconfig as we read them, one a line. */
    private static List<String> ours(Kubeconfig read) {
        KubeconfigEntries.ClusterEntry cluster = read.cluster();
        KubeconfigEntries.UserEntry user = read.user();
        List<String> fields = new ArrayList<>();
        fields.add("namespace " + read.namespace());
        fields.add("server " + cluster.server());
        fields.add("ca " + text(cluster.authority()));
        fields.add("ca data " + (cluster.authorityData() == null ? "" : cluster.authorityData()));
        fields.add("insecure " + cluster.insecure());
        fields.add("name " + cluster.tlsServerName());
        fields.add("proxy " + cluster.proxyUrl());
        fields.add("compression " + !cluster.disableCompression());
        fields.add("token " + user.token());
        fields.add("token file " + text(user.tokenFile()));
        fields.add("username " + user.username());
        fields.add("password " + user.password());
        fields.add("certificate " + text(user.certificate().certificate()));
        fields.add("key " + text(user.certificate().key()));
        fields.add("as " + user.impersonated());
        fields.add("exec " + user.exec());
        if (user.exec() != null) {
            fields.add(user.exec().args() + " " + user.exec().env() + " "
                    + user.exec().installHint());
            fields.add(user.exec().apiVersion() + " " + user.exec().provideClusterInfo());
        }
        return fields;
    }

    private List<String> theirs(JsonNode seen) {
        return theirs(seen, directory);
    }

    /** The same fields as kubectl shows them, whose paths start in {@code folder}. */
    private static List<String> theirs(JsonNode seen, Path folder) {
        JsonNode cluster = seen.at("/clusters/0/cluster");
        JsonNode user = seen.at("/users/0/user");
        List<String> fields = new ArrayList<>();
        fields.add("namespace " + seen.at("/contexts/0/context/namespace").asText());
        fields.add("server " + cluster.path("server").asText());
        fields.add("ca " + path(folder, cluster.path("certificate-authority")));
        fields.add("ca data " + cluster.path("certificate-authority-data").asText());
        fields.add("insecure " + cluster.path("insecure-skip-tls-verify").asBoolean());
        fields.add("name " + cluster.path("tls-server-name").asText());
        fields.add("proxy " + cluster.path("proxy-url").asText());
        fields.add("compression " + !cluster.path("disable-compression").asBoolean());
        fields.add("token " + user.path("token").asText());
        fields.add("token file " + path(folder, user.path("tokenFile")));
        fields.add("username " + user.path("username").asText());
        fields.add("password " + user.path("password").asText());
        fields.add("certificate " + path(folder, user.path("client-certificate")));
        fields.add("key " + path(folder, user.path("client-key")));
        List<String> groups = new ArrayList<>();
        user.path("as-groups").forEach(group -> groups.add(group.asText()));
        Map<String, List<String>> extra = new TreeMap<>();
        user.path("as-user-extra").properties().forEach(entry -> {
            List<String> values = new ArrayList<>();
            entry.getValue().forEach(value -> values.add(value.asText()));
            extra.put(entry.getKey(), values);
        });
        fields.add("as "
                + new KubeconfigEntries.ImpersonatedUser(
                        user.path("as").asText(), user.path("as-uid").asText(), groups, extra));
        JsonNode exec = user.path("exec");
        if (exec.isMissingNode()) {
            fields.add("exec null");
        } else {
            String command = exec.path("command").asText();
            fields.add("exec credential plugin "
                    + (command.contains("/") ? folder.resolve(command).normalize() : command));
            List<String> args = new ArrayList<>();
            exec.path("args").forEach(arg -> args.add(arg.asText()));
            Map<String, String> env = new LinkedHashMap<>();
            exec.path("env")
                    .forEach(each -> env.put(
                            each.path("name").asText(), each.path("value").asText()));
            fields.add(args + " " + env + " " + exec.path("installHint").asText());
            fields.add(exec.path("apiVersion").asText() + " "
                    + exec.path("provideClusterInfo").asBoolean());
        }
        return fields;
    }

    private static String text(@Nullable Path path) {
        return path == null ? "" : path.toString();
    }

    private static String path(Path folder, JsonNode field) {
        return field.asText().isEmpty()
                ? ""
                : folder.resolve(field.asText()).normalize().toString();
    }

    private JsonNode viewed(String file) throws IOException, InterruptedException {
        return JSON.readTree(
                kubectl(Map.of(), "config", "view", "--raw", "--minify", "-o", "json", "--kubeconfig=" + file));
    }

    private String kubectl(Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        List<String> command = new ArrayList<>(List.of(KubectlBinary.path().toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(output.toFile());
        builder.environment()
                .keySet()
                .removeIf(name -> name.toLowerCase(Locale.ROOT).endsWith("_proxy"));
        builder.environment().putAll(environment);
        builder.start().waitFor();
        return Files.readString(output);
    }
}
