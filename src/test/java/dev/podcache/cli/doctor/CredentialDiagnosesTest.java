package dev.podcache.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoLeaks.class)
class CredentialDiagnosesTest {

    private static final Instant NOW = Instant.parse("2026-11-23T06:00:00Z");

    @ParameterizedTest
    @CsvSource({
        "client certificate, -1, PROBLEM",
        "client certificate, 1, NOTE",
        "client certificate, 25, OK",
        "token, -1, PROBLEM",
        "token, 1, OK"
    })
    void of_expiry_isJudgedByKindAndTime(String kind, long hours, Diagnosis.Level level) {
        ClientCredentials known = new ClientCredentials(kind, "jane", NOW.plus(Duration.ofHours(hours)));

        assertThat(CredentialDiagnoses.of(Optional.of(known), "", 200, NOW))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.level()).isEqualTo(level);
                    assertThat(each.what()).contains(kind + " of jane");
                });
    }

    @ParameterizedTest
    @CsvSource({
        "client certificate, system:node:edge-1, true",
        "client certificate, jane, false",
        "token, system:node:edge-1, false"
    })
    void of_expired_namesTheBootstrapForNodesOnly(String kind, String user, boolean bootstrap) {
        ClientCredentials known = new ClientCredentials(kind, user, NOW.minusSeconds(1));

        assertThat(CredentialDiagnoses.of(Optional.of(known), "", 401, NOW))
                .singleElement()
                .satisfies(each -> assertThat(each.remedy().contains("--bootstrap-kubeconfig"))
                        .isEqualTo(bootstrap));
    }

    /** Such as by the path of the URL. */
    @Test
    void of_noCredentials_butTheServerKnowsTheUser_isFine() {
        assertThat(CredentialDiagnoses.of(Optional.empty(), "jane", 200, NOW))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.level()).isEqualTo(Diagnosis.Level.OK);
                    assertThat(each.what()).isEqualTo("none are sent; the server knows this client as jane");
                });
        assertThat(CredentialDiagnoses.of(Optional.empty(), "system:anonymous", 200, NOW))
                .extracting(Diagnosis::what)
                .containsExactly("none are sent");
    }

    @Test
    void of_noCredentials_isAProblemWhateverTheAnswer() {
        assertThat(CredentialDiagnoses.of(Optional.empty(), "", 401, NOW))
                .singleElement()
                .extracting(Diagnosis::what)
                .isEqualTo("none are sent");
    }

    @Test
    void credentials_ofAToken_areItsClaims() {
        String claims = "{\"sub\": \"system:serviceaccount:shop:reader\", \"exp\": " + NOW.getEpochSecond() + "}";
        String token = "e30." + base64(claims) + ".signature";

        assertThat(ClientCredentials.of(withToken(token)))
                .contains(new ClientCredentials("token", "system:serviceaccount:shop:reader", NOW));
    }

    @Test
    void credentials_ofATokenFile_areThoseOfItsToken(@TempDir Path folder) throws IOException {
        String claims = "{\"sub\": \"system:serviceaccount:shop:reader\", \"exp\": " + NOW.getEpochSecond() + "}";
        Files.writeString(folder.resolve("token"), "e30." + base64(claims) + ".signature\n");
        Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
                users: [{name: u, user: {tokenFile: token}}]
                """);
        Config config = new ClusterAccess(Map.of(), folder).config(kubeconfig);

        assertThat(ClientCredentials.of(config))
                .contains(new ClientCredentials("token", "system:serviceaccount:shop:reader", NOW));
    }

    /** The server may take the user name from another claim, or put a prefix before it. */
    @Test
    void userAtServer_ofATokenThatNoServiceAccountHas_isUnknown() {
        Config config = Config.empty();

        assertThat(new ClientCredentials("token", "jane", NOW).userAtServer(config))
                .isEmpty();
        assertThat(new ClientCredentials("token", "system:serviceaccount:shop:reader", NOW).userAtServer(config))
                .isEqualTo("system:serviceaccount:shop:reader");
        assertThat(new ClientCredentials("client certificate", "jane", NOW).userAtServer(config))
                .isEqualTo("jane");
    }

    @Test
    void userAtServer_ofAClientThatImpersonates_isUnknown() {
        Config config = new ConfigBuilder(Config.empty())
                .withImpersonateUsername("root")
                .build();

        assertThat(new ClientCredentials("client certificate", "jane", NOW).userAtServer(config))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "a.b", "a.b.c", "a.e30.c", "a.%%.c", "a.bnVsbA.c"})
    void credentials_ofAnotherToken_areOfNobodyAndNeverShown(String form) {
        String token = form + NoLeaks.CANARY;

        Optional<ClientCredentials> known = ClientCredentials.of(withToken(token));

        assertThat(known).contains(new ClientCredentials("token", "", null));
        NoLeaks.saw(String.valueOf(known));
        NoLeaks.saw(CredentialDiagnoses.of(known, "", 401, NOW).toString());
    }

    private static Config withToken(String token) {
        return new ConfigBuilder(Config.empty()).withOauthToken(token).build();
    }

    private static String base64(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
