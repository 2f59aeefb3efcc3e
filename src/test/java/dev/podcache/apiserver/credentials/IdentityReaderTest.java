package dev.podcache.apiserver.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Strings;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.TestCertificates;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is sent with each request, and what is refused before a library sees it. */
class IdentityReaderTest {

    @TempDir
    private Path directory = Path.of("");

    private final Timekeeper time = Timekeeper.system();
    private final Map<String, String> properties = new HashMap<>();

    @AfterEach
    void close() {
        properties.keySet().forEach(System::clearProperty);
        time.close();
    }

    /** The names and values are those that kubectl 1.32 sent to a server for the same kubeconfig. */
    @Test
    void first_impersonation_isThatOfKubectl() throws IOException {
        Map<String, List<String>> headers = read("token: abc, as: jané, as-uid: id1, as-groups: [g1, g2],"
                        + " as-user-extra: {scopes: [view, edit], 'a/B%c é': [x], empty: null}")
                .headers();

        assertThat(headers)
                .containsEntry("Authorization", List.of("Bearer abc"))
                .containsEntry("Impersonate-User", List.of("jan\u00c3\u00a9"))
                .containsEntry("Impersonate-Uid", List.of("id1"))
                .containsEntry("Impersonate-Group", List.of("g1", "g2"))
                .containsEntry("Impersonate-Extra-scopes", List.of("view", "edit"))
                .containsEntry("Impersonate-Extra-a%2fB%25c%20%c3%a9", List.of("x"))
                .doesNotContainKey("Impersonate-Extra-empty");
    }

