package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.CachedReviews;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import dev.podcache.testing.TestCertificates;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Many requests of each kind, of which none may get past authentication and authorization. */
@Slow
@ExtendWith(NoLeaks.class)
class EndpointSweepTest {

    private static final List<String> METHODS =
            List.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");

    /** With the subresources of which one is needed. */
    private static final List<List<String>> PATHS = List.of(
            List.of("/healthz", "healthz", "proxy"),
            List.of("/healthz/node", "healthz", "proxy"),
            List.of("/livez", "healthz", "proxy"),
            List.of("/readyz", "healthz", "proxy"),
            List.of("/configz", "configz", "proxy"),
            List.of("/statusz", "statusz", "proxy"),
            List.of("/flagz", "flagz", "proxy"),
            List.of("/pods", "pods", "proxy"),
            List.of("/runningpods", "pods", "proxy"),
            List.of("/metrics", "metrics"),
            List.of("/metrics/resource", "metrics"),
            List.of("/metrics/cadvisor", "metrics"),
            List.of("/metrics/probes", "metrics"),
            List.of("/stats/summary", "stats"),
            List.of("/debug/objects", "proxy"),
            List.of("/ui", "proxy"),
            List.of("/ui/state", "proxy"),
            List.of("/containerLogs/shop/web/main", "proxy"),
            List.of("/exec/shop/web/main?command=ls&output=1", "proxy"),
            List.of("/attach/shop/web/main?output=1", "proxy"),
            List.of("/portForward/shop/web?port=1", "proxy"),
            List.of("/run/shop/web/main", "proxy"),
            List.of("/none", "proxy"));

    private static final List<String> SUBRESOURCES = List.of(
            "healthz", "configz", "statusz", "flagz", "pods", "metrics", "stats", "log", "proxy", "spec", "checkpoint");

    private static final List<String> CREDENTIALS = List.of(
            "",
            "Authorization: Bearer\r\n",
            "Authorization: Bearer unknown\r\n",
            "Authorization: Basic Z29vZDpnb29k\r\n",
            "Authorization: good\r\n",
            "X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n",
            "Impersonate-User: admin\r\n");

    private static final Pattern STATUS = Pattern.compile("^HTTP/1\\.1 (\\d{3}) ");

    @TempDir
    Path folder;

    private ServerFixture fixture;

    @BeforeEach
    void start() throws IOException {
        fixture = new ServerFixture(folder);
    }

    @AfterEach
    void close() {
        assertThat(fixture.runtime.commands).isEmpty();
        assertThat(fixture.runtime.attached).isEmpty();
        assertThat(fixture.runtime.forwarded).isEmpty();
        assertThat(fixture.runtime.logged).isEmpty();
        fixture.close();
    }

    private static int status(String answer) {
        Matcher status = STATUS.matcher(answer);
        assertThat(status.find()).as(answer).isTrue();
        return Integer.parseInt(status.group(1));
    }

    private RawClient client(SSLContext tls) throws IOException {
        return RawClient.tls(tls, fixture.server.port());
    }

    /** Sends requests over as few connections as the server allows; HEAD has no body to read. */
    private List<Integer> statuses(SSLContext tls, List<String> requests) throws IOException {
        List<Integer> statuses = new ArrayList<>();
        RawClient client = client(tls);
        for (String request : requests) {
            String answer =
                    request.startsWith("HEAD") ? "" : client.send(request).answer();
            if (answer.isEmpty()) {
                client.close();
                client = client(tls);
                answer = client.send(request).head();
                client.close();
                client = client(tls);
            }
            statuses.add(status(answer));
            String head = answer.toLowerCase(Locale.ROOT);
            if (head.contains("connection: close") || head.contains("transfer-encoding: chunked")) {
                client.close();
                client = client(tls);
            }
        }
        client.close();
        return statuses;
    }

    private static String request(String method, String path, String headers) {
        return method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers + "\r\n";
    }

    @Test
    void requests_withoutCredentials_areRefusedWhateverTheyAskFor() throws Exception {
        List<String> requests = new ArrayList<>();
        for (String method : METHODS) {
            for (List<String> path : PATHS) {
                CREDENTIALS.forEach(credentials -> requests.add(request(method, path.get(0), credentials)));
            }
        }
        assertThat(requests).hasSizeGreaterThan(812);

        assertThat(new LinkedHashSet<>(statuses(ServerFixture.withoutCertificate(), requests)))
                .isSubsetOf(401, 429);
        assertThat(fixture.reviews.accesses).isEmpty();
    }

