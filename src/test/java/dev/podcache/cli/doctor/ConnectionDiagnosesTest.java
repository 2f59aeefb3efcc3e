package dev.podcache.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.http.ConnectionFacts;
import dev.podcache.cli.doctor.Diagnosis.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectionDiagnosesTest {

    private static final Instant NOW = Instant.parse("2026-11-23T06:00:00Z");
    private static final String VERSION = "{\"gitVersion\": \"v1.36.0\"}";

    private int status = 200;
    private String body = VERSION;
    private @Nullable String date = at(0);
    private boolean http2 = true;
    private boolean offered = true;
    private int streams = 100;
    private boolean watches = true;

    @ParameterizedTest
    @CsvSource({"1, PROBLEM", "99, PROBLEM", "100, OK", "250, OK", "1000, OK"})
    void http2_streamLimit_isAProblemBelow100(int limit, Level level) {
        streams = limit;

        assertThat(diagnosis("http2").level()).isEqualTo(level);
        assertThat(diagnosis("http2").what()).contains(limit == 1000 ? "1000 streams or more" : limit + " streams");
    }

    @Test
    void http2_withoutWatches_isANote() {
        watches = false;
        streams = 10;

        assertThat(diagnosis("http2").level()).isEqualTo(Level.NOTE);
    }

    @ParameterizedTest
    @CsvSource({"true, only HTTP/1.1 is spoken by the server", "false, this side does not offer it"})
    void http2_notUsed_saysWhichSide(boolean offers, String what) {
        http2 = false;
        offered = offers;

        assertThat(diagnosis("http2").isProblem()).isTrue();
        assertThat(diagnosis("http2").what()).contains(what);
    }

    @ParameterizedTest
    @CsvSource({"-3600, PROBLEM", "-31, PROBLEM", "-20, NOTE", "-4, OK", "0, OK", "4, OK", "20, NOTE", "32, PROBLEM"})
    void clock_difference_isJudgedBySize(long seconds, Level level) {
        date = at(seconds);

        assertThat(diagnosis("clock").level()).isEqualTo(level);
        if (level != Level.OK) {
            assertThat(diagnosis("clock").what()).contains(seconds > 0 ? "behind" : "ahead of");
        }
    }

    @ParameterizedTest
    @CsvSource(
            value = {"null", "yesterday", "''"},
            nullValues = "null")
    void clock_noReadableDate_isANote(@Nullable String header) {
        date = header;

        assertThat(diagnosis("clock").level()).isEqualTo(Level.NOTE);
    }

    @Test
    void server_version_isShown() {
        assertThat(diagnosis("server"))
                .isEqualTo(Diagnosis.ok("server", "https://example.dev runs Kubernetes v1.36.0"));
    }

    @ParameterizedTest
    @CsvSource({"404, PROBLEM", "200, PROBLEM", "502, PROBLEM", "401, OK", "403, OK"})
    void server_noVersion_isAProblemUnlessItIsRefused(int code, Level level) {
        status = code;
        body = "<html>";

        assertThat(diagnosis("server").level()).isEqualTo(level);
    }

    private Diagnosis diagnosis(String check) {
        ConnectionFacts facts = new ConnectionFacts(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 6443),
                Optional.empty(),
                http2,
                offered,
                streams,
                new ConnectionFacts.VersionAnswer(status, date, NOW, NOW.plusMillis(10), body));
        return new ConnectionDiagnoses("https://example.dev", watches, 3)
                .of(facts).stream()
                        .filter(each -> each.check().equals(check))
                        .findFirst()
                        .orElseThrow();
    }

    private static String at(long seconds) {
        return DateTimeFormatter.RFC_1123_DATE_TIME.format(
                NOW.plusSeconds(seconds).atOffset(ZoneOffset.UTC));
    }
}
