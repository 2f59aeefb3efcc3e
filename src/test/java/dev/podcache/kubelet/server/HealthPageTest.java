package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.podcache.testing.NoLeaks;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The answers of health endpoints, in the format of k8s.io/apiserver/pkg/server/healthz. */
@ExtendWith(NoLeaks.class)
class HealthPageTest {

    private Optional<String> problem = Optional.empty();
    private final HealthPage page = new HealthPage(
            "readyz",
            List.of(
                    HealthCheck.PING,
                    new HealthCheck("lease", () -> problem),
                    new HealthCheck("objects", Optional::empty)));

    private static String body(KubeletResponse response) {
        return new String(((KubeletResponse.Content) response).body(), StandardCharsets.UTF_8);
    }

    private static int code(KubeletResponse response) {
        return ((KubeletResponse.Content) response).code();
    }

    @Test
    void all_everyCheckPasses_isOk() {
        KubeletResponse response = page.all(Requested.get("/readyz"));

        assertThat(code(response)).isEqualTo(200);
        assertThat(body(response)).isEqualTo("ok");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/readyz?verbose", "/readyz?verbose=1", "/readyz?verbose=false"})
    void all_verbose_hasALineForEachCheck(String url) {
        assertThat(body(page.all(Requested.get(url)))).isEqualTo("""
                [+]ping ok
                [+]lease ok
                [+]objects ok
                readyz check passed
                """);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/readyz", "/readyz?verbose"})
    void all_oneFails_is500WithoutTheReason(String url) {
        problem = Optional.of("Secret shop/db");

        KubeletResponse response = page.all(Requested.get(url));

        assertThat(code(response)).isEqualTo(500);
        assertThat(body(response)).isEqualTo("""
                [+]ping ok
                [-]lease failed: reason withheld
                [+]objects ok
                readyz check failed
                """);
    }

    @Test
    void all_failedCheckIsExcluded_passes() {
        problem = Optional.of("late");

        assertThat(body(page.all(Requested.get("/readyz?exclude=lease")))).isEqualTo("ok");
        assertThat(body(page.all(Requested.get("/readyz?verbose&exclude=ping,lease&exclude=objects"))))
                .isEqualTo("""
                        [+]ping excluded: ok
                        [+]lease excluded: ok
                        [+]objects excluded: ok
                        readyz check passed
                        """);
    }

    @Test
    void all_unknownCheckIsExcluded_warns() {
        assertThat(body(page.all(Requested.get("/readyz?verbose&exclude=leese"))))
                .isEqualTo("""
                [+]ping ok
                [+]lease ok
                [+]objects ok
                warn: some health checks cannot be excluded: no matches for "leese"
                readyz check passed
                """);
    }

    @Test
    void all_checkThrows_fails() {
        HealthPage throwing = new HealthPage("livez", List.of(new HealthCheck("loop", () -> {
            throw new IllegalStateException("for the test");
        })));

        assertThat(code(throwing.all(Requested.get("/livez")))).isEqualTo(500);
        assertThat(body(throwing.one("loop", true)))
                .isEqualTo("internal server error: java.lang.IllegalStateException\n");
    }

    @Test
    void one_showsTheReasonToWhoMaySeeIt() {
        problem = Optional.of("the Lease was not renewed");

        assertThat(body(page.one("lease", true))).isEqualTo("internal server error: the Lease was not renewed\n");
        assertThat(body(page.one("lease", false))).isEqualTo("internal server error: reason withheld\n");
        assertThat(body(page.one("ping", false))).isEqualTo("ok");
    }

    @Test
    void one_unknown_is404AndListsTheChecks() {
        RefusedException refused = catchThrowableOfType(RefusedException.class, () -> page.one("none", true));

        assertThat(refused.code()).isEqualTo(404);
        assertThat(refused).hasMessage("no such check; /readyz has ping, lease, objects");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Ping", "a b", "-a", "a\nb"})
    void check_nameWithOtherCharacters_isRefused(String name) {
        assertThatThrownBy(() -> new HealthCheck(name, Optional::empty)).isInstanceOf(IllegalArgumentException.class);
    }
}
