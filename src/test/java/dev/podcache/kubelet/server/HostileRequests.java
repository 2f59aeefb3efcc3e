package dev.podcache.kubelet.server;

import java.util.List;
import java.util.stream.Stream;

/** Heads of requests that must be refused, because another program could read them in another way. */
final class HostileRequests {

    private static final String GET = "GET /pods HTTP/1.1\r\nHost: x\r\n";

    private static final List<String> HEADERS = List.of(
            "Host: y",
            "host: x",
            "Host : x",
            "Content-Length: 5\r\nContent-Length: 5",
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: 5, 5",
            "Content-Length: +5",
            "Content-Length: -5",
            "Content-Length: 0x5",
            "Content-Length: 5 5",
            "Content-Length: 5;a",
            "Content-Length:",
            "Content-Length: 1e1",
            "Content-Length: 99999999999999999999",
            "Content-Length: 65537",
            "Content-Length : 5",
            "Content-Length\t: 5",
            "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Content-Length: 5\r\nTransfer-Encoding: x",
            "Content-Length: 5\r\nTransfer-Encoding: identity",
            "Transfer-Encoding: identity",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked, gzip",
            "Transfer-Encoding: chunked, chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            "Transfer-Encoding: xchunked",
            "Transfer-Encoding: \"chunked\"",
            "Transfer-Encoding: chunked;a=b",
            "Transfer-Encoding:",
            "Transfer-Encoding:\u000bchunked",
            "Transfer-Encoding : chunked",
            "Transfer-Encoding\r\n : chunked",
            "X: y\r\n Transfer-Encoding: chunked",
            "X: y\r\n\tfolded",
            " X: y",
            "X: y\n",
            "X: y\nTransfer-Encoding: chunked",
            "X: y\rTransfer-Encoding: chunked",
            "X: y\u0000hidden",
            "Authorization: Bearer hidden\u0001",
            "Authorization: Bearer hidden\u007f",
            "Authorization: Bearer hid\u0000den hidden",
            "Authorization: Bearer hidden\u001b[2J",
            "no colon",
            ": empty",
            "a b: c",
            "a\u0000: c",
            "\u00e4: c",
            "(x): c",
            "Upgrade: websocket\r\nContent-Length: 5",
            "Upgrade: websocket\r\nTransfer-Encoding: chunked",
            "Upgrade: h2c\r\nContent-Length: 1");

    private static final List<String> HOSTS =
            List.of("a b", "a/b", "a@b", "a\\b", "a?b", "a#b", "\"a\"", "<a>", "a,b/", "a\u0000", "{a}", "a|b");

    private static final List<String> REQUEST_LINES = List.of(
            "",
            "GET",
            "GET /",
            "GET  / HTTP/1.1",
            "GET / HTTP/1.1 ",
            " GET / HTTP/1.1",
            "GET /a b HTTP/1.1",
            "GET /\thidden HTTP/1.1",
            "GET /\u0000 HTTP/1.1",
            "GET / HTTP/1.1\rX: y",
            "GET / HTTP/1.1\nX: y",
            "GET / HTTP/2.0",
            "GET / HTTP/0.9",
            "GET / HTTP/1.2",
            "GET / HTTP/11",
            "GET / http/1.1",
            "GET / HTTP/1.1x",
            "G(T / HTTP/1.1",
            "G\u0000T / HTTP/1.1",
            "PRI * HTTP/2.0",
            "GET / SPDY/3.1",
            "GETGETGETGETGETGETGETGETGETGETGETGET / HTTP/1.1");

    private HostileRequests() {}

    static Stream<String> heads() {
        Stream<String> headers = HEADERS.stream().map(header -> GET + header + "\r\n\r\n");
        Stream<String> hosts = HOSTS.stream().map(host -> "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        Stream<String> lines = REQUEST_LINES.stream().map(line -> line + "\r\nHost: x\r\n\r\n");
        Stream<String> http10 = Stream.of("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n");
        return Stream.of(headers, hosts, lines, http10).flatMap(all -> all);
    }
}