    @Test
    void requests_withASingleSubresource_areAllowedOnlyThat() throws Exception {
        int asked = 0;
        for (String subresource : SUBRESOURCES) {
            for (String verb : List.of("get", "create", "update", "delete")) {
                fixture.clock.advance(CachedReviews.ALLOWED_FOR);
                fixture.reviews.allowed = (user, access) -> access.subresource().equals(subresource)
                        && access.verb().equals(verb);
                List<String> requests = new ArrayList<>();
                for (List<String> path : PATHS) {
                    requests.add(request("GET", path.get(0), ""));
                }
                List<Integer> statuses = statuses(ServerFixture.tlsAs("reader"), requests);
                for (int i = 0; i < PATHS.size(); i++) {
                    List<String> path = PATHS.get(i);
                    boolean command = path.get(0).matches("/(exec|attach|portForward|run)/.*");
                    boolean allowed = path.subList(1, path.size()).contains(subresource)
                            && verb.equals(command ? "create" : "get");
                    assertThat(statuses.get(i) == 403)
                            .as("%s with %s of nodes/%s", path.get(0), verb, subresource)
                            .isEqualTo(!allowed);
                    asked++;
                }
            }
        }
        fixture.runtime.logged.clear();
        assertThat(asked).isGreaterThan(672);
    }

    /** Whatever the path is made to look like: with the permission on metrics alone nothing else is answered. */
    @Test
    void paths_thatLookLikeAnother_areAnsweredOnlyWhatIsAllowed() throws Exception {
        fixture.reviews.allowed = (user, access) -> access.subresource().equals("metrics");
        Set<String> paths = new LinkedHashSet<>();
        List<String> tricks = List.of(
                "/metrics/..",
                "/metrics/../",
                "/metrics/%2e%2e",
                "/metrics/%2E%2E",
                "/metrics%2f..",
                "/metrics/..;",
                "/metrics/.",
                "/metrics//",
                "//metrics",
                "/./metrics",
                "/%6detrics",
                "/metrics;x",
                "/metrics%00",
                "/metrics%20",
                "/metrics\\",
                "/metrics\\..",
                "/metrics/%5c..",
                "/metrics/..%2f",
                "/metrics/..%5c",
                "/metrics/..%252f",
                "/Metrics",
                "/metrics/%c0%ae%c0%ae",
                "/metrics/\u00e4",
                "/metrics%0d%0a",
                "http://x/metrics/..",
                "https://127.0.0.1/metrics/..",
                "*",
                "/metrics?x=/..",
                "/metrics#/..",
                "/metrics/%zz",
                "/",
                "",
                "/%2f",
                "/.",
                "/..",
                "/metrics/resource/..",
                "/metrics/resource/../..",
                "/stats/../metrics/..",
                "/metrics/./..");
        for (String trick : tricks) {
            for (List<String> path : PATHS) {
                paths.add(trick + path.get(0));
                paths.add(path.get(0) + trick);
            }
        }
        assertThat(paths).hasSizeGreaterThanOrEqualTo(1500);
        List<String> requests = new ArrayList<>();
        for (String path : paths) {
            requests.add(request("GET", path, ""));
            if (requests.size() % 10 == 0) {
                requests.add(request("POST", path, ""));
            }
        }
        assertThat(requests).hasSizeGreaterThan(1642);

        List<Integer> statuses = statuses(ServerFixture.tlsAs("reader"), requests);

        for (int i = 0; i < requests.size(); i++) {
            if (statuses.get(i) == 200) {
                // what is allowed
                assertThat(requests.get(i))
                        .containsPattern("^\\w+ [^ ]*/metrics(/resource|/cadvisor|/probes)?/?([?#][^ ]*)? ");
            } else {
                assertThat(statuses.get(i)).as(requests.get(i)).isIn(400, 403, 404, 405);
            }
        }
    }

    @Test
    void certificates_thatTheAuthorityHasNotSignedForNow_areNoCredentials() throws Exception {
        TestCertificates other = TestCertificates.another();
        List<SSLContext> strangers = new ArrayList<>();
        for (String user : List.of("reader", "system:admin", "kube-apiserver-kubelet-client", "a,O=system:masters")) {
            strangers.add(other.tlsAs(user));
            strangers.add(other.tlsAs(user, "system:masters"));
            strangers.add(UncheckedTls.with());
        }
        assertThat(strangers).hasSizeGreaterThanOrEqualTo(12);

        for (SSLContext tls : strangers) {
            try (RawClient client = client(tls)) {
                assertThat(client.send(request("GET", "/pods", "")).answer()).startsWith("HTTP/1.1 401 ");
            } catch (IOException refusedByTls) {
                // as good
            }
        }
        assertThat(fixture.reviews.accesses).isEmpty();
    }

