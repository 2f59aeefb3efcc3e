package dev.podcache.apiserver.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Splitter;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import io.fabric8.kubernetes.client.Config;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The cases are those of golang.org/x/net/http/httpproxy, and what its documentation says. */
class ProxyRulesTest {

    private static final String PROXY = "http://proxy.example:3128";

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            https://localhost                 | ""                        | false
            https://127.0.0.1:6443            | ""                        | false
            https://127.0.0.2                 | ""                        | false
            https://[::1]:6443                | ""                        | false
            https://[::2]                     | ""                        | true
            https://192.168.1.1               | "192.168.1.1"             | false
            https://192.168.1.2               | "192.168.1.1"             | true
            https://192.168.1.3:6443          | "192.168.1.0/24"          | false
            https://192.168.1.4               | "192.168.1.4:443"         | false
            https://192.168.1.5:80            | "192.168.1.5:443"         | true
            https://[2001:db8::52:0:1]        | "2001:db8::52:0:1"        | false
            https://[2001:db8::52:0:2]        | "[2001:db8::52:0:2]:443"  | false
            https://[2001:db8::52:0:3]        | "[2001:db8::52:0:3]:80"   | true
            https://[2002:db8:a::123]         | "2002:db8:a::45/64"       | false
            https://[2002:db9::1]             | "2002:db8::/64"           | true
            https://foobar.com                | "foobar.com"              | false
            https://www.foobar.com            | "foobar.com"              | false
            https://foofoobar.com             | "foobar.com"              | true
            https://foobar.com                | ".foobar.com"             | true
            https://www.foobar.com            | ".foobar.com"             | false
            https://foobar.com                | "*.foobar.com"            | true
            https://www.foobar.com            | "*.foobar.com"            | false
            https://FOOBAR.com                | "Foobar.COM"              | false
            https://foobar.com                | "foobar.com:443"          | false
            https://foobar.com:6443           | "foobar.com:443"          | true
            https://www.foobar.com:6443       | ".foobar.com:6443"        | false
            https://foobar.com                | "a, foobar.com ,b"        | false
            https://foobar.com                | " , ,foobar.com"          | false
            https://foobar.com                | "*"                       | false
            https://10.0.0.1                  | "a, * ,b"                 | false
            https://foobar.com                | "*foobar.com"             | true
            https://foobar.com                | ":443"                    | true
            https://foobar.com                | "10.0.0.0/8"              | true
            https://10.1.2.3                  | "10.0.0.0/33"             | true
            https://10.1.2.3                  | "0.0.0.0/0"               | false
            https://a_b.foobar.com            | "a_b.foobar.com"          | false
            https://b\u00fccher.example       | "b\u00fccher.example"     | false
            https://foobar.com                | "foobar.com."             | true
            """)
    void ofEnvironment_noProxy_isThatOfGo(String server, @Nullable String noProxy, boolean proxied) {
        Map<String, String> environment = Map.of("HTTPS_PROXY", PROXY, "NO_PROXY", noProxy == null ? "" : noProxy);

        assertThat(ProxyRules.ofEnvironment(environment, url(server)) != null).isEqualTo(proxied);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            HTTPS_PROXY=http://a:1                           | https://x | "HTTP proxy a:1"
            https_proxy=http://a:1                           | https://x | "HTTP proxy a:1"
            HTTPS_PROXY=http://a:1 https_proxy=http://b:2    | https://x | "HTTP proxy a:1"
            HTTPS_PROXY= https_proxy=http://b:2              | https://x | "HTTP proxy b:2"
            HTTP_PROXY=http://a:1                            | https://x | ""
            HTTP_PROXY=http://a:1                            | http://x  | "HTTP proxy a:1"
            HTTPS_PROXY=http://a:1                           | http://x  | ""
            ALL_PROXY=http://a:1                             | https://x | ""
            HTTPS_PROXY=a:1                                  | https://x | "HTTP proxy a:1"
            HTTPS_PROXY=a                                    | https://x | "HTTP proxy a:80"
            HTTPS_PROXY=socks5://a                           | https://x | "SOCKS5 proxy a:1080"
            HTTPS_PROXY=https://a                            | https://x | "HTTPS proxy a:443"
            HTTPS_PROXY=HTTP://a:1/path                      | https://x | "HTTP proxy a:1"
            HTTPS_PROXY=http://[::1]:1                       | https://x | "HTTP proxy ::1:1"
            NO_PROXY=x HTTPS_PROXY=a no_proxy=y              | https://y | "HTTP proxy a:80"
            no_proxy=y HTTPS_PROXY=a                         | https://y | ""
            """)
    void ofEnvironment_variables_areThoseOfGo(String variables, String server, @Nullable String expected) {
        Map<String, String> environment = new HashMap<>();
        for (String each : Splitter.on(' ').omitEmptyStrings().split(variables)) {
            environment.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
        }
        ProxyAddress proxy = ProxyRules.ofEnvironment(environment, url(server));

        assertThat(proxy == null ? "" : proxy.toString()).isEqualTo(expected == null ? "" : expected);
    }

    @Test
    void ofEnvironment_credentials_areDecodedAndNotShown() {
        ProxyAddress proxy =
                ProxyRules.ofEnvironment(Map.of("HTTPS_PROXY", "http://us%40er:p%3Aa+s:s@a:1"), url("https://x"));

        assertThat(proxy).isEqualTo(new ProxyAddress("http", "a", 1, "us@er", "p:a+s:s"));
        assertThat(proxy).hasToString("HTTP proxy a:1");
    }

    /** Go ignores it, and connects directly. */
    @ParameterizedTest
    @ValueSource(strings = {"http://a:99999", "http://", "http://us:canary@", "http://a b"})
    void ofEnvironment_noUrl_isRefusedAndNotQuoted(String canary) {
        assertThatThrownBy(() -> ProxyRules.ofEnvironment(Map.of("https_proxy", canary), url("https://x")))
                .isInstanceOf(CredentialsException.class)
                .hasMessage("HTTPS_PROXY is not a URL with http, https or socks5: write it as http://HOST:PORT");
    }

    @Test
    void of_configuration_followsTheSameRules() {
        Config config = Config.empty();
        config.setHttpsProxy("http://a:1");
        config.setHttpProxy("socks5://b:2");
        config.setNoProxy(new String[] {" x.example , 10.0.0.0/8", ".y.example:443"});

        assertThat(ProxyRules.of(config, url("https://z.example"))).hasToString("HTTP proxy a:1");
        assertThat(ProxyRules.of(config, url("http://z.example"))).hasToString("SOCKS5 proxy b:2");
        assertThat(ProxyRules.of(config, url("https://a.x.example"))).isNull();
        assertThat(ProxyRules.of(config, url("https://10.9.9.9"))).isNull();
        assertThat(ProxyRules.of(config, url("https://a.y.example"))).isNull();
        assertThat(ProxyRules.of(config, url("https://a.y.example:6443"))).isNotNull();
    }

    private static ServerUrl url(String text) {
        return ServerUrl.parse(text).orElseThrow();
    }
}
