package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestPathTest {

    @ParameterizedTest
    @CsvSource({
        "/api/v1/nodes, NODES, '', '', OBJECT",
        "/api/v1/nodes/n1, NODES, '', n1, OBJECT",
        "/api/v1/nodes/n1/status, NODES, '', n1, STATUS",
        "/api/v1/pods, PODS, '', '', OBJECT",
        "/api/v1/namespaces/shop/pods, PODS, shop, '', OBJECT",
        "/api/v1/namespaces/shop/pods/web, PODS, shop, web, OBJECT",
        "/api/v1/namespaces/shop/pods/web/status, PODS, shop, web, STATUS",
        "/api/v1/namespaces, NAMESPACES, '', '', OBJECT",
        "/api/v1/namespaces/shop, NAMESPACES, '', shop, OBJECT",
        "/api/v1/namespaces/shop/status, NAMESPACES, '', shop, STATUS",
        "/api/v1/namespaces/shop/secrets/a%2Eb/, SECRETS, shop, a.b, OBJECT",
        "/apis/coordination.k8s.io/v1/namespaces/shop/leases/l, LEASES, shop, l, OBJECT",
    })
    void parse_knownPath_saysWhatItNames(
            String path, Resource resource, String namespace, String name, ObjectPart part) {
        assertThat(RequestPath.parse(path)).isEqualTo(new RequestPath(resource, ObjectKey.of(namespace, name), part));
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
                "/apis/apps/v1/deployments",
                "/apis/coordination.k8s.io/v1/secrets",
            })
    void parse_otherPath_isNothing(String path) {
        assertThat(RequestPath.parse(path)).isNull();
    }
}
