package dev.podcache.kubelet.podconfig;

import static dev.podcache.kubelet.podconfig.PodConfigFixture.configMap;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.secret;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.service;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Service;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The cases of TestMakeEnvironmentVariables of the kubelet's {@code kubelet_pods_test.go}, in its newest form.
 * Where upstream has no lister of Services, the lister here is empty. The cases {@code *_invalid_keys} are omitted:
 * upstream removed them together with the feature.
 */
@ExtendWith(NoLeaks.class)
class MakeEnvironmentVariablesTest {

    private static final Service[] SERVICES = {
        service("default", "kubernetes", "1.2.3.1", 8081),
        service("test1", "test", "1.2.3.3", 8083),
        service("test2", "kubernetes", "1.2.3.4", 8084),
        service("test2", "test", "1.2.3.5", 8085),
        service("test2", "test-headless", "None", 8085),
        service("test2", "test-empty", "", 8085),
        service("default", "not-special", "1.2.3.8", 8088),
        service("default", "not-special-headless", "None", 8088),
        service("default", "not-special-empty", "", 8088),
    };
    private static final Map<String, String> KUBERNETES = links("KUBERNETES", "1.2.3.1", 8081);
    private static final Map<String, String> TEST = links("TEST", "1.2.3.3", 8083);

    /** One case, with upstream's pod. */
    private record Case(
            String name,
            String namespace,
            boolean links,
            boolean knowsServices,
            Container container,
            Map<String, String> expected) {

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Case> cases() {
        return Stream.of(services(), variables(), keyRefs(), sources()).flatMap(List::stream);
    }

    private static List<Case> services() {
        Map<String, String> own = all(Map.of("FOO", "BAR"), TEST);
        return List.of(
                new Case("api server = Y, kubelet = Y", "test1", false, true, env(own), all(own, KUBERNETES)),
                new Case("api server = Y, kubelet = N", "test1", false, false, env(own), own),
                new Case("api server = N; kubelet = Y", "test1", false, true, foo("BAZ"), all(foo(), KUBERNETES)),
                new Case(
                        "api server = N; kubelet = Y; service env vars",
                        "test1",
                        true,
                        true,
                        foo("BAZ"),
                        all(foo(), TEST, KUBERNETES)),
                new Case("master service in pod ns", "test2", false, true, foo("BAZ"), all(foo(), KUBERNETES)),
                new Case(
                        "master service in pod ns, service env vars",
                        "test2",
                        true,
                        true,
                        foo("BAZ"),
                        all(foo(), links("TEST", "1.2.3.5", 8085), links("KUBERNETES", "1.2.3.4", 8084))),
                new Case("pod in master service ns", "default", false, true, new Container(), KUBERNETES),
                new Case(
                        "pod in master service ns, service env vars",
                        "default",
                        true,
                        true,
                        new Container(),
                        all(links("NOT_SPECIAL", "1.2.3.8", 8088), KUBERNETES)));
    }

    private static List<Case> variables() {
        Container downward = new ContainerBuilder().build();
        Map<String, String> paths = new LinkedHashMap<>();
        paths.put("POD_NAME", "metadata.name");
        paths.put("POD_NAMESPACE", "metadata.namespace");
        paths.put("POD_NODE_NAME", "spec.nodeName");
        paths.put("POD_SERVICE_ACCOUNT_NAME", "spec.serviceAccountName");
        paths.put("POD_IP", "status.podIP");
        paths.put("POD_IPS", "status.podIPs");
        paths.put("HOST_IP", "status.hostIP");
        paths.put("HOST_IPS", "status.hostIPs");
        for (Map.Entry<String, String> path : paths.entrySet()) {
            downward = new ContainerBuilder(downward)
                    .addNewEnv()
                    .withName(path.getKey())
                    .withNewValueFrom()
                    .withNewFieldRef("v1", path.getValue())
                    .endValueFrom()
                    .endEnv()
                    .build();
        }
        Map<String, String> expected = ImmutableMap.<String, String>builder()
                .put("POD_NAME", "dapi-test-pod-name")
                .put("POD_NAMESPACE", "downward-api")
                .put("POD_NODE_NAME", "node-name")
                .put("POD_SERVICE_ACCOUNT_NAME", "special")
                .put("POD_IP", "1.2.3.4")
                .put("POD_IPS", "1.2.3.4,fd00::6")
                .put("HOST_IP", "127.0.0.1")
                .put("HOST_IPS", "127.0.0.1,::1")
                .build();
        return List.of(
                new Case("downward api pod", "downward-api", false, false, downward, expected),
                new Case(
                        "env expansion",
                        "test1",
                        false,
                        true,
                        expansion(),
                        all(expanded(), Map.of("SERVICE_VAR_TEST", "$(TEST_SERVICE_HOST)"), KUBERNETES)),
                new Case(
                        "env expansion, service env vars",
                        "test1",
                        true,
                        true,
                        expansion(),
                        all(expanded(), Map.of("SERVICE_VAR_TEST", "1.2.3.3"), TEST, KUBERNETES)));
    }

    private static Container expansion() {
        return new ContainerBuilder()
                .addNewEnv()
                .withName("TEST_LITERAL")
                .withValue("test-test-test")
                .endEnv()
                .addNewEnv()
                .withName("POD_NAME")
                .withNewValueFrom()
                .withNewFieldRef("v1", "metadata.name")
                .endValueFrom()
                .endEnv()
                .addNewEnv()
                .withName("OUT_OF_ORDER_TEST")
                .withValue("$(OUT_OF_ORDER_TARGET)")
                .endEnv()
                .addNewEnv()
                .withName("OUT_OF_ORDER_TARGET")
                .withValue("FOO")
                .endEnv()
                .addNewEnv()
                .withName("EMPTY_VAR")
                .endEnv()
                .addNewEnv()
                .withName("EMPTY_TEST")
                .withValue("foo-$(EMPTY_VAR)")
                .endEnv()
                .addNewEnv()
                .withName("POD_NAME_TEST2")
                .withValue("test2-$(POD_NAME)")
                .endEnv()
                .addNewEnv()
                .withName("POD_NAME_TEST3")
                .withValue("$(POD_NAME_TEST2)-3")
                .endEnv()
                .addNewEnv()
                .withName("LITERAL_TEST")
                .withValue("literal-$(TEST_LITERAL)")
                .endEnv()
                .addNewEnv()
                .withName("SERVICE_VAR_TEST")
                .withValue("$(TEST_SERVICE_HOST)")
                .endEnv()
                .addNewEnv()
                .withName("TEST_UNDEFINED")
                .withValue("$(UNDEFINED_VAR)")
                .endEnv()
                .build();
    }

    private static Map<String, String> expanded() {
        return ImmutableMap.<String, String>builder()
                .put("TEST_LITERAL", "test-test-test")
                .put("POD_NAME", "dapi-test-pod-name")
                .put("OUT_OF_ORDER_TEST", "$(OUT_OF_ORDER_TARGET)")
                .put("OUT_OF_ORDER_TARGET", "FOO")
                .put("EMPTY_VAR", "")
                .put("EMPTY_TEST", "foo-")
                .put("POD_NAME_TEST2", "test2-dapi-test-pod-name")
                .put("POD_NAME_TEST3", "test2-dapi-test-pod-name-3")
                .put("LITERAL_TEST", "literal-test-test-test")
                .put("TEST_UNDEFINED", "$(UNDEFINED_VAR)")
                .build();
    }

    private static List<Case> keyRefs() {
        return List.of(
                new Case(
                        "configmapkeyref_missing_optional",
                        "test1",
                        false,
                        true,
                        configMapKey("missing-config-map"),
                        KUBERNETES),
                new Case(
                        "configmapkeyref_missing_key_optional",
                        "test1",
                        false,
                        false,
                        configMapKey("test-config-map"),
                        Map.of()),
                new Case(
                        "secretkeyref_missing_optional", "test1", false, true, secretKey("missing-secret"), KUBERNETES),
                new Case(
                        "secretkeyref_missing_key_optional",
                        "test1",
                        false,
                        false,
                        secretKey("test-secret"),
                        Map.of()));
    }

    private static Container configMapKey(String name) {
        return new ContainerBuilder()
                .addNewEnv()
                .withName("POD_NAME")
                .withNewValueFrom()
                .withNewConfigMapKeyRef("key", name, true)
                .endValueFrom()
                .endEnv()
                .build();
    }

    private static Container secretKey(String name) {
        return new ContainerBuilder()
                .addNewEnv()
                .withName("POD_NAME")
                .withNewValueFrom()
                .withNewSecretKeyRef("key", name, true)
                .endValueFrom()
                .endEnv()
                .build();
    }

    private static List<Case> sources() {
        return List.of(
                new Case(
                        "configmap",
                        "test1",
                        false,
                        true,
                        both(false, "p_"),
                        all(fromBoth("CONFIG_MAP", "p_"), KUBERNETES)),
                new Case(
                        "configmap allow prefix to start with a digital",
                        "test1",
                        false,
                        true,
                        both(false, "1_"),
                        all(fromBoth("CONFIG_MAP", "1_"), KUBERNETES)),
                new Case(
                        "configmap, service env vars",
                        "test1",
                        true,
                        true,
                        both(false, "p_"),
                        all(fromBoth("CONFIG_MAP", "p_"), TEST, KUBERNETES)),
                new Case(
                        "configmap_missing_optional",
                        "test1",
                        false,
                        true,
                        new ContainerBuilder()
                                .addNewEnvFrom()
                                .withNewConfigMapRef("missing-config-map", true)
                                .endEnvFrom()
                                .build(),
                        KUBERNETES),
                new Case(
                        "configmap_invalid_keys_valid",
                        "test1",
                        false,
                        true,
                        new ContainerBuilder()
                                .addNewEnvFrom()
                                .withPrefix("p_")
                                .withNewConfigMapRef("digits", null)
                                .endEnvFrom()
                                .build(),
                        all(Map.of("p_1234", "abc"), KUBERNETES)),
                new Case("secret", "test1", false, true, both(true, "p_"), all(fromBoth("SECRET", "p_"), KUBERNETES)),
                new Case(
                        "secret, service env vars",
                        "test1",
                        true,
                        true,
                        both(true, "p_"),
                        all(fromBoth("SECRET", "p_"), TEST, KUBERNETES)),
                new Case(
                        "secret_missing_optional",
                        "test1",
                        false,
                        true,
                        new ContainerBuilder()
                                .addNewEnvFrom()
                                .withNewSecretRef("missing-secret", true)
                                .endEnvFrom()
                                .build(),
                        KUBERNETES),
                new Case(
                        "secret_invalid_keys_valid",
                        "test1",
                        false,
                        true,
                        new ContainerBuilder()
                                .addNewEnvFrom()
                                .withPrefix("p_")
                                .withNewSecretRef("digits", null)
                                .endEnvFrom()
                                .build(),
                        all(Map.of("p_1234.name", "abc"), KUBERNETES)));
    }

    /** One object twice, without and with a prefix, and variables of the container itself. */
    private static Container both(boolean ofSecret, String prefix) {
        ContainerBuilder container = new ContainerBuilder();
        container = ofSecret
                ? container
                        .addNewEnvFrom()
                        .withNewSecretRef("test-secret", null)
                        .endEnvFrom()
                : container
                        .addNewEnvFrom()
                        .withNewConfigMapRef("test-config-map", null)
                        .endEnvFrom();
        container = ofSecret
                ? container
                        .addNewEnvFrom()
                        .withPrefix(prefix)
                        .withNewSecretRef("test-secret", null)
                        .endEnvFrom()
                : container
                        .addNewEnvFrom()
                        .withPrefix(prefix)
                        .withNewConfigMapRef("test-config-map", null)
                        .endEnvFrom();
        return container
                .addNewEnv()
                .withName("TEST_LITERAL")
                .withValue("test-test-test")
                .endEnv()
                .addNewEnv()
                .withName("EXPANSION_TEST")
                .withValue("$(REPLACE_ME)")
                .endEnv()
                .addNewEnv()
                .withName("DUPE_TEST")
                .withValue("ENV_VAR")
                .endEnv()
                .build();
    }

    private static Map<String, String> fromBoth(String source, String prefix) {
        return Map.of(
                "TEST_LITERAL",
                "test-test-test",
                "REPLACE_ME",
                "FROM_" + source,
                "EXPANSION_TEST",
                "FROM_" + source,
                "DUPE_TEST",
                "ENV_VAR",
                prefix + "REPLACE_ME",
                "FROM_" + source,
                prefix + "DUPE_TEST",
                source);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void of_upstreamCase_makesItsVariables(Case c) {
        try (PodConfigFixture f = new PodConfigFixture(c.knowsServices ? SERVICES : new Service[0])) {
            f.server.cluster().create(configMap("test-config-map", data("CONFIG_MAP")));
            f.server.cluster().create(configMap("digits", Map.of("1234", "abc")));
            f.server.cluster().create(secret("test-secret", data("SECRET")));
            f.server.cluster().create(secret("digits", Map.of("1234.name", "abc")));

            assertThat(f.environment(pod(c.namespace, c.links, c.container)))
                    .containsExactlyInAnyOrderEntriesOf(c.expected);
        }
    }

    @Test
    void of_configMapMissing_fails() {
        requireFails(
                new ContainerBuilder()
                        .addNewEnvFrom()
                        .withNewConfigMapRef("test-config-map", null)
                        .endEnvFrom()
                        .build(),
                "configmap \"test-config-map\" not found");
    }

    @Test
    void of_secretMissing_fails() {
        requireFails(
                new ContainerBuilder()
                        .addNewEnvFrom()
                        .withNewSecretRef("test-secret", null)
                        .endEnvFrom()
                        .build(),
                "secret \"test-secret\" not found");
    }

    private static void requireFails(Container container, String message) {
        try (PodConfigFixture f = new PodConfigFixture()) {
            assertThatThrownBy(() -> f.environment(pod("test1", false, container)))
                    .isInstanceOf(PodConfigException.class)
                    .hasMessage(message);
        }
    }

    @Test
    void of_nilEnableServiceLinks_fails() {
        try (PodConfigFixture f = new PodConfigFixture()) {
            Pod pod = new PodBuilder(pod("test1", false, new Container()))
                    .editSpec()
                    .withEnableServiceLinks(null)
                    .endSpec()
                    .build();

            assertThatThrownBy(() -> f.environment(pod))
                    .hasMessage("nil pod.spec.enableServiceLinks encountered, cannot construct envvars");
        }
    }

    @Test
    void of_servicesNotSynced_failsForAPodOfTheApi() {
        try (PodConfigFixture f = new PodConfigFixture();
                ServiceLister unsynced =
                        ServiceLister.following(new ManualListerWatcher<>(), new Recovery(f.timekeeper, () -> 0.0))) {
            ContainerEnvironment environments =
                    new ContainerEnvironment(f.secrets, f.configMaps, unsynced, PodConfigFixture.NO_VOLUMES);

            assertThatThrownBy(() -> environments.of(
                            pod("test1", false, new Container()), new Container(), PodConfigFixture.PLACEMENT))
                    .hasMessage("services have not yet been read at least once, cannot construct envvars");
        }
    }

    @Test
    void of_servicesNotSynced_succeedsForAStaticPod() {
        try (PodConfigFixture f = new PodConfigFixture();
                ServiceLister unsynced =
                        ServiceLister.following(new ManualListerWatcher<>(), new Recovery(f.timekeeper, () -> 0.0))) {
            ContainerEnvironment environments =
                    new ContainerEnvironment(f.secrets, f.configMaps, unsynced, PodConfigFixture.NO_VOLUMES);
            Pod pod = new PodBuilder(pod("test1", false, new Container()))
                    .editMetadata()
                    .addToAnnotations("kubernetes.io/config.source", "file")
                    .endMetadata()
                    .build();

            assertThat(environments
                            .of(pod, new Container(), PodConfigFixture.PLACEMENT)
                            .variables())
                    .isEmpty();
        }
    }

    /** "downward api pod ips reverse order" and "multiple ips". */
    @Test
    void podPlacement_addressesInAnyOrderAndNumber_keepsOneOfEachFamily() {
        ImmutableList<String> hostIps = ImmutableList.of("127.0.0.1", "::1");

        assertThat(new PodPlacement(ImmutableList.of("fd00::6", "1.2.3.4"), hostIps, ImmutableMap.of()).podIps())
                .containsExactly("1.2.3.4", "fd00::6");
        assertThat(new PodPlacement(ImmutableList.of("1.2.3.4", "192.168.1.1.", "fd00::6"), hostIps, ImmutableMap.of())
                        .podIps())
                .containsExactly("1.2.3.4", "fd00::6");
    }

    private static Pod pod(String namespace, boolean links, Container container) {
        return new PodBuilder(PodConfigFixture.pod(namespace, container))
                .editSpec()
                .withEnableServiceLinks(links)
                .endSpec()
                .build();
    }

    private static Map<String, String> data(String source) {
        return Map.of("REPLACE_ME", "FROM_" + source, "DUPE_TEST", source);
    }

    private static Container foo(String value) {
        return env(Map.of("FOO", value));
    }

    private static Map<String, String> foo() {
        return Map.of("FOO", "BAZ");
    }

    private static Container env(Map<String, String> variables) {
        ContainerBuilder container = new ContainerBuilder();
        variables.forEach((name, value) ->
                container.addNewEnv().withName(name).withValue(value).endEnv());
        return container.build();
    }

    private static Map<String, String> links(String prefix, String ip, int port) {
        String link = prefix + "_PORT_" + port + "_TCP";
        String url = "tcp://" + ip + ":" + port;
        return Map.of(
                prefix + "_SERVICE_HOST",
                ip,
                prefix + "_SERVICE_PORT",
                String.valueOf(port),
                prefix + "_PORT",
                url,
                link,
                url,
                link + "_PROTO",
                "tcp",
                link + "_PORT",
                String.valueOf(port),
                link + "_ADDR",
                ip);
    }

    @SafeVarargs
    private static Map<String, String> all(Map<String, String>... parts) {
        ImmutableMap.Builder<String, String> all = ImmutableMap.builder();
        for (Map<String, String> part : parts) {
            all.putAll(part);
        }
        return all.buildOrThrow();
    }
}
