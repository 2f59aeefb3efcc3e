package dev.podcache.embedded;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Bytes;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.HostileJson;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Collections;
import java.util.Random;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests that no client would send: told so with a 4xx, or cut off, and the next good one is served. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class HostileRequestsTest {

    private static final String SECRETS = "/api/v1/namespaces/shop/secrets";
    private static final byte[] BODY =
            Serialization.asJson(Secrets.of("shop", "db", "v1")).getBytes(UTF_8);
    private static final byte[] PATCH =
            "{\"metadata\":{\"labels\":{\"a\":\"b\"},\"$setElementOrder/finalizers\":[\"x\"],\"finalizers\":[\"x\"]},\"data\":{\"k\":\"djE=\"}}"
                    .getBytes(UTF_8);
    private static final byte[] OPERATIONS =
            "[{\"op\":\"add\",\"path\":\"/data/x\",\"value\":\"djE=\"},{\"op\":\"remove\",\"path\":\"/data/value\"}]"
                    .getBytes(UTF_8);

    private static final ImmutableList<String> REQUEST_LINES = ImmutableList.of(
            "GET /%zz HTTP/1.1",
            "GET /api/v1/namespaces/%zz/secrets HTTP/1.1",
            "GET /api/v1/namespaces/shop/secrets/% HTTP/1.1",
            "GET /api/v1/namespaces/%ff%fe/secrets/%00 HTTP/1.1",
            "GET /api/v1/namespaces/shop/secrets/.. HTTP/1.1",
            "GET /api/v1/namespaces/shop/secrets?fieldSelector=%zz HTTP/1.1",
            "GET /api/v1/namespaces/shop/secrets?fieldSelector===,!=,=,,, HTTP/1.1",
            "GET /api/v1/namespaces/shop/secrets?labelSelector=a%20in%20( HTTP/1.1",
            "GET /api/v1/namespaces/shop/secrets?watch=true&timeoutSeconds=99999999999999999999 HTTP/1.1",
            "GET ////////// HTTP/1.1",
            "GET * HTTP/1.1",
            "OPTIONS * HTTP/1.1",
            "CONNECT /api/v1/nodes HTTP/1.1",
            "BREW /api/v1/nodes HTTP/1.1",
            "get /api/v1/nodes HTTP/1.1",
            "GET /api/v1/nodes/x HTTP/9.9",
            "GET",
            "\0\1\2\3",
            "DELETE /api/v1/namespaces/shop/secrets HTTP/1.1",
            "DELETE /api/v1/namespaces/shop/secrets/nobody?gracePeriodSeconds=-1 HTTP/1.1",
            "PUT /api/v1/namespaces/shop/secrets/known HTTP/1.1",
            "PATCH /api/v1/namespaces/shop/secrets/known HTTP/1.1");

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final HttpClient client = HttpClient.newHttpClient();
    private EmbeddedApiServer server;

    @BeforeEach
    void start() {
        server = EmbeddedApiServer.start(cluster);
        cluster.create(Secrets.of("shop", "known", "v1"));
    }

    @AfterEach
    void stop() {
        server.close();
        cluster.close();
        timekeeper.close();
    }

    @Test
    void requestLine_thatMakesNoSense_isRefused() throws IOException {
        for (String line : REQUEST_LINES) {
            requireRefused(
                    (line + "\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").getBytes(ISO_8859_1));
        }
    }

    @Test
    void requestLine_veryLong_isRefused() throws IOException {
        requireRefused(("GET /" + "a/".repeat(1 << 20) + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(ISO_8859_1));
        requireRefused(("GET " + "/a".repeat(8000) + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(ISO_8859_1));
    }

    @Test
    void headers_thatMakeNoSense_areRefused() throws IOException {
        String get = "POST " + SECRETS + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
        requireRefused((get + "X: " + "y".repeat(1 << 20) + "\r\n\r\n").getBytes(ISO_8859_1));
        requireRefused((get + "Content-Length: -1\r\n\r\n{}").getBytes(ISO_8859_1));
        requireRefused((get + "Content-Length: ten\r\n\r\n{}").getBytes(ISO_8859_1));
        requireRefused((get + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}").getBytes(ISO_8859_1));
        requireRefused((get + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}").getBytes(ISO_8859_1));
        requireRefused((get + "Content-Type: ;;;\r\nContent-Length: 2\r\n\r\n{}").getBytes(ISO_8859_1));
    }

    /** More than is kept in memory, and never looked at. */
    @Test
    void body_ofAHundredMegabytes_isRefused() throws Exception {
        byte[] chunk = new byte[1 << 20];
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + SECRETS))
                .POST(BodyPublishers.ofByteArrays(Collections.nCopies(100, chunk)))
                .build();

        assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(413);
        requireServing();
    }

    @Test
    void create_mutatedBody_isDoneOrRefused() throws Exception {
        for (int seed = 0; seed < 200; seed++) {
            requireNoServerError("POST", SECRETS, "application/json", HostileJson.mutated(BODY, seed));
        }
        requireServing();
    }

    @Test
    void create_eachValueReplaced_isDoneOrRefused() throws Exception {
        for (String value : HostileJson.VALUES) {
            for (byte[] body : HostileJson.withEachValueReplaced(BODY, value)) {
                requireNoServerError("POST", SECRETS, "application/json", body);
            }
        }
        requireServing();
    }

    @Test
    void patch_mutatedBody_isDoneOrRefused() throws Exception {
        for (int seed = 0; seed < 200; seed++) {
            byte[] patch = HostileJson.mutated(PATCH, seed);
            requireNoServerError("PATCH", SECRETS + "/known", "application/strategic-merge-patch+json", patch);
            requireNoServerError("PATCH", SECRETS + "/known", "application/merge-patch+json", patch);
            requireNoServerError(
                    "PATCH", SECRETS + "/known", "application/json-patch+json", HostileJson.mutated(OPERATIONS, seed));
        }
        requireServing();
    }

    @Test
    void patch_eachValueReplaced_isDoneOrRefused() throws Exception {
        for (String value : HostileJson.VALUES) {
            for (byte[] patch : HostileJson.withEachValueReplaced(PATCH, value)) {
                requireNoServerError("PATCH", SECRETS + "/known", "application/strategic-merge-patch+json", patch);
            }
            for (byte[] patch : HostileJson.withEachValueReplaced(OPERATIONS, value)) {
                requireNoServerError("PATCH", SECRETS + "/known", "application/json-patch+json", patch);
            }
        }
        requireServing();
    }

    @Test
    void create_protobufOfNoise_isRefused() throws Exception {
        byte[] magic = {'k', '8', 's', 0};
        Random random = new Random(7);
        for (int i = 0; i < 300; i++) {
            byte[] noise = new byte[random.nextInt(40)];
            random.nextBytes(noise);
            for (int at = 0; at < noise.length; at += 3) {
                // small tags and lengths lead deeper into the message
                noise[at] = (byte) (noise[at] & 0x1f);
            }
            requireNoServerError("POST", SECRETS, ProtobufBody.MEDIA_TYPE, Bytes.concat(magic, noise));
        }
        requireServing();
    }

    @Test
    void delete_optionsOfAnyShape_isDoneOrRefused() throws Exception {
        for (String value : HostileJson.VALUES) {
            requireNoServerError("DELETE", SECRETS + "/nobody", "application/json", value.getBytes(UTF_8));
            requireNoServerError(
                    "DELETE",
                    SECRETS + "/nobody",
                    "application/json",
                    ("{\"gracePeriodSeconds\":" + value + ",\"preconditions\":" + value + "}").getBytes(UTF_8));
        }
        requireServing();
    }

    private void requireNoServerError(String method, String path, String mediaType, byte[] body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + path))
                .timeout(Duration.ofSeconds(20))
                .header("Content-Type", mediaType)
                .method(method, BodyPublishers.ofByteArray(body))
                .build();

        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());

        // what real servers do not foresee either has no reason, unlike what we did not foresee
        if (answer.statusCode() != 500 || answer.body().contains("InternalError")) {
            assertThat(answer.statusCode()).as(() -> method + " " + shown(body)).isBetween(200, 499);
        }
        if (answer.statusCode() == 200 || answer.statusCode() == 201) {
            reset();
        }
    }

    /** So that the next request meets the same objects. */
    private void reset() {
        for (ObjectNode each :
                cluster.list(Resource.SECRETS, Selection.everything(), "").items()) {
            JsonNode metadata = each.path("metadata");
            ObjectKey key = ObjectKey.of(
                    metadata.path("namespace").asText(), metadata.path("name").asText());
            cluster.delete(Resource.SECRETS, key, DeleteOptions.NOW);
        }
        cluster.create(Secrets.of("shop", "known", "v1"));
    }

    private void requireRefused(byte[] request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(10_000);
            try {
                socket.getOutputStream().write(request);
                InputStream in = socket.getInputStream();
                String answer = new String(in.readNBytes(12), ISO_8859_1);
                // of a version that it does not speak, a server says 501
                assertThat(answer).as(() -> shown(request)).matches("|HTTP/\\d\\.\\d (4\\d\\d|501)");
            } catch (SocketException cutOff) {
                assertThat(socket.isConnected()).isTrue();
            }
        }
        requireServing();
    }

    private static String shown(byte[] bytes) {
        return new String(bytes, 0, Math.min(600, bytes.length), UTF_8);
    }

    private void requireServing() throws IOException {
        try {
            HttpRequest request =
                    HttpRequest.newBuilder(URI.create(server.url() + SECRETS)).build();
            assertThat(client.send(request, BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
