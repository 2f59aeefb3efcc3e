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
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * An API server over plain HTTP, through the HTTP client of the JDK. No code of this library or of fabric8 is involved.
 */
public final class RawApi {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(Patience.SECONDS);

    private final String url;
    private final HttpClient client;
    private final List<String> headers;

    /** A response. The body is a missing node if it is not JSON. */
    public record Reply(int code, JsonNode body) {

        /** Returns the text at a JSON pointer, or "". */
        public String text(String pointer) {
            return body.at(pointer).asText();
        }

        /** Returns the resourceVersion of the body. */
        public long version() {
            return Long.parseLong(text("/metadata/resourceVersion"));
        }
    }

    /** The events of a watch, read one at a time. Closing it ends the watch. */
    public static final class Events implements AutoCloseable {

        private final BufferedReader lines;

        private Events(InputStream stream) {
            lines = new BufferedReader(new InputStreamReader(stream, UTF_8));
        }

        /** Waits for the next event. Returns null at the end of the watch. */
        public @Nullable JsonNode nextOrEnd() throws IOException {
            String line = lines.readLine();
            return line == null ? null : JSON.readTree(line);
        }

        /**
         * Waits for the next event.
         *
         * @throws AssertionError if the watch ends
         */
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

    private RawApi(String url, HttpClient client, List<String> headers) {
        this.url = url;
        this.client = client;
        this.headers = headers;
    }

    /** Connects to a server without TLS. */
    public static RawApi of(String url) {
        return new RawApi(url, HttpClient.newHttpClient(), List.of());
    }

    /** Connects to a server with TLS; {@code tls} has the credentials. */
    public static RawApi of(String url, SSLContext tls) {
        return new RawApi(url, HttpClient.newBuilder().sslContext(tls).build(), List.of());
    }

    /** Returns the same connection with one more header in each request. A header can be added several times. */
    public RawApi with(String header, String value) {
        List<String> more = new ArrayList<>(headers);
        more.add(header);
        more.add(value);
        return new RawApi(url, client, List.copyOf(more));
    }

    /** Sends a GET. */
    public Reply get(String path) throws IOException, InterruptedException {
        return send("GET", path, "", "");
    }

    /** Sends a POST. */
    public Reply post(String path, String json) throws IOException, InterruptedException {
        return send("POST", path, "application/json", json);
    }

    /** Sends a PUT. */
    public Reply put(String path, String json) throws IOException, InterruptedException {
        return send("PUT", path, "application/json", json);
    }

    /** Sends a PATCH with the media type of the patch. */
    public Reply patch(String path, String mediaType, String patch) throws IOException, InterruptedException {
        return send("PATCH", path, mediaType, patch);
    }

    /** Sends a DELETE; {@code options} is the body, or empty for no body. */
    public Reply delete(String path, String options) throws IOException, InterruptedException {
        return send("DELETE", path, options.isEmpty() ? "" : "application/json", options);
    }

    /**
     * Opens a watch.
     *
     * @throws AssertionError if the server refuses it
     */
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
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(url + path)).timeout(PATIENCE).header("Accept", "application/json");
        for (int i = 0; i < headers.size(); i += 2) {
            request.header(headers.get(i), headers.get(i + 1));
        }
        return request;
    }
}
