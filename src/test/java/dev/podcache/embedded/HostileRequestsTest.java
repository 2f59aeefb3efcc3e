package dev.podcache.embedded;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Bytes;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.HostileJson;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Slow;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
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
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests that no client would send: told so with a 4xx, or cut off, and the next good one is served. */
@Slow
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

    private static final String CUT_OFF = "cut off";

    /** Said of a mistake of the client's with 500 and no reason, by real servers too; and of nothing else. */
    private static final String UNFORESEEN = "(?s)"
            + "a \\$setElementOrder of the patch is not a list"
            + "|the list at \".*\" does not match its \\$setElementOrder"
            + "|\".*\" has a \\$setElementOrder in the patch, but is not a list"
            + "|the patch has a \\$setElementOrder for \".*\", which does not merge";

    /** Each with the code that it is refused with. */
    private static final ImmutableMap<String, String> REQUEST_LINES = ImmutableMap.<String, String>builder()
            .put("GET /%zz HTTP/1.1", "400")
            .put("GET /api/v1/namespaces/%zz/secrets HTTP/1.1", "400")
            .put("GET /api/v1/namespaces/shop/secrets/% HTTP/1.1", "400")
            .put("GET /api/v1/namespaces/%ff%fe/secrets/%00 HTTP/1.1", "404")
            .put("GET /api/v1/namespaces/shop/secrets/.. HTTP/1.1", "404")
            .put("GET /api/v1/namespaces/shop/secrets?fieldSelector=%zz HTTP/1.1", "400")
            .put("GET /api/v1/namespaces/shop/secrets?fieldSelector===,!=,=,,, HTTP/1.1", "400")
            .put("GET /api/v1/namespaces/shop/secrets?labelSelector=a%20in%20( HTTP/1.1", "400")
            .put("GET /api/v1/namespaces/shop/secrets?watch=true&timeoutSeconds=99999999999999999999 HTTP/1.1", "400")
            .put("GET ////////// HTTP/1.1", "404")
            .put("GET * HTTP/1.1", "404")
            .put("OPTIONS * HTTP/1.1", "404")
            .put("CONNECT /api/v1/nodes HTTP/1.1", "405")
            .put("BREW /api/v1/nodes HTTP/1.1", "405")
            .put("get /api/v1/nodes HTTP/1.1", "405")
            .put("GET /api/v1/nodes/x HTTP/9.9", "501")
            .put("GET", "400")
            .put("\0\1\2\3", "400")
            .put("DELETE /api/v1/secrets HTTP/1.1", "405")
            .put("DELETE /api/v1/namespaces/shop/secrets/nobody?gracePeriodSeconds=-1 HTTP/1.1", "400")
            .put("PUT /api/v1/namespaces/shop/secrets/known HTTP/1.1", "400")
            .put("PATCH /api/v1/namespaces/shop/secrets/known HTTP/1.1", "415")
            .buildOrThrow();

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
        for (Map.Entry<String, String> line : REQUEST_LINES.entrySet()) {
            requireRefused(
                    line.getKey() + "\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                    line.getValue());
        }
    }

    /** What is refused in the middle may end the connection before its client can read the answer. */
    @Test
    void requestLine_veryLong_isRefused() throws IOException {
        requireRefused("GET /" + "a/".repeat(1 << 20) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "414", CUT_OFF);
        requireRefused("GET " + "/a".repeat(8000) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "404");
    }

    @Test
    void headers_thatMakeNoSense_areRefused() throws IOException {
        String get = "POST " + SECRETS + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        requireRefused(get + "X: " + "y".repeat(1 << 20) + "\r\n\r\n", "431", CUT_OFF);
        requireRefused(get + "Content-Length: -1\r\n\r\n{}", "400");
        requireRefused(get + "Content-Length: ten\r\n\r\n{}", "400");
        // by then it has begun to read the request, and cannot say any more where that ends
        requireRefused(get + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}", CUT_OFF);
        requireRefused(get + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "422");
        requireRefused(get + "Content-Type: ;;;\r\nContent-Length: 2\r\n\r\n{}", "422");
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

        if (answer.statusCode() == 500) {
            // what real servers do not foresee either has no reason, unlike what we did not foresee
            Status status = Serialization.unmarshal(answer.body(), Status.class);
            assertThat(status.getReason()).as(() -> method + " " + shown(body)).isNullOrEmpty();
            assertThat(status.getMessage()).as(() -> method + " " + shown(body)).matches(UNFORESEEN);
        } else {
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
            ObjectNode release = Json.MAPPER.createObjectNode();
            release.putObject("metadata").putNull("finalizers");
            cluster.patch(Resource.SECRETS, key, ObjectPart.OBJECT, new PatchBody(PatchBody.PatchType.MERGE, release));
            cluster.delete(Resource.SECRETS, key, DeleteOptions.NOW);
        }
        cluster.create(Secrets.of("shop", "known", "v1"));
    }

    private void requireRefused(String request, String... answers) throws IOException {
        assertThat(answerTo(request.getBytes(ISO_8859_1)))
                .as(() -> shown(request.getBytes(ISO_8859_1)))
                .isIn((Object[]) answers);
        requireServing();
    }

    /** The code of the answer, or that there is none because the server ended the connection. */
    private String answerTo(byte[] request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write(request);
            String answer = new String(socket.getInputStream().readNBytes(12), ISO_8859_1);
            return answer.isEmpty() ? CUT_OFF : answer.replaceFirst("^HTTP/\\d\\.\\d ", "");
        } catch (SocketException reset) {
            return CUT_OFF;
        }
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
