package dev.podcache.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** An API server by plain HTTP, through the JDK's client: no code of ours or of fabric8 can be in the way. */
public final class RawApi {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(Patience.SECONDS);

    private final String url;
    private final HttpClient client;

    /** An answer; its body is a missing node if it is no JSON. */
    public record Reply(int code, JsonNode body) {

        /** The text at a JSON pointer, or "". */
        public String text(String pointer) {
            return body.at(pointer).asText();
        }

        /** The body's resourceVersion. */
        public long version() {
            return Long.parseLong(text("/metadata/resourceVersion"));
        }
    }

    /** The events of a watch, one at a time. Closing it gives the watch up. */
    public static final class Events implements AutoCloseable {

        private final BufferedReader lines;

        private Events(InputStream stream) {
            lines = new BufferedReader(new InputStreamReader(stream, UTF_8));
        }

        /** Waits for the next one; null at the end of the stream. */
        public @Nullable JsonNode nextOrEnd() throws IOException {
            String line = lines.readLine();
            return line == null ? null : JSON.readTree(line);
        }

        /** Waits for the next one, which there must be. */
        public JsonNode next() throws IOException {
            JsonNode event = nextOrEnd();
            if (event == null) {
                throw new AssertionError("the watch has ended");
            }
            return event;
        }

        @Override
        public void close() throws IOException {
            lines.close();
        }
    }

    private RawApi(String url, HttpClient client) {
        this.url = url;
        this.client = client;
    }

    /** A server without TLS. */
    public static RawApi of(String url) {
        return new RawApi(url, HttpClient.newHttpClient());
    }

    /** A server with TLS, for which {@code tls} has the credentials. */
    public static RawApi of(String url, SSLContext tls) {
        return new RawApi(url, HttpClient.newBuilder().sslContext(tls).build());
    }

    public Reply get(String path) throws IOException, InterruptedException {
        return send("GET", path, "", "");
    }

    public Reply post(String path, String json) throws IOException, InterruptedException {
        return send("POST", path, "application/json", json);
    }

    public Reply put(String path, String json) throws IOException, InterruptedException {
        return send("PUT", path, "application/json", json);
    }

    public Reply patch(String path, String mediaType, String patch) throws IOException, InterruptedException {
        return send("PATCH", path, mediaType, patch);
    }

    /** Deletes with these options, none if empty. */
    public Reply delete(String path, String options) throws IOException, InterruptedException {
        return send("DELETE", path, options.isEmpty() ? "" : "application/json", options);
    }

    /** Opens a watch, which must be accepted. */
    public Events watch(String path) throws IOException, InterruptedException {
        HttpResponse<InputStream> response = client.send(request(path).build(), BodyHandlers.ofInputStream());
        if (response.statusCode() != 200) {
            throw new AssertionError("watch refused with " + response.statusCode() + ": "
                    + new String(response.body().readAllBytes(), UTF_8));
        }
        return new Events(response.body());
    }

    private Reply send(String method, String path, String mediaType, String body)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                request(path).method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (!mediaType.isEmpty()) {
            request.header("Content-Type", mediaType);
        }
        HttpResponse<byte[]> response = client.send(request.build(), BodyHandlers.ofByteArray());
        boolean json = response.headers().firstValue("Content-Type").orElse("").startsWith("application/json");
        return new Reply(response.statusCode(), json ? JSON.readTree(response.body()) : JSON.missingNode());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url + path)).timeout(PATIENCE).header("Accept", "application/json");
    }
}
