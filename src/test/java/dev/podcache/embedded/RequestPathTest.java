package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestPathTest {

    @ParameterizedTest
    @CsvSource({
        "/api/v1/nodes, nodes, '', '', OBJECT",
        "/api/v1/nodes/n1, nodes, '', n1, OBJECT",
        "/api/v1/nodes/n1/status, nodes, '', n1, STATUS",
        "/api/v1/pods, pods, '', '', OBJECT",
        "/api/v1/namespaces/shop/pods, pods, shop, '', OBJECT",
        "/api/v1/namespaces/shop/pods/web, pods, shop, web, OBJECT",
        "/api/v1/namespaces/shop/pods/web/status, pods, shop, web, STATUS",
        "/api/v1/namespaces/shop/pods/web/ephemeralcontainers, pods, shop, web, EPHEMERAL_CONTAINERS",
        "/api/v1/namespaces, namespaces, '', '', OBJECT",
        "/api/v1/namespaces/shop, namespaces, '', shop, OBJECT",
        "/api/v1/namespaces/shop/status, namespaces, '', shop, STATUS",
        "/api/v1/namespaces/shop/secrets/a%2Eb/, secrets, shop, a.b, OBJECT",
        "/apis/coordination.k8s.io/v1/namespaces/shop/leases/l, leases, shop, l, OBJECT",
    })
    void parse_knownPath_saysWhatItNames(String path, String plural, String namespace, String name, ObjectPart part) {
        RequestPath parsed = Objects.requireNonNull(RequestPath.parse(Resource.BUILT_IN, path));

        assertThat(parsed.resource().plural()).isEqualTo(plural);
        assertThat(parsed.key()).isEqualTo(ObjectKey.of(namespace, name));
        assertThat(parsed.part()).isEqualTo(part);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/api",
                "/api/v1",
                "/api/v2/pods",
                "/api/v1/leases",
                "/api/v1/pods/web",
                "/api/v1/namespaces/shop/nodes",
                "/api/v1/namespaces/shop/secrets/db/status",
                "/api/v1/namespaces/shop/pods/web/log",
                "/api/v1/namespaces/shop/secrets/db/ephemeralcontainers",
                "/apis/apps/v1/deployments",
                "/apis/coordination.k8s.io/v1/secrets",
            })
    void parse_otherPath_isNothing(String path) {
        assertThat(RequestPath.parse(Resource.BUILT_IN, path)).isNull();
    }
}
