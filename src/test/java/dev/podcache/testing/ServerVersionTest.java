package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerVersionTest {

    private static final Path ANY = Path.of("any");

    @ParameterizedTest
    @CsvSource({"v1.36.4-library-standin, 36", "v1.20.2, 20", "1.9.0-linux-amd64, 9", "v1.31.0-rc.1+k3s1, 31"})
    void parse_version_knowsTheMinorOne(String text, int minor) {
        ServerVersion version = ServerVersion.parse(text);

        assertThat(version.major()).isEqualTo(1);
        assertThat(version.minor()).isEqualTo(minor);
        assertThat(version).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Kubernetes v1.20.2", "v1", "latest"})
    void parse_noVersion_isQuoted(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ServerVersion.parse(text))
                .withMessageContaining("\"" + text + "\"");
    }

    @Test
    void answers_ofAVersionWithoutAServer_areThoseOfItsNumber() {
        ServerVersion old = ServerVersion.parse("v1.20.2");
        ServerVersion current = ServerVersion.parse("v1.36.0");

        assertThat(old.defaultStreamLimit()).isEqualTo(250);
        assertThat(current.defaultStreamLimit()).isEqualTo(100);
        assertThat(ServerVersion.parse("v2.0.0").defaultStreamLimit()).isEqualTo(100);
        assertThat(old.mountsTokenVolumes()).isFalse();
        assertThat(current.mountsTokenVolumes()).isTrue();
    }

    @Test
    void test_needsWhatTheServerLacks_isSkippedForThat() {
        ServerBinaries library = binaries("v1.36.4-library-standin", Set.of(ServerFeature.values()));
        ServerBinaries full = binaries("v1.36.4", Set.of());

        assertThat(RealServerCondition.decide(library, ServerFeature.RBAC, ServerFeature.TOKENS))
                .satisfies(decision -> assertThat(decision.isDisabled()).isTrue())
                .extracting(decision -> decision.getReason().orElse(""))
                .isEqualTo("needs RBAC, tokens of service accounts");
        assertThat(RealServerCondition.decide(full, ServerFeature.RBAC).isDisabled())
                .isFalse();
        assertThat(RealServerCondition.decide(library).isDisabled()).isFalse();
    }

    @Test
    void runningServer_saysAnotherVersionOrKind_isNoticed() {
        ServerBinaries library = binaries("v1.36.4-library-standin", Set.of(ServerFeature.values()));
        ServerBinaries full = binaries("v1.36.4", Set.of());

        assertThat(library.isVersion("v1.36.4-library-standin")).isTrue();
        assertThat(library.isVersion("v1.36.4")).isFalse();
        assertThat(full.isVersion("v1.36.4")).isTrue();
        assertThat(full.isVersion("v1.36.4-library-standin")).isFalse();
        assertThat(full.isVersion("v1.35.4")).isFalse();
    }

    private static ServerBinaries binaries(String version, Set<ServerFeature> absent) {
        return new ServerBinaries(ANY, ANY, ANY, ServerVersion.parse(version), absent);
    }
}
