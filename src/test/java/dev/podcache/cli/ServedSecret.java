package dev.podcache.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The program of a container: a web server on the loopback address that answers with the content of a file, read anew
 * each time, and prints a line per request. {@code /crash} ends it with {@link #CRASHED}.
 */
final class ServedSecret {

    static final int CRASHED = 7;

    private ServedSecret() {}

    /** Returns the command that runs it. It needs no other class. */
    static List<String> command(Path mark, int port, String file) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dmark=" + mark,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                Path.of(ServedSecret.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .getPath())
                        .toString(),
                ServedSecret.class.getName(),
                Integer.toString(port),
                file);
    }

    public static void main(String[] arguments) throws IOException {
        Path file = Path.of(arguments[1]);
        HttpServer server = HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0])), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                answer(exchange, file);
            }
        });
        server.start();
        System.out.println("serving " + file);
    }

    private static void answer(HttpExchange exchange, Path file) throws IOException {
        String path = exchange.getRequestURI().getPath();
        System.out.println("GET " + path);
        if (path.equals("/crash")) {
            Runtime.getRuntime().halt(CRASHED);
        }
        byte[] body = path.equals("/healthz") ? "ok".getBytes(StandardCharsets.UTF_8) : Files.readAllBytes(file);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
    }
}