    @Test
    void first_tokens_haveThePrecedenceOfKubectl() throws IOException {
        Files.writeString(directory.resolve("token"), " from-file\r\n");

        assertThat(authorization("token: abc, tokenFile: token")).isEqualTo("Bearer from-file");
        assertThat(authorization("token: abc, tokenFile: missing")).isEqualTo("Bearer abc");
        assertThat(authorization("tokenFile: token")).isEqualTo("Bearer from-file");
        assertThat(authorization("username: a, password: b")).isEqualTo("Basic YTpi");
        assertThat(authorization("username: a")).isEqualTo("Basic YTo=");
        assertThat(authorization("token: 'abc '")).isEqualTo("Bearer abc");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "token: \"canary\\n\"",
                "token: \"can\\rary\"",
                "token: \"canary\\x7f\"",
                "token: \"\\0canary\"",
                "tokenFile: two-lines",
                "token: abc, as: \"canary\\n\"",
                "token: abc, as: jane, as-uid: \"canary\\n\"",
                "token: abc, as: jane, as-groups: [\"canary\\n\"]",
                "token: abc, as: jane, as-user-extra: {a: [\"canary\\n\"]}",
            })
    void first_valueThatNoHeaderMayHave_isRefusedAndNotQuoted(String user) throws IOException {
        Files.writeString(directory.resolve("two-lines"), "canary\nother");

        assertThatThrownBy(() -> read(user))
                .isInstanceOf(CredentialsException.class)
                .hasMessageMatching("(?s).*(has a line break|has more than one line).*")
                .hasMessageNotContaining("canary")
                .hasNoCause();
    }

    @ParameterizedTest
    @ValueSource(strings = {"token", "auto", "user", "group", "agent", "custom", "name"})
    void first_illegalValueInTheConfigurationOfACaller_isRefusedAndNotQuoted(String where) {
        String bad = "canary\nother";
        ConfigBuilder config = new ConfigBuilder(Config.empty()).withMasterUrl("https://127.0.0.1:1");
        switch (where) {
            case "token" -> config.withOauthToken(bad);
            case "auto" -> config.withAutoOAuthToken(bad);
            case "user" -> config.withImpersonateUsername(bad);
            case "group" -> config.withImpersonateUsername("jane").withImpersonateGroups(bad);
            case "agent" -> config.withUserAgent(bad);
            case "custom" -> config.withCustomHeaders(Map.of("X-Name", bad));
            default -> config.withCustomHeaders(Map.of(bad, "value"));
        }

        assertThatThrownBy(() -> reader(config.build(), time).first())
                .isInstanceOf(CredentialsException.class)
                .hasMessageNotContaining("canary");
    }

    @Test
    void first_tokenFileThatIsEmptyOrMissing_isNamed() throws IOException {
        Files.writeString(directory.resolve("empty"), "\n");

        assertThatThrownBy(() -> read("tokenFile: empty"))
                .hasMessageContaining("user \"u\": tokenFile " + directory.resolve("empty") + " is empty");
        assertThatThrownBy(() -> read("tokenFile: missing"))
                .hasMessageContaining("user \"u\": tokenFile " + directory.resolve("missing") + " cannot be read");
    }

    @ParameterizedTest
    @ValueSource(strings = {"EC", "Ed25519", "RSA"})
    void first_certificateAndKey_areThoseOfTheClientWhateverTheirKind(String kind) throws Exception {
        KeyPair pair = pair(kind);
        writeCertificate(pair, Instant.now(), Instant.now().plusSeconds(3600));

        Identity identity = read("client-certificate: user.crt, client-key: user.key");

        X509KeyManager keys = Objects.requireNonNull(identity.settings().keys());
        String[] aliases = keys.getClientAliases(pair.getPrivate().getAlgorithm(), null);
        assertThat(keys.getPrivateKey(aliases[0])).isEqualTo(pair.getPrivate());
        assertThat(keys.getCertificateChain(aliases[0])[0].getPublicKey()).isEqualTo(pair.getPublic());
    }

    @Test
    void first_keyOfAnotherCertificate_isRefused() throws Exception {
        writeCertificate(pair("EC"), Instant.now(), Instant.now().plusSeconds(3600));
        Files.writeString(
                directory.resolve("user.key"),
                PemText.of("PRIVATE KEY", pair("EC").getPrivate().getEncoded()));

        assertThatThrownBy(() -> read("client-certificate: user.crt, client-key: user.key"))
                .hasMessageContaining(
                        "user \"u\": client-certificate or client-key cannot be used: the key is not the key"
                                + " of the certificate");
    }

    @Test
    void first_certificateOfNextYear_isRefused() throws Exception {
        Instant nextYear = Instant.now().plus(Duration.ofDays(365));
        writeCertificate(pair("EC"), nextYear, nextYear.plusSeconds(3600));

        assertThatThrownBy(() -> read("client-certificate: user.crt, client-key: user.key"))
                .isInstanceOf(CredentialsException.class)
                .hasMessageContaining("is not valid before");
    }

    @ParameterizedTest
    @ValueSource(ints = {-365, 365})
    void again_certificateThatIsNotValidNow_isRefusedByName(int days) throws Exception {
        KeyPair pair = pair("EC");
        writeCertificate(pair, Instant.now(), Instant.now().plusSeconds(3600));
        IdentityReader reader = reader(config("client-certificate: user.crt, client-key: user.key"), time);
        reader.first();
        Instant start = Instant.now().plus(Duration.ofDays(days));
        writeCertificate(pair, start, start.plusSeconds(3600));

        assertThatThrownBy(reader::again)
                .isInstanceOf(CredentialsException.class)
                .hasMessageMatching("the client certificate CN=jane until .* (is not valid before|has expired).*");
    }

    /** As the files of a kubelet: both in one. */
    @Test
    void again_oneFileForBoth_isReadAgainOnlyIfItHasChanged() throws Exception {
        TestCertificates authority = new TestCertificates();
        Path file = directory.resolve("both.pem");
        Files.writeString(file, authority.privateKeyPem() + authority.userPem("one"));
        IdentityReader reader = reader(config("client-certificate: both.pem, client-key: both.pem"), time);
        Identity one = reader.first();
        Identity same = reader.again();
        Files.writeString(file, authority.userPem("two") + authority.privateKeyPem());
        Identity two = reader.again();

        assertThat(same.settings()).isSameAs(one.settings());
        assertThat(two.settings()).isNotSameAs(one.settings());
        assertThat(two).hasToString("Identity[CN=two until " + two.expires() + "]");
    }

    @Test
    void first_authorityInSeveralLines_isTrusted() throws Exception {
        String data = Kubeconfig.base64(PemText.bytes(new TestCertificates().authorityPem()));
        Path file = kubeconfig(
                "token: abc", "certificate-authority-data: \"" + data.replaceAll("(.{64})", "$1\\\\n") + "\"");
        Config config = Kubeconfig.read(file, "--kubeconfig").config(Map.of());

        X509TrustManager trusted =
                Objects.requireNonNull(reader(config, time).first().settings().trusted());
        assertThat(trusted.getAcceptedIssuers()).hasSize(1);
    }

    /** As for Go, which has one TLS configuration for both. */
    @Test
    void first_proxyByTls_isVerifiedByTheAuthorityOfTheServer() throws Exception {
        String data = Kubeconfig.base64(PemText.bytes(new TestCertificates().authorityPem()));
        Path file =
                kubeconfig("token: abc", "proxy-url: 'https://p.example:3128', certificate-authority-data: " + data);
        Config config = Kubeconfig.read(file, "--kubeconfig").config(Map.of());

        ConnectionSettings settings = reader(config, time).first().settings();

        assertThat(settings.proxyTrusted()).isNotNull().isEqualTo(settings.trusted());
        assertThat(settings.verifiesProxy()).isTrue();
    }

    @Test
    void again_kubeconfigOfACallerHasAPlugin_isRunByOurselves() throws Exception {
        Path file = kubeconfig("token: abc", "tls-server-name: a");
        Config config = Config.fromKubeconfig(file.toFile());
        IdentityReader reader = reader(config, new ManualTimekeeper());
        reader.first();
        kubeconfig(
                "exec: {command: /bin/sh, args: [-c, 'echo canary; exit 1'],"
                        + " apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
                "tls-server-name: a");

        assertThatThrownBy(reader::again)
                .isInstanceOf(CredentialsException.class)
                .hasMessageContaining("the credential plugin /bin/sh failed with exit code 1")
                .hasMessageNotContaining("canary");
    }

    /** As in a pod, which has a token for another server. */
    @Test
    void again_userInAnotherFileThanTheContext_isReadAgain() throws IOException {
        Path contexts = Files.writeString(directory.resolve("contexts"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
                """);
        Path users = Files.writeString(directory.resolve("users"), "users: [{name: u, user: {token: user}}]");
        Config config = configuredInAPod(Map.of("kubeconfig", contexts + File.pathSeparator + users));
        IdentityReader reader = reader(config, time);

        assertThat(authorization(reader.first())).isEqualTo("Bearer user");
        assertThat(authorization(reader.again())).isEqualTo("Bearer user");
        assertThat(config.getAutoOAuthToken()).isEqualTo("user");

        Files.writeString(users, "users: [{name: u, user: {token: next}}]");
        assertThat(authorization(reader.again())).isEqualTo("Bearer next");
    }

    @Test
    @ExpectedWarnings("the client keeps the credentials that it has, and does not notice new ones")
    void again_kubeconfigThatFabric8TakesAndWeRefuse_theKnownTokenStays() throws IOException {
        Path file = kubeconfig("token: user, as-uid: someone", "tls-server-name: a");
        Config config = configuredInAPod(Map.of("kubeconfig", file.toString()));
        IdentityReader reader = reader(config, time);

        assertThat(authorization(reader.first())).isEqualTo("Bearer user");
        assertThat(authorization(reader.again())).isEqualTo("Bearer user");
        assertThat(config.getAutoOAuthToken()).isEqualTo("user");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void again_serviceAccount_isUsedUnlessItIsSwitchedOff(boolean on) throws IOException {
        Config config = configuredInAPod(Map.of(
                Config.KUBERNETES_AUTH_TRYKUBECONFIG_SYSTEM_PROPERTY,
                "false",
                Config.KUBERNETES_AUTH_TRYSERVICEACCOUNT_SYSTEM_PROPERTY,
                String.valueOf(on),
                Config.KUBERNETES_MASTER_SYSTEM_PROPERTY,
                "https://127.0.0.1:1"));
        IdentityReader reader = reader(config, time);

        assertThat(authorization(reader.first())).isEqualTo(on ? "Bearer pod" : "");
        assertThat(authorization(reader.again())).isEqualTo(on ? "Bearer pod" : "");
        assertThat(Strings.nullToEmpty(config.getAutoOAuthToken())).isEqualTo(on ? "pod" : "");
    }

    /** Returns what fabric8 finds by itself in a pod that has a token. */
    private Config configuredInAPod(Map<String, String> others) throws IOException {
        properties.putAll(others);
        properties.put(
                Config.KUBERNETES_AUTH_SERVICEACCOUNT_TOKEN_FILE_SYSTEM_PROPERTY,
                Files.writeString(directory.resolve("pod"), "pod").toString());
        properties.forEach(System::setProperty);
        return Config.autoConfigure(null);
    }

    private String authorization(String user) throws IOException {
        return authorization(read(user));
    }

    private static String authorization(Identity identity) {
        return identity.headers().getOrDefault("Authorization", List.of("")).get(0);
    }

    private Identity read(String user) throws IOException {
        return reader(config(user), time).first();
    }

    private Config config(String user) throws IOException {
        return Kubeconfig.read(kubeconfig(user, "tls-server-name: a"), "--kubeconfig")
                .config(Map.of());
    }

    private Path kubeconfig(String user, String cluster) throws IOException {
        return Files.writeString(directory.resolve("kubeconfig"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', %s}}]
                users: [{name: u, user: {%s}}]
                """.formatted(cluster, user));
    }

    private static IdentityReader reader(Config config, Timekeeper time) {
        ServerUrl url = ServerUrl.parse("https://127.0.0.1:1").orElseThrow();
        return new IdentityReader(config, config.getRequestConfig(), url, time, (connection, path, form) -> {
            throw new AssertionError("an identity provider is asked");
        });
    }

    private static KeyPair pair(String kind) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(kind);
        if (kind.equals("EC")) {
            generator.initialize(new ECGenParameterSpec("secp256r1"));
        } else if (kind.equals("RSA")) {
            generator.initialize(1024);
        }
        return generator.generateKeyPair();
    }

    private void writeCertificate(KeyPair pair, Instant from, Instant end) throws Exception {
        Files.writeString(
                directory.resolve("user.crt"), new TestCertificates().userPemOf(pair.getPublic(), "jane", from, end));
        Files.writeString(
                directory.resolve("user.key"),
                PemText.of("PRIVATE KEY", pair.getPrivate().getEncoded()));
    }
}
