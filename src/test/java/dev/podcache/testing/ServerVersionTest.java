package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
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

    /** As kube-apiserver 1.20.2, kube-apiserver 1.36.2 and the stand-in 1.36.4 answered. */
    @ParameterizedTest
    @CsvSource({
        "v1.20.2, 422 Invalid, 422 Invalid, 0x0, Too long: must have at most 1048576 bytes, false, 250",
        "v1.36.2, 422 Invalid, 400 BadRequest, 0, Too long: may not be more than 1048576 bytes, true, 100",
        "v1.36.4-library-standin, 400 BadRequest, 400 BadRequest, 0,"
                + " Too long: may not be more than 1048576 bytes, true, 100"
    })
    void answers_ofAKnownServer_areThoseThatItGave(
            String text,
            String unknownOperation,
            String mergeOfAnArray,
            String missingVersion,
            String tooLong,
            boolean current,
            int streamLimit) {
        ServerVersion version = ServerVersion.parse(text);

        assertThat(version.patchWithUnknownOperation()).isEqualTo(unknownOperation);
        assertThat(version.mergePatchThatIsAnArray()).isEqualTo(mergeOfAnArray);
        assertThat(version.missingVersion()).isEqualTo(missingVersion);
        assertThat(version.tooLong(1 << 20)).isEqualTo(tooLong);
        assertThat(version.streamsLists()).isEqualTo(current);
        assertThat(version.defaultStreamLimit()).isEqualTo(streamLimit);
        assertThat(version.mountsTokenVolumes()).isEqualTo(current);
        assertThat(version.turnsStrangersAway()).isEqualTo(current);
        assertThat(version.keepsHostIps()).isEqualTo(current);
    }

    @ParameterizedTest
    @CsvSource({
        "v1.31.9, false",
        "v1.32.0, true",
        "v1.33.1, false",
        "v1.34.0, true",
        "v2.0.0, true",
        "v1.34.0-library-standin, true"
    })
    void streamsLists_followsTheDefaultOfTheVersion(String text, boolean streams) {
        assertThat(ServerVersion.parse(text).streamsLists()).isEqualTo(streams);
    }

    @ParameterizedTest
    @CsvSource({
        "v1.20.2, 'sidecars, from Kubernetes 1.29 on'",
        "v1.36.2, ''",
        "v1.36.4-library-standin, 'RBAC, tokens of service accounts'",
        "v1.20.2-library-standin, 'RBAC, tokens of service accounts, sidecars, from Kubernetes 1.29 on'"
    })
    void test_needsWhatTheServerLacks_isSkippedForThat(String text, String missing) {
        ConditionEvaluationResult decision = RealServerCondition.decide(
                ServerVersion.parse(text), ServerFeature.RBAC, ServerFeature.TOKENS, ServerFeature.SIDECARS);

        assertThat(decision.isDisabled()).isEqualTo(!missing.isEmpty());
        assertThat(decision.getReason()).hasValue(missing.isEmpty() ? "kube-apiserver found" : "needs " + missing);
    }

    @Test
    void test_needsNothing_runsOnEveryServer() {
        assertThat(RealServerCondition.decide(ServerVersion.parse("v1.36.4-library-standin"))
                        .isDisabled())
                .isFalse();
    }

    @Test
    void runningServer_saysAnotherVersionOrKind_isNoticed() {
        ServerBinaries library = binaries("v1.36.4-library-standin");
        ServerBinaries full = binaries("v1.36.4");

        assertThat(library.isVersion("v1.36.4-library-standin")).isTrue();
        assertThat(library.isVersion("v1.36.4")).isFalse();
        assertThat(full.isVersion("v1.36.4")).isTrue();
        assertThat(full.isVersion("v1.36.4-library-standin")).isFalse();
        assertThat(full.isVersion("v1.35.4")).isFalse();
    }

    private static ServerBinaries binaries(String version) {
        return new ServerBinaries(ANY, ANY, ANY, ServerVersion.parse(version));
    }
}
