package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testkit.FakePodcache;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoLeaks.class)
class DebugObjectsTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path folder;

    private FakePodcache cache;
    private ServerFixture fixture;

    @BeforeEach
    void start(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("failed; retrying");
        fixture = new ServerFixture(folder);
        cache = fixture.view.cache;
        cache.put(Secrets.of("shop", "db", NoLeaks.CANARY));
        cache.registerPod(Pods.withSecrets("shop", "web", "uid-web", List.of("db", "missing")));
        cache.secrets().getObject("shop", "db");
        cache.fail(ObjectKind.SECRET, "shop", "missing", FailureReason.FORBIDDEN);
        assertThatThrownBy(() -> cache.secrets().getObject("shop", "missing")).isNotNull();
        fixture.objects = cache.entries();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void debugObjects_cachedAndFailedObject_haveStateHoldersAndFailure() throws Exception {
        HttpResponse<String> response = fixture.get("/debug/objects");

        assertThat(response.statusCode()).isEqualTo(200);
        JsonNode body = JSON.readTree(response.body());
        assertThat(body.path("node").asText()).isEqualTo("worker-1");
        assertThat(body.path("objects")).hasSize(2);
        JsonNode db = body.path("objects").get(0);
        assertThat(db.path("kind").asText()).isEqualTo("Secret");
        assertThat(db.path("namespace").asText()).isEqualTo("shop");
        assertThat(db.path("name").asText()).isEqualTo("db");
        assertThat(db.path("state").asText()).isEqualTo("FRESH");
        assertThat(db.path("ageSeconds").isNumber()).isTrue();
        assertThat(db.path("references").asInt()).isEqualTo(1);
        assertThat(db.path("uid").asText()).isNotEmpty();
        assertThat(db.path("freshness").asText()).isNotEmpty();
        assertThat(db.path("lastFailure").isMissingNode()).isTrue();
        JsonNode holder = db.path("holders").get(0);
        assertThat(holder.path("name").asText()).isEqualTo("web");
        assertThat(holder.path("uid").asText()).isEqualTo("uid-web");
        JsonNode missing = body.path("objects").get(1);
        assertThat(missing.path("name").asText()).isEqualTo("missing");
        assertThat(missing.path("lastFailure").asText()).isNotEmpty();
    }

    @Test
    void debugObjects_needsTheAccessToTheProxy() throws Exception {
        fixture.get("/debug/objects");

        assertThat(fixture.reviews.accesses).containsExactly(new ResourceAccess("get", "nodes", "proxy", "worker-1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ui", "/ui/", "/ui/state"})
    void page_needsTheAccessToTheProxy(String path) throws Exception {
        assertThat(fixture.get(path).statusCode()).isEqualTo(200);
        assertThat(fixture.reviews.accesses).containsExactly(new ResourceAccess("get", "nodes", "proxy", "worker-1"));

        HttpResponse<String> anonymous = fixture.send(fixture.request(path));
        assertThat(anonymous.statusCode()).isEqualTo(401);
    }

    @Test
    void debugObjects_accessDenied_is403WithoutNames() throws Exception {
        fixture.reviews.allowed = (user, access) -> false;

        HttpResponse<String> response = fixture.get("/debug/objects");

        assertThat(response.statusCode()).isEqualTo(403);
        assertThat(response.body()).doesNotContain("shop");
    }

    /** The payload of the cached Secret is the canary. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/debug/objects",
                "/healthz",
                "/livez?verbose",
                "/readyz?verbose",
                "/configz",
                "/statusz",
                "/flagz",
                "/pods",
                "/runningpods",
                "/metrics",
                "/metrics/resource",
                "/metrics/cadvisor",
                "/metrics/probes",
                "/stats/summary",
                "/ui",
                "/ui/state",
                "/debug",
                "/"
            })
    void everyEndpoint_objectsAreCached_showsNoContent(String path) throws Exception {
        HttpResponse<String> response = fixture.get(path);

        assertThat(response.statusCode()).isIn(200, 404);
        NoLeaks.saw(response.body());
        NoLeaks.saw(response.headers().map());
    }
}
