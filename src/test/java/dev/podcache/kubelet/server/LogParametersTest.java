package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of upstream's {@code getContainerLogs} and {@code ValidatePodLogOptions}. */
class LogParametersTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    @Test
    void query_empty_asksForAllOutput() {
        LogParameters parameters = of("");

        assertThat(parameters.options()).isEqualTo(LogOptions.ALL);
        assertThat(parameters.limitBytes()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "tailLines=-1, 422, tailLines must be 0 or greater",
        "tail=-1, 422, tail must be 0 or greater",
        "tailLines=some, 400, tailLines is not an integer",
        "tailLines=1.5, 400, tailLines is not an integer",
        "tailLines=99999999999999999999, 400, tailLines is not an integer",
        "sinceSeconds=0, 422, sinceSeconds must be greater than 0",
        "sinceSeconds=-3, 422, sinceSeconds must be greater than 0",
        "sinceSeconds=x, 400, sinceSeconds is not an integer",
        "sinceTime=yesterday, 400, sinceTime is not a time in RFC 3339 format",
        "sinceTime=2025-12-31, 400, sinceTime is not a time in RFC 3339 format",
        "sinceSeconds=1&sinceTime=2025-12-31T00:00:00Z, 422, at most one of sinceTime and sinceSeconds may be specified",
        "limitBytes=0, 422, limitBytes must be greater than 0",
        "limitBytes=-1, 422, limitBytes must be greater than 0",
        "limitBytes=1k, 400, limitBytes is not an integer",
        "stream=Stdout, 422, stream must be All: this node keeps standard output and standard error together"
    })
    void parameter_invalid_isRefused(String query, int code, String why) {
        RefusedException refusal =
                Objects.requireNonNull(catchThrowableOfType(RefusedException.class, () -> of(query)));

        assertThat(refusal.code()).isEqualTo(code);
        assertThat(refusal)
                .hasMessage("{\"message\": \"" + (code == 400 ? "Unable to decode query: " : "Invalid request: ") + why
                        + ".\"}");
    }

    @ParameterizedTest
    @CsvSource({"true, true", "1, true", "yes, true", "'', true", "false, false", "FALSE, false", "0, false"})
    void flag_isReadAsApimachineryDoes(String text, boolean expected) {
        assertThat(of("follow=" + text).options().follow()).isEqualTo(expected);
        assertThat(of("previous=" + text).options().previous()).isEqualTo(expected);
        assertThat(of("timestamps=" + text).options().timestamps()).isEqualTo(expected);
    }

    @Test
    void tail_isAnOlderNameOfTailLines_andWins() {
        assertThat(of("tailLines=0").options().tailLines()).hasValue(0);
        assertThat(of("tail=5&tailLines=7").options().tailLines()).hasValue(5);
        assertThat(of("tail=all&tailLines=7").options().tailLines()).isEmpty();
        assertThat(of("tail=&tailLines=7").options().tailLines()).hasValue(7);
    }

    @Test
    void since_isATime() {
        assertThat(of("sinceSeconds=60").options().since()).contains(NOW.minusSeconds(60));
        assertThat(of("sinceSeconds=9223372036854775807").options().since()).contains(Instant.EPOCH);
        assertThat(of("sinceTime=2025-12-31T01:00:00+01:00").options().since())
                .contains(Instant.parse("2025-12-31T00:00:00Z"));
        assertThat(of("limitBytes=1&stream=All").limitBytes()).hasValue(1);
    }

    private static LogParameters of(String query) {
        return LogParameters.of(Requested.get("/containerLogs/shop/web/main?" + query), NOW);
    }
}
