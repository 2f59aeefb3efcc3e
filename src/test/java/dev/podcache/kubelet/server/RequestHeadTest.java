package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestHeadTest {

    @ParameterizedTest
    @MethodSource("dev.podcache.kubelet.server.HostileRequests#heads")
    void parse_whatTwoProgramsCouldReadInTwoWays_isRefusedAndNotQuoted(String head) {
        RefusedException refused = catchThrowableOfType(RefusedException.class, () -> parse(head));

        assertThat(refused).isNotNull();
        assertThat(refused.code()).isIn(400, 413, 505);
        assertThat(refused.reason()).doesNotContain("hidden");
    }

    @ParameterizedTest
    @CsvSource({
        "Content-Length: 5, 5, false, true",
        "content-length:5, 5, false, true",
        "Transfer-Encoding: chunked, 0, true, true",
        "transfer-encoding:  CHUNKED  , 0, true, true",
        "Connection: close, 0, false, false",
        "Expect: 100-continue, 0, false, false",
        "X-Any: a\tb, 0, false, true",
        "X-Any: \u00fcmlaut, 0, false, true",
        "Upgrade: websocket, 0, false, true",
        "X-Empty:, 0, false, true"
    })
    void parse_usualHead_saysWhereTheRequestEnds(String header, long length, boolean chunked, boolean keepsAlive) {
        assertThat(parse("GET /pods?a=%20b HTTP/1.1\r\nHost: [::1]:10250\r\n" + header + "\r\n\r\n"))
                .isEqualTo(new RequestHead(length, chunked, keepsAlive));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "localhost", "worker-1.example:10250", "10.0.0.1", "[fe80::1%25eth0]:1"})
    void parse_host_isTaken(String host) {
        assertThat(parse("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n").keepsAlive())
                .isTrue();
    }

    @Test
    void parse_http10_endsTheConnectionUnlessAsked() {
        assertThat(parse("GET / HTTP/1.0\r\n\r\n").keepsAlive()).isFalse();
        assertThat(parse("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keepsAlive())
                .isTrue();
    }

    private static RequestHead parse(String head) {
        return RequestHead.parse(head.getBytes(StandardCharsets.ISO_8859_1));
    }
}