    @Test
    void names_ofPodsAndContainers_areNeverMoreThanNames() throws Exception {
        List<String> names = List.of(
                "..",
                ".",
                "%2e%2e",
                "..%2f..",
                "%2fetc%2fpasswd",
                "web%00",
                "web%0a",
                "web%0d%0aX:y",
                "web;ls",
                "web%7cls",
                "$(ls)",
                "%60ls%60",
                "web'",
                "web%22",
                "web%20",
                "-web",
                "--help",
                "*",
                "web%2fmain",
                "main%2f..%2f..",
                "%3cscript%3e",
                "%24%7bjndi:ldap://x%7d",
                "{web}",
                "%252e%252e");
        assertThat(names).hasSizeGreaterThanOrEqualTo(22);
        List<String> requests = new ArrayList<>();
        for (String name : names) {
            for (String path :
                    List.of("/containerLogs/shop/web/", "/containerLogs/", "/exec/shop/web/", "/attach/shop/web/")) {
                String rest = path.equals("/containerLogs/") ? "/web/main" : "?command=ls&output=1";
                requests.add(request("GET", path + name + rest, ""));
            }
        }

        for (int status : statuses(ServerFixture.tlsAs("reader"), requests)) {
            assertThat(status).isIn(400, 404);
        }
    }

    @Test
    void webSockets_withoutAValidHandshake_runNothing() throws Exception {
        List<String> handshakes = new ArrayList<>();
        for (String connection : List.of("Connection: Upgrade\r\n", "Connection: close\r\n", "")) {
            for (String version : List.of("", "Sec-WebSocket-Version: 12\r\n", "Sec-WebSocket-Version: x\r\n")) {
                for (String protocol :
                        List.of("", "Sec-WebSocket-Protocol: x\r\n", "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n")) {
                    handshakes.add(connection + "Upgrade: websocket\r\n" + version + protocol);
                }
            }
        }
        handshakes.add("Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n");
        handshakes.add("Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n");
        handshakes.add("Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n");
        assertThat(handshakes).hasSizeGreaterThanOrEqualTo(22);

        for (String handshake : handshakes) {
            try (RawClient client = client(ServerFixture.tlsAs("reader"))) {
                String answer = client.send(request("GET", "/exec/shop/web/main?command=ls&output=1", handshake))
                        .answer();
                assertThat(answer)
                        .as(handshake)
                        .doesNotStartWith("HTTP/1.1 101")
                        .doesNotStartWith("HTTP/1.1 200");
            }
        }
        HttpResponse<String> posted = fixture.send(fixture.request("/exec/shop/web/main?command=ls&output=1")
                .POST(BodyPublishers.ofString("x"))
                .header("Authorization", "Bearer good"));
        assertThat(posted.statusCode()).isEqualTo(400);
    }

    @Test
    void hosts_ofOtherMachines_areRefusedByThePage() throws Exception {
        List<String> hosts = new ArrayList<>();
        for (String name : List.of("localhost", "127.0.0.1", "[::1]")) {
            for (String after : List.of(
                    ".",
                    ".evil.example",
                    "evil",
                    "-",
                    ":",
                    ":x",
                    ":-1",
                    ":123456",
                    ":80:80",
                    "@evil.example",
                    "/",
                    "%00",
                    "\\",
                    "#")) {
                hosts.add(name + after);
            }
            for (String before : List.of("evil.", "evil@", "x", "-", ".", "evil.example/", "http://")) {
                hosts.add(before + name);
            }
        }
        hosts.addAll(List.of(
                "evil.example",
                "",
                "127.0.0.2",
                "127.1",
                "2130706433",
                "0x7f000001",
                "0177.0.0.1",
                "0.0.0.0",
                "[::]",
                "[::ffff:127.0.0.1]",
                "[0:0:0:0:0:0:0:1]",
                "::1",
                "[::1",
                "::1]",
                "10.0.0.1",
                "localhost.localdomain",
                "ip6-localhost",
                "127.0.0.1.nip.io",
                "localtest.me",
                "LOCALHOST.",
                "127.0.0.1,evil.example",
                "evil.example,127.0.0.1",
                "*",
                "null",
                "undefined",
                "worker-1",
                "127.0.0.1.",
                "127.000.000.001",
                "127.0.0.01",
                "%6cocalhost",
                "l\u00f6calhost",
                "localhost\u00a0",
                "kubernetes.default.svc",
                "169.254.169.254",
                "[fe80::1]",
                "[::1%25lo]",
                "127.0.0",
                "127",
                "1",
                "::",
                "[]",
                "[",
                "]",
                "localhost,",
                ",localhost",
                "a:80",
                ":80",
                ":",
                "127.0.0.1:",
                "xn--localhost",
                "LOCAL HOST",
                "local\thost",
                "localhost;",
                "'localhost'",
                "\"localhost\"",
                "<localhost>",
                "localhost?",
                "localhost&",
                "localhost=",
                "localhost+",
                "localhost!",
                "localhost$",
                "localhost~"));
        assertThat(hosts).hasSizeGreaterThanOrEqualTo(125);
        FakeView view = new FakeView();
        try (PageServer page = PageServer.start(view, 0)) {
            int port = URI.create(page.url()).getPort();
            for (String host : hosts) {
                try (RawClient client = RawClient.plain(port)) {
                    assertThat(client.send("GET /ui/state HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                                    .answer())
                            .as(host)
                            .containsPattern("^HTTP/1.1 (400|403) ");
                }
            }
        } finally {
            view.cache.close();
        }
    }
}
