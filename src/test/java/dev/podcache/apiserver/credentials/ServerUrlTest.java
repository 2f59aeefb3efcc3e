package dev.podcache.apiserver.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The forms are those that kubectl was asked for. */
class ServerUrlTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            https://api.example:6443          | https://api.example:6443
            HTTPS://API.example:443/          | https://API.example
            HttP://127.0.0.1:80               | http://127.0.0.1
            https://a_b.example:6443          | https://a_b.example:6443
            https://[fd00::1]:6443/a/b/       | https://[fd00::1]:6443/a/b
            https://api.example/a/?x=1#f      | https://api.example/a
            https://api.example:/a            | https://api.example/a
            localhost:8080                    | http://localhost:8080
            10.0.0.1                          | http://10.0.0.1
            https://b\u00fccher.example       | https://xn--bcher-kva.example
            https://api.example/k8s/clusters/c-m-p66 | https://api.example/k8s/clusters/c-m-p66
            """)
    void parse_whatKubectlTakes_isUnderstood(String text, String expected) {
        assertThat(ServerUrl.parse(text).map(ServerUrl::toString)).contains(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":::nonsense",
                "ftp://a",
                "https://",
                "https://a:99999",
                "https://a:b",
                "https://u:p@a",
                "a/b",
                "https://a b",
                " https://a",
                "https://[::1",
                "https://a\n",
                "https://a/\u0001",
                "https:///path"
            })
    void parse_whatKubectlRefuses_isEmpty(String text) {
        assertThat(ServerUrl.parse(text)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a", "/%20", "/"})
    void parse_longPath_takesNoStackAndNoTime(String part) {
        String text = "https://a" + part.repeat(100_000) + "/x";

        assertThat(assertTimeoutPreemptively(Duration.ofSeconds(30), () -> ServerUrl.parse(text)))
                .map(ServerUrl::toString)
                .contains(text);
    }

    @Test
    void authority_ofAnAddress_hasBracketsAndNoUsualPort() {
        assertThat(ServerUrl.parse("https://[fd00::1]:443").orElseThrow().authority())
                .isEqualTo("[fd00::1]");
    }
}
